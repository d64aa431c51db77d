"""Calibrators along time."""

from tempocal.temporal.auto import AutoTemporalCalibrator
from tempocal.temporal.calibrator import TemporalCalibrator
from tempocal.temporal.comparison import Candidate, Comparison
from tempocal.temporal.interval import Interval
from tempocal.temporal.sequence_classifier import CalibratedSequenceClassifier

__all__ = [
    "AutoTemporalCalibrator",
    "CalibratedSequenceClassifier",
    "Candidate",
    "Comparison",
    "Interval",
    "TemporalCalibrator",
]
