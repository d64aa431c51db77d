"""Time bins: which one each row is in, and where it begins and ends."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.curves.grid import distinct, equal_mass_edges, in_cells
from tempocal.errors import InputError
from tempocal.inputs import Codes, Times, check_positive_int, from_seconds
from tempocal.links import Array

MAX_TIME_BINS = 2000
Bins = int | Literal["steps"]


@dataclass(frozen=True, eq=False)
class TimeBins:
    """Rows by time bin, in order of time; every time bin has rows."""

    codes: Codes  # (n,)
    first: NDArray[Any]  # (S,) earliest time of its rows, as the times were given
    last: NDArray[Any]
    middle: NDArray[Any]  # their mean

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.first)


def cut_times(times: Times, weight: Array | None, bins: Bins) -> TimeBins:
    """Cut one clock into time bins of about the same weight, or into its steps.

    Rows of the same time share a time bin, so that there may be fewer than asked for.
    """
    grid = distinct(times.values, weight)
    if not is_steps(bins):
        edges = equal_mass_edges(grid, check_positive_int(bins, "bins"))
        grid = in_cells(np.searchsorted(edges, times.values, side="right"), times.values, weight)
    if grid.n_keys > MAX_TIME_BINS:
        raise InputError(
            f"bins is {bins!r}, which makes {grid.n_keys} stretches of time, but at most "
            f"{MAX_TIME_BINS} can be told apart: bins=20 cuts time into twenty"
        )
    first, last = np.full(grid.n_keys, np.inf), np.full(grid.n_keys, -np.inf)
    np.minimum.at(first, grid.keys, times.values)
    np.maximum.at(last, grid.keys, times.values)
    ends = [from_seconds(values, times.kinds[0]) for values in (first, last, grid.times)]
    return TimeBins(grid.keys.astype(np.intp, copy=False), *ends)


def is_steps(bins: Any) -> bool:
    """Whether a time bin was asked for each distinct time; arrays compare one by one."""
    return isinstance(bins, str) and bins == "steps"


def single_time_bin(n_rows: int) -> TimeBins:
    """Put all rows into one time bin, without a clock."""
    nowhere = np.full(1, np.nan)
    return TimeBins(np.zeros(n_rows, dtype=np.intp), nowhere, nowhere, nowhere)
