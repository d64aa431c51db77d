"""Time bins: the bin of each row, and the first, last and mean time of each bin."""

from dataclasses import dataclass, field, replace
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

    codes: Codes  # (n,) bin of each row, or of each distinct time of a table
    first: NDArray[Any]  # (S,) earliest time of its rows, in the type of the input
    last: NDArray[Any]
    middle: NDArray[Any]  # mean time
    n_rows: NDArray[np.intp]  # (S,)
    edges: Array | None = None  # (S - 1,) first times of all but the first bin, in a table
    known: dict[str, Array] = field(default_factory=dict)  # what was counted in a table

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
    first, last, middle = (from_seconds(v, times.kinds[0]) for v in (first, last, grid.times))
    n_rows = np.bincount(grid.keys, minlength=grid.n_keys)
    return TimeBins(grid.keys.astype(np.intp, copy=False), first, last, middle, n_rows)


def count_given(bins: TimeBins, row: Codes | None) -> TimeBins:
    """Count the rows as they were given; ``row`` says of which each is a share, if any is."""
    if row is None:
        return bins
    codes = bins.codes[np.unique(row, return_index=True)[1]]
    return replace(bins, n_rows=np.bincount(codes, minlength=bins.count))


def is_steps(bins: Any) -> bool:
    """Whether ``bins`` is "steps"; comparing an array would give an array."""
    return isinstance(bins, str) and bins == "steps"


def single_time_bin(n_rows: int) -> TimeBins:
    """Put all rows into one bin, without times."""
    no_time = np.full(1, np.nan)
    codes = np.broadcast_to(np.intp(0), n_rows)
    return TimeBins(codes, no_time, no_time, no_time, np.array([n_rows]))
