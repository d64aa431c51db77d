"""Calibrated probabilities while a sequence is still growing.

Names are loaded when first used, so that ``import tempocal`` costs little more than NumPy. They are
listed in ``__init__.pyi``, which type checkers read too.
"""

from importlib import import_module
from typing import Any

from tempocal.registry import PUBLIC_MODULES
from tempocal.version import __version__ as __version__

__all__ = sorted(PUBLIC_MODULES)  # noqa: PLE0605 - a list


def __getattr__(name: str) -> Any:
    if name not in PUBLIC_MODULES:
        raise AttributeError(f"module 'tempocal' has no attribute {name!r}")
    module = import_module(PUBLIC_MODULES[name])
    found = module if module.__name__ == f"tempocal.{name}" else getattr(module, name)
    # Kept, so that a name is looked up here once.
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
