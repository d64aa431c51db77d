"""Two clocks at once."""

from dataclasses import dataclass, replace

import numpy as np

from tempocal.curves.curve import Curve, Rates, Shape, Track
from tempocal.curves.grid import Bulk, TimeSpan, find_bulk, fine, pairs
from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.maps import ProductBasis

# Distinct values of one clock beyond this many are put into as many cells.
MOST_OF_A_CLOCK = 128


@dataclass(frozen=True)
class Surface(Curve):
    """Every product of two curves: one for each column of ``time``.

    The two may go on different clocks, such as the round and the difference of the scores.

    Parameters
    ----------
    curve_a, curve_b : curve
        The curve along the first column of ``time`` and along the second.

    Examples
    --------
    >>> import numpy as np
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> clocks = np.stack([matches.time, np.abs(matches.logits)], axis=1)
    >>> surface = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=3))
    >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), surface)
    >>> cal = cal.fit(matches.logits, matches.label, time=clocks, groups=matches.sequence)
    >>> cal.parameters_at([[24, 0.5]])["inverse_temperature"].shape
    (1,)
    """

    curve_a: Curve
    curve_b: Curve

    @property
    def n_clocks(self) -> int:
        """How many columns ``time`` has."""
        return 2

    def track(self, times: Array, weights: Array | None, span: TimeSpan | None = None) -> Track:
        """Lay each curve along its clock and pair their keys."""
        for curve, name in ((self.curve_a, "curve_a"), (self.curve_b, "curve_b")):
            if not isinstance(curve, Curve) or curve.n_clocks != 1:
                raise InputError(f"{name} must be a curve along one clock, but it is {curve!r}")
        bulk = self._stray(times, weights)
        if bulk is not None:
            kept = bulk.holds(times)
            track = self.track(times[kept], None if weights is None else weights[kept])
            if track.kept is not None:
                # On the other clock there were stray times as well.
                kept[kept] = track.kept
            return replace(track, kept=kept, bulk=bulk)
        one = self.curve_a.track(_thinned(times[:, 0], weights), weights)
        other = self.curve_b.track(_thinned(times[:, 1], weights), weights)
        if one.kept is not None or other.kept is not None:
            raise InputError("min_rows of PerStep must be 1 within a Surface")
        grid = pairs(one.grid, other.grid, weights)

        def shape(rates: Rates) -> Shape:
            left = one.shape(rates[: one.n_rates])
            return _product(left, other.shape(rates[one.n_rates :]))

        return Track(
            grid,
            shape,
            n_rates=one.n_rates + other.n_rates,
            smoothness=one.smoothness + other.smoothness,
        )

    def _stray(self, times: Array, weights: Array | None) -> Bulk | None:
        """Return the range of the first clock that has stray times."""
        for k, curve in enumerate((self.curve_a, self.curve_b)):
            bulk = find_bulk(times[:, k], weights) if curve.spans_range else None
            if bulk is not None:
                return replace(bulk, clock=k)
        return None


def _product(one: Shape, other: Shape) -> Shape:
    """All products of two bases, each keeping its own penalties."""
    level = _kron(_square(one.level), _square(other.level))
    if one.level.ndim == other.level.ndim == 1:
        level = np.diag(level).copy()
    smooth = [_kron(each, np.eye(other.basis.n_functions)) for each in one.smooth]
    smooth += [_kron(np.eye(one.basis.n_functions), each) for each in other.smooth]
    trends = _trend(one), _trend(other)
    trend = None
    if smooth and trends[0] is not None and trends[1] is not None:
        trend = np.asarray(np.kron(trends[0], trends[1]), dtype=np.float64)
    return Shape(ProductBasis(one.basis, other.basis), level, tuple(smooth), trend=trend)


def _trend(shape: Shape) -> Array | None:
    """Coefficients that no penalty makes smooth; None where they are not told apart."""
    return shape.trend if shape.smooth else np.eye(shape.basis.n_functions)


def _kron(one: Array, other: Array) -> Array:
    """Kronecker's product of the last two axes."""
    products = one[..., :, None, :, None] * other[..., None, :, None, :]
    rows, columns = one.shape[-2] * other.shape[-2], one.shape[-1] * other.shape[-1]
    return products.reshape(*products.shape[:-4], rows, columns)


def _square(level: Array) -> Array:
    return np.diag(level) if level.ndim == 1 else level


def _thinned(times: Array, weights: Array | None) -> Array:
    """Return times of which there are not too many: each its own, or the mean of its cell."""
    grid = fine(times, weights, MOST_OF_A_CLOCK)
    return np.asarray(grid.times[grid.keys])
