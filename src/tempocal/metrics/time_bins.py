"""Stretches of time: which one each row is in, and where it begins and ends."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.curves.grid import distinct, equal_mass_edges, in_cells
from tempocal.errors import InputError
from tempocal.inputs import Codes, Times, check_whole, from_seconds
from tempocal.links import Array

MOST_STRETCHES = 2000
Bins = int | Literal["steps"]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Rows by stretch of time, in order of time; every stretch has rows."""

    codes: Codes  # (n,)
    first: NDArray[Any]  # (S,) earliest time of its rows, as the times were given
    last: NDArray[Any]
    middle: NDArray[Any]  # their mean

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.first)


def cut(times: Times, weight: Array | None, bins: Bins) -> Stretches:
    """Cut one clock into stretches of about the same weight, or into its steps.

    Rows of the same time share a stretch, so that there may be fewer than asked for.
    """
    grid = distinct(times.values, weight)
    if not is_steps(bins):
        edges = equal_mass_edges(grid, check_whole(bins, "bins"))
        grid = in_cells(np.searchsorted(edges, times.values, side="right"), times.values, weight)
    if grid.n_keys > MOST_STRETCHES:
        raise InputError(
            f"bins is {bins!r}, which makes {grid.n_keys} stretches of time, but at most "
            f"{MOST_STRETCHES} can be told apart: bins=20 cuts time into twenty"
        )
    first, last = np.full(grid.n_keys, np.inf), np.full(grid.n_keys, -np.inf)
    np.minimum.at(first, grid.keys, times.values)
    np.maximum.at(last, grid.keys, times.values)
    ends = [from_seconds(values, times.kinds[0]) for values in (first, last, grid.times)]
    return Stretches(grid.keys.astype(np.intp, copy=False), *ends)


def is_steps(bins: Any) -> bool:
    """Whether a stretch was asked for each distinct time; arrays compare one by one."""
    return isinstance(bins, str) and bins == "steps"


def one_stretch(n_rows: int) -> Stretches:
    """Put all rows into one stretch, without a clock."""
    nowhere = np.full(1, np.nan)
    return Stretches(np.zeros(n_rows, dtype=np.intp), nowhere, nowhere, nowhere)
