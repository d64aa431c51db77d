"""Rows that are shares of a row with a soft label, one for each class."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.curves.curve import Curve, Track
from tempocal.inputs import Codes
from tempocal.links import Array


@dataclass(frozen=True)
class RowShares:
    """Which row, as it was given, each row is a share of.

    Attributes
    ----------
    row : ndarray of shape (n,)
        Index of the given row.
    weights : ndarray or None
        Weights of all given rows.
    """

    row: Codes
    weights: Array | None

    @property
    def n_given(self) -> int:
        """Number of given rows."""
        return len(np.unique(self.row))

    def take(self, kept: NDArray[np.intp] | NDArray[np.bool_]) -> Self:
        """Select shares."""
        return replace(self, row=self.row[kept])

    def track(self, curve: Curve, times: Array) -> Track:
        """Lay a curve along the times of the given rows; its grid has the keys of the shares."""
        found, first, given = np.unique(self.row, return_index=True, return_inverse=True)
        track = curve.track(times[first], None if self.weights is None else self.weights[found])
        grid, kept = track.grid, track.kept
        if kept is None:
            return replace(track, grid=replace(grid, keys=grid.keys[given]))
        of_kept = (np.cumsum(kept) - 1)[given[kept[given]]]
        return replace(track, grid=replace(grid, keys=grid.keys[of_kept]), kept=kept[given])
