"""Metrics of probabilistic predictions: losses, calibration errors and their sampling floor.

Every metric has the signature ``metric(y, proba, *, ..., sample_weight=None, classes=None)``.
Calibration errors are floats that carry the name of their estimator and the bins.
"""

from tempocal.metrics.binned import ece, max_calibration_error
from tempocal.metrics.classwise import classwise_ece
from tempocal.metrics.debiased import debiased_ece
from tempocal.metrics.estimates import (
    BinnedEstimate,
    ClasswiseEstimate,
    DebiasedEstimate,
    Estimate,
    IntervalEstimate,
    ReliabilityTable,
    SamplingFloor,
)
from tempocal.metrics.friedman import FriedmanNemenyi, friedman_nemenyi
from tempocal.metrics.gain import gain
from tempocal.metrics.gain_over_time import gain_over_time
from tempocal.metrics.gain_over_time_table import gain_over_time_table
from tempocal.metrics.gain_table import GainOverTime, GainStretch
from tempocal.metrics.likelihood import nll
from tempocal.metrics.martingale import martingale_check
from tempocal.metrics.movement import MartingaleCheck, MovementTable
from tempocal.metrics.over_time import OverTime, over_time, with_interval
from tempocal.metrics.over_time_table import over_time_table, with_interval_table
from tempocal.metrics.overconfidence import overconfidence
from tempocal.metrics.reliability import reliability_curve
from tempocal.metrics.sampling_floor import sampling_floor
from tempocal.metrics.smooth import smooth_ece
from tempocal.metrics.squared_error import brier

__all__ = [
    "BinnedEstimate",
    "ClasswiseEstimate",
    "DebiasedEstimate",
    "Estimate",
    "FriedmanNemenyi",
    "GainOverTime",
    "GainStretch",
    "IntervalEstimate",
    "MartingaleCheck",
    "MovementTable",
    "OverTime",
    "ReliabilityTable",
    "SamplingFloor",
    "brier",
    "classwise_ece",
    "debiased_ece",
    "ece",
    "friedman_nemenyi",
    "gain",
    "gain_over_time",
    "gain_over_time_table",
    "martingale_check",
    "max_calibration_error",
    "nll",
    "over_time",
    "over_time_table",
    "overconfidence",
    "reliability_curve",
    "sampling_floor",
    "smooth_ece",
    "with_interval",
    "with_interval_table",
]
