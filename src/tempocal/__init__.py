"""Calibrated probabilities while a sequence is still growing.

Names are loaded when first used, so that ``import tempocal`` costs little more than NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    pass

_SUBMODULES = ("datasets", "errors", "metrics")
_HOME: dict[str, str] = {}

__all__ = [*_HOME, *_SUBMODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"tempocal.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'tempocal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
