"""How good probabilities are: scores, calibration errors, and the error that chance alone shows.

Every metric is called ``metric(y, proba, *, ..., sample_weight=None, classes=None)``. Calibration
errors are floats that say which estimator they are and have the bins they came from.
"""

from tempocal.metrics.binned import ece, max_calibration_error
from tempocal.metrics.classwise import classwise_ece
from tempocal.metrics.debiased import debiased_ece
from tempocal.metrics.estimates import (
    BinnedEstimate,
    ClasswiseEstimate,
    DebiasedEstimate,
    Estimate,
    ReliabilityTable,
    SamplingFloor,
)
from tempocal.metrics.floor import sampling_floor
from tempocal.metrics.likelihood import nll
from tempocal.metrics.reliability import reliability_curve
from tempocal.metrics.smooth import smooth_ece
from tempocal.metrics.squared_error import brier

__all__ = [
    "BinnedEstimate",
    "ClasswiseEstimate",
    "DebiasedEstimate",
    "Estimate",
    "ReliabilityTable",
    "SamplingFloor",
    "brier",
    "classwise_ece",
    "debiased_ece",
    "ece",
    "max_calibration_error",
    "nll",
    "reliability_curve",
    "sampling_floor",
    "smooth_ece",
]
