"""Fitted models that leave Python: graphs of ONNX and modules of torch."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tempocal.export.mixin import Exports

if TYPE_CHECKING:
    from tempocal.export.torch import CalibratedModel, TorchCalibrator

__all__ = ["CalibratedModel", "Exports", "TorchCalibrator"]


def __getattr__(name: str) -> Any:
    # They are classes of torch, which takes seconds to load and may not be there.
    if name in ("CalibratedModel", "TorchCalibrator"):
        return getattr(import_module("tempocal.export.torch"), name)
    raise AttributeError(f"module 'tempocal.export' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
