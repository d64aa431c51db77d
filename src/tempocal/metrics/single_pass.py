"""Bins of a metric in a single pass over probabilities and labels as they came.

The usual way reads them five times: to check them, to find the events, to bin them. What this does
not take as it is goes that way, and so does what is wrong, for it is there that errors are worded.
"""

from typing import Any

import numpy as np

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.metrics.binsums import MAX_BINS, BinSums
from tempocal.metrics.edges import Edges
from tempocal.metrics.predictions import BLOCK_NUMBERS

# Rows that are summed at once, as many as in `bin_sums`: so every way has the same bits.
CHUNK_ROWS = BLOCK_NUMBERS


def bin_sums_single_pass(
    y: Any, proba: Any, edges: Edges, *, of_top: bool, classes: Any = None
) -> BinSums | None:
    """Sum rows that count once by evenly spaced bins; None where it takes a closer look."""
    if native is None or classes is not None or edges.n_bins > MAX_BINS:
        return None
    if not (_is_plain(proba, "fd", (1, 2)) and _is_plain(y, "lq?", (1,)) and len(y) == len(proba)):
        return None
    if proba.size == 0:
        return None
    columns = proba.reshape(len(y), -1)
    n_classes = max(columns.shape[1], 2)
    if n_classes > 2 and not of_top:
        return None
    pieces = range(-(-len(y) // CHUNK_ROWS))
    sums = np.zeros((len(pieces), edges.n_bins, 2, 2))
    seen = np.zeros((len(pieces), n_classes), dtype=np.int64)
    is_top = np.array([of_top])

    def work(piece: int) -> bool:
        rows = slice(piece * CHUNK_ROWS, (piece + 1) * CHUNK_ROWS)
        return bool(
            native.bin_sums(
                # A column of a table is laid out piece by piece.
                np.ascontiguousarray(columns[rows]),
                np.ascontiguousarray(y[rows]),
                edges.values,
                is_top,
                sums[piece],
                seen[piece],
            )
        )

    if not all(map_on_cores(work, pieces)) or not seen.any(axis=0).all():
        return None
    count, said = np.moveaxis(sums.sum(axis=0), 2, 0)
    total = count.sum(axis=1)
    return BinSums(total.astype(np.intp), total, said.sum(axis=1), count[:, 1])


def _is_plain(values: Any, kinds: str, dimensions: tuple[int, ...]) -> bool:
    """Whether the loop can read an array, or a copy of a piece of it."""
    return (
        type(values) is np.ndarray
        and values.dtype.char in kinds
        and values.dtype.isnative
        and values.ndim in dimensions
        and values.flags.aligned
    )
