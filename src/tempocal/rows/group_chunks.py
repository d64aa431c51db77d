"""Groups of rows, some at a time: a table of all groups and keys could be as large as the rows."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tempocal.inputs import Codes

# Cells of groups and keys for each row, up to which a table has all of them: where rows of a group
# are anywhere, and where they come one after another.
MOST_CELLS_A_ROW, MOST_CELLS_A_ROW_IN_ORDER = 2, 8
# Numbers in a table of all cells, which stays in the cache; and rows of one that has entries.
CELLS, ROWS = 2**17, 2**17
# Where rows of a group are anywhere, all rows are gone through for each table: that has so many
# numbers at least, and there are so many tables at most.
MANY_CELLS, MOST_TABLES = 2**20, 16
# Rows that are looked at together.
BLOCK = 2**16


class Stripes:
    """Groups, cut into stripes of some at a time."""

    def __init__(self, codes: Codes, count: int, n_keys: int) -> None:
        self._codes, self._count, self._n_keys = codes, count, n_keys
        self._in_order = _ascend(codes)
        most = MOST_CELLS_A_ROW_IN_ORDER if self._in_order else MOST_CELLS_A_ROW
        # Whether a table of all cells does better than one of entries where there are rows.
        self.are_full = n_keys * count <= most * len(codes)

    def full(self) -> Iterator[tuple[range, slice]]:
        """Cut for tables of all cells: some groups, and rows among which all of theirs are."""
        some = max(1, (CELLS if self._in_order else MANY_CELLS) // self._n_keys)
        if not self._in_order:
            some = max(some, -(-self._count // MOST_TABLES))
        yield from self._cut(np.arange(0, self._count, some))

    def sparse(self) -> Iterator[tuple[range, slice]]:
        """Cut for tables of entries: some groups, and their rows."""
        starts = self._codes[::ROWS] if self._in_order else np.zeros(1, dtype=np.intp)
        yield from self._cut(np.unique(np.append(starts, 0)))

    def _cut(self, starts: Codes) -> Iterator[tuple[range, slice]]:
        n_rows = len(self._codes)
        rows = [slice(0, n_rows)] * len(starts)
        if self._in_order:
            # Of their own type, or all codes would be copied.
            places = np.searchsorted(self._codes, starts.astype(self._codes.dtype))
            rows = [slice(*ends) for ends in pairwise([*places.tolist(), n_rows])]
        for groups, own in zip(pairwise([*starts.tolist(), self._count]), rows, strict=True):
            yield range(*groups), own


def _ascend(codes: Codes) -> bool:
    starts = range(0, len(codes), BLOCK)
    blocks = (codes[start : start + BLOCK + 1] for start in starts)
    return all(bool((block[1:] >= block[:-1]).all()) for block in blocks)
