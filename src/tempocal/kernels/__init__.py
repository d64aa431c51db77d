"""Loops over rows that NumPy would take several passes for, compiled from C.

``native`` is the compiled module, or None: where it was not built, or where the environment says
``TEMPOCAL_KERNELS=numpy``. Whoever calls it has the same sums in NumPy.
"""

import os
from contextlib import suppress
from importlib import import_module
from typing import Any

__all__ = ["native"]

native: Any = None
if os.environ.get("TEMPOCAL_KERNELS") != "numpy":
    with suppress(ImportError):
        native = import_module("tempocal.kernels.native")
