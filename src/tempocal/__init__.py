"""Calibrated probabilities while a sequence is still growing.

Names are loaded when first used, so that ``import tempocal`` costs little more than NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tempocal.version import __version__

if TYPE_CHECKING:
    from tempocal import (
        clocks,
        datasets,
        errors,
        export,
        live,
        metrics,
        plots,
        report,
        scorer,
        sequences,
    )
    from tempocal.assessment import assess, assess_table
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
    from tempocal.curves import (
        Constant,
        ExponentialDecay,
        PerStep,
        RandomWalk,
        Spline,
        Surface,
    )
    from tempocal.temporal import (
        AutoTemporalCalibrator,
        CalibratedSequenceClassifier,
        Interval,
        TemporalCalibrator,
    )
    from tempocal.temporal.loading import load

_MODULES = (
    "clocks",
    "datasets",
    "errors",
    "export",
    "live",
    "metrics",
    "plots",
    "report",
    "scorer",
    "sequences",
)
_FUNCTIONS = {
    "assess": "tempocal.assessment",
    "assess_table": "tempocal.assessment",
    "load": "tempocal.temporal.loading",
}
_CURVES = ("Constant", "ExponentialDecay", "PerStep", "RandomWalk", "Spline", "Surface")
_TEMPORAL = (
    "AutoTemporalCalibrator",
    "CalibratedSequenceClassifier",
    "Interval",
    "TemporalCalibrator",
)

__all__ = [
    "AutoTemporalCalibrator",
    "BayesianBinning",
    "BetaCalibration",
    "CalibratedSequenceClassifier",
    "Constant",
    "DirichletCalibration",
    "ExponentialDecay",
    "HistogramBinning",
    "Identity",
    "Interval",
    "IsotonicCalibration",
    "MatrixScaling",
    "NearIsotonicEnsemble",
    "PerStep",
    "PlattScaling",
    "RandomWalk",
    "Spline",
    "Summary",
    "Surface",
    "TemperatureScaling",
    "TemporalCalibrator",
    "VectorScaling",
    "__version__",
    "assess",
    "assess_table",
    "clocks",
    "datasets",
    "errors",
    "export",
    "live",
    "load",
    "metrics",
    "plots",
    "report",
    "scorer",
    "sequences",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"tempocal.{name}")
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name in __all__:
        return getattr(import_module(f"tempocal.{_package_of(name)}"), name)
    raise AttributeError(f"module 'tempocal' has no attribute {name!r}")


def _package_of(name: str) -> str:
    return "curves" if name in _CURVES else "temporal" if name in _TEMPORAL else "calibrators"


def __dir__() -> list[str]:
    return sorted(__all__)
