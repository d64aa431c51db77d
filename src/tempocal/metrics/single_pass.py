"""Bin sums in a single compiled pass over unchecked probabilities and labels.

The general path reads them five times: to check them, to find the events, to bin them. This fast
path returns None for input that it does not support or that is invalid; the general path then
handles it and raises the errors.
"""

from typing import Any

import numpy as np

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.metrics.binsums import MAX_BINS, BinSums
from tempocal.metrics.edges import Edges
from tempocal.metrics.predictions import BLOCK_NUMBERS

# Rows of a chunk: as many as in `bin_sums`, so that both give identical bits.
CHUNK_ROWS = BLOCK_NUMBERS


def bin_sums_single_pass(
    y: Any, proba: Any, edges: Edges, *, of_top: bool, classes: Any = None
) -> BinSums | None:
    """Sum unweighted rows by equal-width bins; None if the general path is needed."""
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
                # Strided columns are copied chunk by chunk.
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
    count, confidence = np.moveaxis(sums.sum(axis=0), 2, 0)
    total = count.sum(axis=1)
    return BinSums(total.astype(np.intp), total, confidence.sum(axis=1), count[:, 1])


def _is_plain(values: Any, kinds: str, dimensions: tuple[int, ...]) -> bool:
    """Whether the compiled loop can read an array, or a copy of a chunk of it."""
    return (
        type(values) is np.ndarray
        and values.dtype.char in kinds
        and values.dtype.isnative
        and values.ndim in dimensions
        and values.flags.aligned
    )
