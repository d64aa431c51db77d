"""The one table that all binned metrics come from: sums over the rows of each bin.

Sums of parts add up, so that the table of a large set can be had block by block, and none of the
metrics needs the rows again.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.metrics.edges import Edges
from tempocal.metrics.predictions import row_blocks

# Rows of a block take turns at so many tables, as in bins.h: so every way has the same bits.
TURNS = 4
# With more bins, to add up the tables would take as long as the rows.
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
        """Confidence minus outcome, w * (confidence - outcome), summed over each bin."""
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
        Whether the event came.
    weight : ndarray of shape (n,) or None
        How often each row counts; None for once.
    edges : Edges
        The bins.

    Returns
    -------
    BinSums
        In float64. Blocks are summed first, which keeps the rounding error of 40 million rows at
        that of a hundred thousand.
    """
    # One cell for each (bin, outcome): the sum of outcomes is then the weight of half the cells.
    shape = (edges.n_bins, 2)
    turns = TURNS if edges.n_bins <= MAX_BINS else 1
    count = np.zeros(shape, dtype=np.intp)
    mass, said = np.zeros(shape), np.zeros(shape)
    for part in row_blocks(len(confidence)):
        cell = edges.locate(confidence[part])
        cell += cell
        cell += outcome[part]
        for turn in range(1, turns):
            cell[turn::turns] += turn * shape[0] * shape[1]
        count += _add_up(cell, None, (turns, *shape))
        if weight is None:
            said += _add_up(cell, confidence[part], (turns, *shape))
        else:
            mass += _add_up(cell, weight[part], (turns, *shape))
            said += _add_up(cell, weight[part] * confidence[part], (turns, *shape))
    mass = count.astype(np.float64) if weight is None else mass
    return BinSums(count.sum(axis=1), mass.sum(axis=1), said.sum(axis=1), mass[:, 1])


def _add_up(
    cell: NDArray[np.intp], values: Array | None, shape: tuple[int, int, int]
) -> NDArray[Any]:
    tables = np.bincount(cell, values, minlength=math.prod(shape)).reshape(shape)
    return np.asarray(tables.sum(axis=0))
