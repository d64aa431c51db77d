"""Curves of the probability of one class, as binning and isotonic regression fit them."""

from dataclasses import dataclass

import numpy as np

from tempocal.formula.nodes import Expression, Number, clamp, numbers, piecewise
from tempocal.links import Array
from tempocal.maps.one_vs_rest import BinaryMap
from tempocal.maps.part import require


@dataclass(frozen=True)
class Steps(BinaryMap):
    """A constant probability in each bin; ``edges`` are the inner ones, each closing a bin.

    A value equal to an edge belongs to the bin on its left.
    """

    edges: Array
    probabilities: Array

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return _logit(self.probabilities[np.searchsorted(self.edges, odds, side="left")])

    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability as a formula of the log-odds."""
        return piecewise(odds, self.edges.tolist(), numbers(self.probabilities), "left")

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(self.probabilities.shape == (self.edges.size + 1,), "bins and edges differ")
        _require_curve(self.edges, self.probabilities)


@dataclass(frozen=True)
class Knots(BinaryMap):
    """A probability that is linear in the log-odds between knots and held beyond the last ones."""

    odds: Array
    probabilities: Array

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        # Interpolation can overshoot its knots by a rounding error.
        inside = np.clip(np.interp(odds, self.odds, self.probabilities), 0.0, 1.0)
        return _logit(inside)

    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability; of several knots at one point the last counts."""
        positions, values = self.odds.tolist(), self.probabilities.tolist()
        with np.errstate(all="ignore"):
            slopes = np.diff(self.probabilities) / np.diff(self.odds)
        pieces: list[Expression] = [Number(values[0])]
        for slope, position, value in zip(slopes, positions, values, strict=False):
            rise = (odds - position) * float(slope if np.isfinite(slope) else 0.0)
            pieces.append(rise + value)
        pieces.append(Number(values[-1]))
        return clamp(piecewise(odds, positions, pieces, "right"), 0.0, 1.0)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(self.odds.size > 0, "there are no knots")
        require(self.probabilities.shape == self.odds.shape, "knots and probabilities differ")
        _require_curve(self.odds, self.probabilities)


def _require_curve(positions: Array, probabilities: Array) -> None:
    # Compared, not subtracted: a difference can overflow.
    ascends = positions.ndim == 1 and bool((positions[1:] >= positions[:-1]).all())
    require(ascends, "positions do not ascend")
    inside = (probabilities >= 0) & (probabilities <= 1)
    require(bool(inside.all()), "a probability is not within [0, 1]")


def _logit(probabilities: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(probabilities) - np.log1p(-probabilities)
