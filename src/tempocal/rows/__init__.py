"""Rows in memory, and the sums over them that a fit asks for."""

from tempocal.rows.binary import BinaryRows
from tempocal.rows.per_class import PerClassRows
from tempocal.rows.predictors import LINE, ODDS, Predictor, ScaledSoftmax, Scores, Sigmoid, Softmax
from tempocal.rows.shared import SharedRows
from tempocal.rows.sums import Rows, Shortfall, Sums

__all__ = [
    "LINE",
    "ODDS",
    "BinaryRows",
    "PerClassRows",
    "Predictor",
    "Rows",
    "ScaledSoftmax",
    "Scores",
    "SharedRows",
    "Shortfall",
    "Sigmoid",
    "Softmax",
    "Sums",
]
