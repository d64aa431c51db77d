"""Counting and sorting rows by their integer key, in parts on all cores."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores, run_on_cores

Codes = NDArray[np.intp]

# Types of keys that the loops read without a conversion.
KEY_TYPES = (np.uint16, np.int32, np.int64)
# Rows of a part: with few keys they fit the cache of a core; with many keys a part has this many
# rows per key, but no more than a large part.
PART, LARGE_PART, PART_ROWS_PER_KEY = 2**16, 2**19, 2**8
# Parts that keep several cores busy.
MIN_PARTS = 4
# With fewer rows per key a part is not worth counters of its own.
MIN_ROWS_PER_KEY = 16
# Up to this many pairs of a key and a group, those that occur are marked in a table.
MAX_PAIRS = 2**26


def part_size(n_rows: int, n_keys: int, width: int = 1) -> int:
    """Rows of a part, each of ``width`` numbers; independent of the number of cores."""
    enough = min(PART_ROWS_PER_KEY * n_keys, LARGE_PART, -(-n_rows // MIN_PARTS))
    return max(PART // width, enough, MIN_ROWS_PER_KEY * n_keys, 1)


def parts_of(n_rows: int, n_keys: int, width: int = 1) -> list[slice]:
    """Split rows into parts of `part_size`."""
    size = part_size(n_rows, n_keys, width)
    return [slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size)]


def parts_of_counts(counts: Codes) -> list[slice]:
    """Return the parts whose rows were counted, (parts, keys)."""
    ends = np.cumsum(counts.sum(axis=1)).tolist()
    return [slice(*pair) for pair in pairwise([0, *ends])]


def as_keys(keys: NDArray[Any]) -> Codes:
    """Convert keys to a type that the loops read, unless they have one."""
    dtype = keys.dtype if keys.dtype in KEY_TYPES else np.intp
    return np.ascontiguousarray(keys, dtype=dtype)


def count_keys(keys: Codes, n_keys: int, width: int = 1) -> tuple[Codes, bool]:
    """Count rows by part and key (parts, keys), and check whether they are sorted by key.

    ``width`` is the number of values in a row; it makes parts small enough for the cache.
    """
    if native is None:
        counts = np.bincount(keys, minlength=n_keys)[None]
        return counts, bool(np.all(keys[1:] >= keys[:-1]))
    parts = parts_of(len(keys), n_keys, width)
    counts = np.zeros((len(parts), n_keys), dtype=np.intp)

    def count(part: int) -> bool:
        rows = parts[part]
        in_order = rows.start == 0 or bool(keys[rows.start] >= keys[rows.start - 1])
        return bool(native.count_keys(keys[rows], counts[part])) and in_order

    return counts, all(map_on_cores(count, range(len(parts))))


def groups_by_key(keys: Codes, n_keys: int, groups: Codes, count: int) -> NDArray[np.float64]:
    """Count the groups, out of ``count``, that have rows under each key."""
    if n_keys * count > MAX_PAIRS:
        key_of_pair = np.unique(groups.astype(np.intp) * n_keys + keys) % n_keys
        return np.bincount(key_of_pair, minlength=n_keys).astype(np.float64)
    occurs = np.zeros((count, n_keys), dtype=bool)
    if native is not None:
        n_groups = np.zeros(n_keys)
        native.groups_by_key(as_keys(keys), as_keys(groups), occurs, n_groups)
        return n_groups
    for start in range(0, len(keys), PART):
        rows = slice(start, start + PART)
        occurs[groups[rows], keys[rows]] = True
    return np.asarray(occurs.sum(axis=0), dtype=np.float64)


def sum_by_key(keys: Codes, n_keys: int, values: Callable[[slice], NDArray[Any]]) -> NDArray[Any]:
    """Sum ``values(rows)`` by key, computing it for one part of the rows at a time."""
    parts = parts_of(len(keys), n_keys)

    def work(rows: slice) -> NDArray[Any]:
        return np.bincount(keys[rows], values(rows), minlength=n_keys)

    return np.asarray(np.sum(map_on_cores(work, parts), axis=0))


def scatter(values: NDArray[Any], keys: Codes, counts: Codes, out: NDArray[Any]) -> None:
    """Sort the last axis of numbers or booleans by key.

    This is a counting sort, given the ``counts`` of `count_keys`.
    """
    table, sorted_table = np.atleast_2d(values), np.atleast_2d(out)

    def work(rows: slice, positions: Codes) -> None:
        native.scatter(table[:, rows], keys[rows], positions, sorted_table)

    _map_parts(work, counts)


def every_nth(step: int, keys: Codes, counts: Codes) -> Codes:
    """Input indices of every ``step``-th row in key order."""
    indices = np.empty(-(-len(keys) // step), dtype=np.int64)

    def work(rows: slice, positions: Codes) -> None:
        native.every_nth(keys[rows], np.array([rows.start, step]), positions, indices)

    _map_parts(work, counts)
    return indices


def _map_parts(work: Callable[[slice, Codes], None], counts: Codes) -> None:
    """Apply ``work`` to each part and the positions of its first row of each key in key order."""
    totals = counts.sum(axis=0)
    positions = (np.cumsum(totals) - totals) + (np.cumsum(counts, axis=0) - counts)
    parts = parts_of_counts(counts)
    run_on_cores(lambda part: work(parts[part], positions[part]), range(len(parts)))
