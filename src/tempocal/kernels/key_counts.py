"""Rows counted and sorted by a key that each has, part by part, on all cores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores

Codes = NDArray[np.intp]

# Types of keys that the loops read as they are.
KEY_TYPES = (np.uint16, np.int32, np.int64)
# Rows of a part: those of a few keys fit the cache of a core, and those of many leave each key
# enough to sum over, as far as a part is not too large then.
PART, LARGE_PART, ENOUGH_OF_A_KEY = 2**16, 2**20, 2**8
# So many parts keep some cores busy.
SOME_PARTS = 4
# With fewer rows for each key a part is not worth counters of its own.
ROWS_A_KEY = 16
# Up to so many pairs of a key and a group, those that occur are ticked off in a table.
MOST_PAIRS = 2**26


def part_size(n_rows: int, n_keys: int, width: int = 1) -> int:
    """Rows, of so many numbers, of a part that has counters for all keys, whatever the cores."""
    enough = min(ENOUGH_OF_A_KEY * n_keys, LARGE_PART, -(-n_rows // SOME_PARTS))
    return max(PART // width, enough, ROWS_A_KEY * n_keys, 1)


def parts_of(n_rows: int, n_keys: int) -> list[slice]:
    """Cut rows into such parts."""
    size = part_size(n_rows, n_keys)
    return [slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size)]


def as_keys(keys: NDArray[Any]) -> Codes:
    """Keys as the loops read them, in no more bytes than they came in."""
    dtype = keys.dtype if keys.dtype in KEY_TYPES else np.intp
    return np.ascontiguousarray(keys, dtype=dtype)


def count_keys(keys: Codes, n_keys: int, width: int = 1) -> tuple[Codes, bool]:
    """Rows of each key in each part (parts, keys), and whether rows are in the order of keys.

    ``width`` is how many numbers a row has, of which those of a part are to fit the cache.
    """
    if native is None:
        counts = np.bincount(keys, minlength=n_keys)[None]
        return counts, bool(np.all(keys[1:] >= keys[:-1]))
    size = part_size(len(keys), n_keys, width)
    counts = np.zeros((max(1, -(-len(keys) // size)), n_keys), dtype=np.intp)
    in_order = native.count_keys(keys, np.array([size]), counts)
    return counts, in_order


def groups_by_key(keys: Codes, n_keys: int, groups: Codes, count: int) -> NDArray[np.float64]:
    """How many of ``count`` groups have rows under each key."""
    if n_keys * count > MOST_PAIRS:
        found = np.unique(groups.astype(np.intp) * n_keys + keys) % n_keys
        return np.bincount(found, minlength=n_keys).astype(np.float64)
    there = np.zeros((count, n_keys), dtype=bool)
    if native is not None:
        counted = np.zeros(n_keys)
        native.groups_by_key(as_keys(keys), as_keys(groups), there, counted)
        return counted
    for start in range(0, len(keys), PART):
        rows = slice(start, start + PART)
        there[groups[rows], keys[rows]] = True
    return np.asarray(there.sum(axis=0), dtype=np.float64)


def sum_by_key(keys: Codes, n_keys: int, values: Callable[[slice], NDArray[Any]]) -> NDArray[Any]:
    """Sum what is asked for part by part, so that it is never there for all rows, by key."""
    parts = parts_of(len(keys), n_keys)

    def work(rows: slice) -> NDArray[Any]:
        return np.bincount(keys[rows], values(rows), minlength=n_keys)

    return np.asarray(np.sum(map_on_cores(work, parts), axis=0))


def scatter(values: NDArray[Any], keys: Codes, counts: Codes, out: NDArray[Any]) -> None:
    """Put numbers or booleans in the order of their keys, which have been counted.

    Rows are read one after another, and each is written where the next one of its key goes.
    """
    native.scatter(values, keys, _part_of(counts), _following(counts), out)


def one_in(step: int, keys: Codes, counts: Codes) -> Codes:
    """Find one row in ``step``, once they are in the order of their keys."""
    found = np.empty(-(-len(keys) // step), dtype=np.int64)
    native.one_in(keys, np.append(_part_of(counts), step), _following(counts), found)
    return found


def _part_of(counts: Codes) -> Codes:
    """Rows of every part but the last, in an array of one."""
    return np.array([max(int(counts[0].sum()), 1)])


def _following(counts: Codes) -> Codes:
    """Where the next row of each part and key goes."""
    totals = counts.sum(axis=0)
    return np.asarray((np.cumsum(totals) - totals) + (np.cumsum(counts, axis=0) - counts))
