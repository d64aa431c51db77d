"""Loops over rows that NumPy would take several passes for, compiled from C.

``native`` is the compiled module, or None: where it was not built, or where the environment says
``TEMPOCAL_KERNELS=numpy``. Whoever calls it has the same sums in NumPy.
"""

import os
from contextlib import suppress
from importlib import import_module
from typing import Any
from warnings import warn

__all__ = ["native"]

native: Any = None
_asked = os.environ.get("TEMPOCAL_KERNELS", "")
if _asked not in ("", "numpy"):
    warn(f'TEMPOCAL_KERNELS is {_asked!r}, but only "numpy" has a meaning', stacklevel=2)
if _asked != "numpy":
    with suppress(ImportError):
        native = import_module("tempocal.kernels.native")
