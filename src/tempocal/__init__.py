"""Calibrated probabilities while a sequence is still growing.

Names are loaded when first used, so that ``import tempocal`` costs little more than NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tempocal.version import __version__

if TYPE_CHECKING:
    from tempocal import datasets, errors, metrics
    from tempocal.calibrators import (
        BayesianBinning,
        BetaCalibration,
        DirichletCalibration,
        HistogramBinning,
        Identity,
        IsotonicCalibration,
        MatrixScaling,
        NearIsotonicEnsemble,
        PlattScaling,
        Summary,
        TemperatureScaling,
        VectorScaling,
    )
    from tempocal.calibrators.loading import load

__all__ = [
    "BayesianBinning",
    "BetaCalibration",
    "DirichletCalibration",
    "HistogramBinning",
    "Identity",
    "IsotonicCalibration",
    "MatrixScaling",
    "NearIsotonicEnsemble",
    "PlattScaling",
    "Summary",
    "TemperatureScaling",
    "VectorScaling",
    "__version__",
    "datasets",
    "errors",
    "load",
    "metrics",
]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "errors", "metrics"):
        return import_module(f"tempocal.{name}")
    if name == "load":
        return import_module("tempocal.calibrators.loading").load
    if name in __all__:
        return getattr(import_module("tempocal.calibrators"), name)
    raise AttributeError(f"module 'tempocal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
