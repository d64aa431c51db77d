"""Rows in memory, and the sums over them that a fit asks for."""

from tempocal.rows.linear_predictors import (
    LINE,
    ODDS,
    LinearPredictor,
    ScaledSoftmax,
    Scores,
    Sigmoid,
    Softmax,
)
from tempocal.rows.sigmoid import BinaryRows
from tempocal.rows.softmax_per_class import PerClassRows
from tempocal.rows.softmax_shared import SharedRows
from tempocal.rows.sums import Rows, Shortfall, Sums

__all__ = [
    "LINE",
    "ODDS",
    "BinaryRows",
    "LinearPredictor",
    "PerClassRows",
    "Rows",
    "ScaledSoftmax",
    "Scores",
    "SharedRows",
    "Shortfall",
    "Sigmoid",
    "Softmax",
    "Sums",
]
