"""Time bins: the bin of each row, and the first, last and mean time of each bin."""

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
    """Time bins in ascending order; none is empty."""

    codes: Codes  # (n,) bin of each row
    first: NDArray[Any]  # (S,) earliest time of its rows, in the type of the input
    last: NDArray[Any]
    middle: NDArray[Any]  # mean time

    @property
    def count(self) -> int:
        """Number of time bins."""
        return len(self.first)


def cut_times(times: Times, weight: Array | None, bins: Bins) -> TimeBins:
    """Cut time into bins of about equal weight, or one for each distinct time.

    Rows with the same time share a bin, so there may be fewer bins than requested.
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
    times_of_bins = [from_seconds(values, times.kinds[0]) for values in (first, last, grid.times)]
    return TimeBins(grid.keys.astype(np.intp, copy=False), *times_of_bins)


def is_steps(bins: Any) -> bool:
    """Whether ``bins`` is "steps"; comparing an array would give an array."""
    return isinstance(bins, str) and bins == "steps"


def single_time_bin(n_rows: int) -> TimeBins:
    """Put all rows into one bin, without times."""
    no_time = np.full(1, np.nan)
    return TimeBins(np.zeros(n_rows, dtype=np.intp), no_time, no_time, no_time)
