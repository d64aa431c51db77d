"""Sums over the rows of each bin, from which all binned metrics are computed.

The sums are additive, so they are accumulated block by block, and no metric needs the rows again.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.metrics.edges import Edges
from tempocal.metrics.predictions import row_blocks

# Rows are added to this many tables in turn, which are then summed. bins.h does the same, so that
# both give identical bits.
N_TABLES = 4
# With more bins, one table: summing several would take as long as the rows.
MAX_BINS = 2**12


@dataclass(frozen=True, eq=False)
class BinSums:
    """Sums over the rows of each bin, each of shape (B,)."""

    count: NDArray[np.intp]  # rows
    weight: Array  # w
    confidence: Array  # w * confidence
    outcome: Array  # w * outcome

    @property
    def gap(self) -> Array:
        """Sum over each bin of w * (confidence - outcome)."""
        return self.confidence - self.outcome


def bin_sums(
    confidence: Array, outcome: NDArray[np.bool_], weight: Array | None, edges: Edges
) -> BinSums:
    """Sum rows by bin.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Probabilities in [0, 1].
    outcome : ndarray of bool, of shape (n,)
        Whether the event happened.
    weight : ndarray of shape (n,) or None
        Weights; None for weights of 1.
    edges : Edges
        The bins.

    Returns
    -------
    BinSums
        In float64. Summing by block keeps the rounding error of 40 million rows at that of a
        hundred thousand.
    """
    # One cell for each (bin, outcome): the sum of outcomes is then the weight of half the cells.
    shape = (edges.n_bins, 2)
    n_tables = N_TABLES if edges.n_bins <= MAX_BINS else 1
    count = np.zeros(shape, dtype=np.intp)
    mass, total_confidence = np.zeros(shape), np.zeros(shape)
    for part in row_blocks(len(confidence)):
        cell = edges.locate(confidence[part])
        cell += cell
        cell += outcome[part]
        for table in range(1, n_tables):
            cell[table::n_tables] += table * shape[0] * shape[1]
        tables = (n_tables, *shape)
        count += _cell_sums(cell, None, tables)
        if weight is None:
            total_confidence += _cell_sums(cell, confidence[part], tables)
        else:
            mass += _cell_sums(cell, weight[part], tables)
            total_confidence += _cell_sums(cell, weight[part] * confidence[part], tables)
    mass = count.astype(np.float64) if weight is None else mass
    return BinSums(count.sum(axis=1), mass.sum(axis=1), total_confidence.sum(axis=1), mass[:, 1])


def _cell_sums(
    cell: NDArray[np.intp], values: Array | None, shape: tuple[int, int, int]
) -> NDArray[Any]:
    tables = np.bincount(cell, values, minlength=math.prod(shape)).reshape(shape)
    return np.asarray(tables.sum(axis=0))
