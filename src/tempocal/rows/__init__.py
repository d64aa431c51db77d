"""Rows in memory, and the sums over them that a fit needs."""

from tempocal.rows.linear_predictors import (
    LINE,
    ODDS,
    LabeledLogits,
    LinearPredictor,
    OddsFunctions,
    ScaledSoftmax,
    Sigmoid,
    Softmax,
)
from tempocal.rows.sequence_rows import Directions, PastScores, SequenceRows, Sequences
from tempocal.rows.sigmoid import BinaryRows
from tempocal.rows.softmax_per_class import PerClassRows
from tempocal.rows.softmax_shared import SharedRows
from tempocal.rows.stored_sequences import StoredSequences
from tempocal.rows.sums import Rows, Sums
from tempocal.rows.surrogate import SurrogateRows

__all__ = [
    "LINE",
    "ODDS",
    "BinaryRows",
    "Directions",
    "LabeledLogits",
    "LinearPredictor",
    "OddsFunctions",
    "PastScores",
    "PerClassRows",
    "Rows",
    "ScaledSoftmax",
    "SequenceRows",
    "Sequences",
    "SharedRows",
    "Sigmoid",
    "Softmax",
    "StoredSequences",
    "Sums",
    "SurrogateRows",
]
