"""One model for each step (section 3.1 of the paper)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tempocal.curves.curve import Curve, Shape, Track
from tempocal.curves.grid import Grid, TimeSpan, distinct, equal_mass_edges, in_cells
from tempocal.errors import InputError, SingleRowsWarning, warn_user
from tempocal.inputs import check_choice, check_positive_int
from tempocal.kernels.codes import renumbered
from tempocal.links import Array
from tempocal.maps import BinBasis, StepBasis

# With more steps than this time is continuous, and most steps would have one row.
MOST_STEPS = 2**16
# Of a table with more distinct times than this, no bins are made.
MOST_BINNED_STEPS = 2**20
# With more steps than this, and fewer rows a step on average, most have a single row.
FEW_STEPS, ROWS_PER_STEP = 50, 2.0


@dataclass(frozen=True)
class PerStep(Curve):
    """A model of its own for each distinct step, or for each of some bins of time.

    Parameters
    ----------
    min_rows : int, default=1
        Steps with fewer rows than this, by weight, are left out of the fit and treated as not seen;
        with 1 none is that has rows, however light.
    unseen : {"nearest", "interpolate", "error"}, default="nearest"
        What a step is given that the fit has not seen: the nearest step's model, of two as near the
        earlier one's; a line between the coefficients of its neighbors; or an error.
    bins : int, default=None
        Cut time into this many bins of about as many rows each, instead of steps.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(bins=4))
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> cal.parameters_at([0, 24])["inverse_temperature"].round(1)
    array([0.4, 1. ])
    """

    min_rows: int = 1
    unseen: Literal["nearest", "interpolate", "error"] = "nearest"
    bins: int | None = None

    @property
    def most_times(self) -> int:
        """How many distinct times can have keys of their own."""
        return MOST_STEPS if self.bins is None else MOST_BINNED_STEPS

    @property
    def takes_cells(self) -> bool:
        """Whether times can be put into cells: steps are what they are."""
        return False

    def track(self, times: Array, weights: Array | None, span: TimeSpan | None = None) -> Track:
        """Give each step, or each bin, a key."""
        least = check_positive_int(self.min_rows, "min_rows")
        check_choice(self.unseen, "unseen", ("nearest", "interpolate", "error"))
        grid = distinct(times, weights)
        if self.bins is not None:
            basis = BinBasis(equal_mass_edges(grid, check_positive_int(self.bins, "bins")))
            grid = in_cells(basis.codes(times), times, weights)
            shape = Shape(basis, np.ones(grid.n_keys), separate=True)
            return Track(grid, lambda rates: shape)
        if grid.n_keys > MOST_STEPS:
            raise InputError(
                f"time has {grid.n_keys} distinct values, more than the {MOST_STEPS} steps that "
                "PerStep can have: PerStep(bins=20) cuts it into stretches, and Spline() follows it"
            )
        _warn_of_single_rows(grid, len(times))
        return _with_enough(grid, least, self.unseen)


def _warn_of_single_rows(grid: Grid, n_rows: int) -> None:
    """Warn where time is continuous: most steps are fitted to one row, by count and by weight."""
    rows = max(float(n_rows), float(grid.weights.sum()))
    if grid.n_keys > FEW_STEPS and rows < ROWS_PER_STEP * grid.n_keys:
        warn_user(
            f"time has {grid.n_keys} distinct values in {rows:.0f} rows, so that PerStep() fits "
            "most of its steps to one row each: PerStep(bins=20) cuts time into stretches, and "
            "Spline() follows it",
            SingleRowsWarning,
        )


def _with_enough(grid: Grid, least: int, unseen: str) -> Track:
    """Leave out the steps that have too few rows; none that has any, if one row is enough."""
    enough = grid.weights > 0.0 if least == 1 else grid.weights >= least
    if not enough.any():
        raise InputError(
            f"min_rows is {least}, but no step has more than {grid.weights.max():g} rows: "
            "none is left"
        )
    shape = Shape(StepBasis(grid.times[enough], unseen), np.ones(enough.sum()), separate=True)
    if enough.all():
        return Track(grid, lambda rates: shape)
    kept = enough[grid.keys]
    keys = renumbered(grid.keys[kept], enough)
    left = Grid(keys, grid.times[enough], grid.weights[enough], is_exact=True)
    return Track(left, lambda rates: shape, kept=kept)
