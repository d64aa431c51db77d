"""The finest keys under which anybody asks for sums over a table: a time, or a time and a fold."""

from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.tables.open_table import Frame
from tempocal.tables.time_keys import TimeKeys
from tempocal.tables.transfer import Columns, join


@dataclass(frozen=True)
class FinestKeys:
    """Keys that have rows, in order.

    Attributes
    ----------
    frame : Frame
        Rows with the columns ``on``.
    on : tuple of str
        Columns that make the key: "key", of time, and "fold", as far as they are there.
    values : dict of ndarray of shape (keys,)
        Their values.
    weights, rows : ndarray of shape (keys,)
        Weight of the rows, and their number.
    times : ndarray of shape (keys,)
        Time of each: that of its rows, or their mean; 0 where time does not count.
    time_keys : TimeKeys or None
        How rows are keyed by time.
    """

    frame: Frame
    on: tuple[str, ...]
    values: Columns
    weights: Array
    rows: Array
    times: Array
    time_keys: TimeKeys | None

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.weights)

    def subset(self, kept: Codes) -> Self:
        """Leave out the rows of the other finest_keys."""
        if len(kept) == self.count:
            return self
        return replace(
            self,
            values={name: column[kept] for name, column in self.values.items()},
            weights=self.weights[kept],
            rows=self.rows[kept],
            times=self.times[kept],
        )

    def indices(self, found: Columns) -> Codes:
        """Atom of each row of a result."""
        if not self.on:
            return np.zeros(_length(found), dtype=np.intp)
        known = _joint([self.values[name] for name in self.on])
        order = np.argsort(known)
        asked = _joint([found[name] for name in self.on], like=[self.values[n] for n in self.on])
        return order[np.searchsorted(known[order], asked)].astype(np.intp)

    def join_columns(self, columns: Columns) -> Frame:
        """Put numbers of each atom beside its rows."""
        if not self.on:
            return self.frame.with_columns(
                **{name: nw.lit(float(values[0])) for name, values in columns.items()}
            )
        return join(self.frame, {**self.values, **columns}, list(self.on))


def _joint(columns: list[NDArray[Any]], like: list[NDArray[Any]] | None = None) -> Codes:
    """One code for each combination of values, which are among those of ``like``."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column, other in zip(columns, like or columns, strict=True):
        values = np.unique(other)
        code = code * len(values) + np.searchsorted(values, column)
    return code


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))
