"""Finest keys: the (time, fold) cells that exact passes sum by; every other sum adds these up."""

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
    """All finest keys that have rows, in order.

    Attributes
    ----------
    frame : Frame
        Rows with the columns ``on``.
    on : tuple of str
        Columns that make up the key: "key", of time, and "fold", where present.
    values : dict of ndarray of shape (keys,)
        Value of these columns for each key.
    weights, n_rows : ndarray of shape (keys,)
        Total weight and number of the rows of each key.
    times : ndarray of shape (keys,)
        Time of each key: that of its rows, or their mean; 0 without a time column.
    time_keys : TimeKeys or None
        How rows are keyed by time.
    """

    frame: Frame
    on: tuple[str, ...]
    values: Columns
    weights: Array
    n_rows: Array
    times: Array
    time_keys: TimeKeys | None

    @property
    def count(self) -> int:
        """Number of finest keys."""
        return len(self.weights)

    def subset(self, kept: Codes) -> Self:
        """Keep the rows of some keys only."""
        if len(kept) == self.count:
            return self
        return replace(
            self,
            values={name: column[kept] for name, column in self.values.items()},
            weights=self.weights[kept],
            n_rows=self.n_rows[kept],
            times=self.times[kept],
        )

    def indices(self, found: Columns) -> Codes:
        """Index of the finest key of each row of a result."""
        if not self.on:
            return np.zeros(_length(found), dtype=np.intp)
        codes = _joint_codes([self.values[name] for name in self.on])
        order = np.argsort(codes)
        wanted = _joint_codes(
            [found[name] for name in self.on], like=[self.values[n] for n in self.on]
        )
        return order[np.searchsorted(codes[order], wanted)].astype(np.intp)

    def join_columns(self, columns: Columns) -> Frame:
        """Join columns that have one value per finest key to the rows."""
        if not self.on:
            return self.frame.with_columns(
                **{name: nw.lit(float(values[0])) for name, values in columns.items()}
            )
        return join(self.frame, {**self.values, **columns}, list(self.on))


def _joint_codes(columns: list[NDArray[Any]], like: list[NDArray[Any]] | None = None) -> Codes:
    """Return a code for each combination of values; all values occur in ``like``."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column, other in zip(columns, like or columns, strict=True):
        values = np.unique(other)
        code = code * len(values) + np.searchsorted(values, column)
    return code


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))
