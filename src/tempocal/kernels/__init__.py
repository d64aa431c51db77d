"""Loops over rows that would take several passes in NumPy, compiled from C.

``native`` is the compiled module, or None if it was not built or the environment variable
``TEMPOCAL_KERNELS`` is ``numpy``. Every caller has a fallback in NumPy.
"""

import os
from contextlib import suppress
from importlib import import_module
from typing import Any
from warnings import warn

__all__ = ["native"]

native: Any = None
_requested = os.environ.get("TEMPOCAL_KERNELS", "")
if _requested not in ("", "numpy"):
    warn(f'TEMPOCAL_KERNELS is {_requested!r}, but only "numpy" has a meaning', stacklevel=2)
if _requested != "numpy":
    with suppress(ImportError):
        native = import_module("tempocal.kernels.native")
