"""Surrogate rows: few weighted rows in place of many, whether these are arrays or a table.

A fit needs the loss, its gradient and its Hessian at many iterates. A pass over many rows for each
would be too slow. Instead:

1. Few rows stand for all. They have nearly the same sums: two points with the moments of each cell
   of rows (`tempocal.rows.moment_matching` for arrays, `tempocal.tables.cell_counts` for tables),
   or, where there would be too many cells, a weighted sample.
2. The entire fit, including the penalty strengths, runs on the few rows.
3. At its optimum theta_0 an exact pass over all rows gives the loss, gradient and Hessian of every
   key. The loss l of the few is corrected by the differences up to second order:

       l(theta) + c + g' d + d' H d / 2,    d = theta - theta_0,

   where c, g and H are the differences of loss, gradient and Hessian between all rows and the few
   at theta_0. The corrected few have the exact sums at theta_0, and near it an error of third
   order. The fit continues from there.
4. Exact passes repeat until the optimum no longer moves: one or two passes from moments, two to
   five from a sample. The result is the optimum over all rows.

A Hessian of many coefficients takes far longer than a gradient. Then the first passes correct loss
and gradient only, and the Hessian is summed once the optimum is near.

A sample can mislead: its classes may be separated, or rows of large weight may be missing. Where
the few have no finite optimum they are corrected at the start of the fit. Where this does not help
either, or a pass shows that the last optimum was farther from the right one than the point before,
sums are made over all rows from then on: slow for a table, but right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows.sums import Rows, Sums

# Root mean square error of the linear predictors below which the sums are exact enough.
TOLERANCE = 1e-11
# The error expected at a distance is this many times what was measured.
SAFETY_FACTOR = 10.0
LEAST_ERROR_RATE = 1e-12
# Weight of an error of the Hessian relative to one of the gradient.
HESSIAN_ERROR_WEIGHT = 1e-5
# Seldom reached; without it, sums that are not reproducible would be refined forever.
MAX_EXACT_PASSES = 100
# An error at this distance from the last exact pass is rounding: more passes do not reduce it.
NEAR = 1e-8
# The few rows have misled if a better optimum is farther than this from theirs (root mean square of
# the linear predictors), or if a step leaves an error of more than this share of its length.
FAR, MISLED = 1.0, 0.5
# From this many coefficients of a key on, a Hessian takes far longer than a gradient: it is summed
# where the error is about this small, or where gradients alone leave more than this share of it.
COSTLY_HESSIAN, CLOSE, MAX_RATIO = 40, 1e-5, 0.25
# Share of the error that a correction of gradients alone is assumed to leave at first.
FIRST_RATIO = 0.1
RIDGE, TINY = 1e-9, 1e-300


@dataclass(frozen=True)
class Correction:
    """What is added to the sums of few rows: their difference from all rows, to second order."""

    center: Array  # (keys, coefficients)
    sums: Sums

    @classmethod
    def between(cls, few: Sums, exact: Sums, center: Array) -> Self:
        """Subtract the sums of few rows from those of all rows, both at ``center``."""
        assert few.hessian is not None
        assert exact.hessian is not None
        difference = Sums(
            exact.loss - few.loss,
            exact.gradient - few.gradient,
            exact.hessian - few.hessian,
        )
        return cls(center, difference)

    def applied_to(self, few: Sums, theta: Array) -> Sums:
        """Return the corrected sums at ``theta``, where the few rows were summed."""
        difference, step = self.sums, theta - self.center
        assert difference.hessian is not None
        hessian_step = np.einsum("apq,aq->ap", difference.hessian, step)
        slope = difference.gradient + 0.5 * hessian_step
        return Sums(
            few.loss + difference.loss + np.einsum("ap,ap->a", slope, step),
            few.gradient + difference.gradient + hessian_step,
            None if few.hessian is None else few.hessian + difference.hessian,
        )


class SurrogateRows:
    """Few rows and what exact passes have corrected: the only rows that can be refined.

    Parameters
    ----------
    few : Rows
        Rows with about the sums of all rows.
    all_rows : Rows
        The rows that these stand for, under the same keys.
    refines : bool
        Whether to make exact passes at all.
    """

    def __init__(self, few: Rows, all_rows: Rows, *, refines: bool = True) -> None:
        self._few, self.all_rows, self._refines = few, all_rows, refines
        self.n_keys, self.n_coefficients = all_rows.n_keys, all_rows.n_coefficients
        self.key_weights, self.total_weight = all_rows.key_weights, all_rows.total_weight
        self.detects_separation = all_rows.detects_separation
        # Whether sums are made over all rows, because the few have misled.
        self.is_exact = False
        self._correction: Correction | None = None
        self._curvature = np.zeros(0)  # Hessians at the center of the correction
        self._error_rate, self._error_ratio = np.inf, FIRST_RATIO
        self._n_passes = 0

    @property
    def mean_squares(self) -> Array:
        """Those of all rows."""
        return self.all_rows.mean_squares

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        if self.is_exact:
            return self.all_rows.sums(theta, hessian=hessian)
        sums = self._few.sums(theta, hessian=hessian)
        return sums if self._correction is None else self._correction.applied_to(sums, theta)

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient of all rows, summed by group and key."""
        return self.all_rows.group_gradients(theta, codes, count)

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """Count the groups that have rows under each key."""
        return self.all_rows.groups_by_key(codes, count)

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Whether the loss of all rows of each key grows eventually along ``direction``."""
        return self.all_rows.has_finite_optimum(direction)

    def refine(
        self, theta: Array, *, diverged: bool = False, counted: NDArray[np.bool_] | None = None
    ) -> bool:
        """Make an exact pass unless the sums are accurate enough; return whether they changed.

        The coefficients of keys that are not ``counted`` do not matter.
        """
        if self.is_exact or not self._refines:
            return False
        if self._n_passes >= MAX_EXACT_PASSES:
            return self._give_up()
        counted = np.ones(self.n_keys, dtype=bool) if counted is None else counted
        if diverged:
            return self._recover(theta, counted)
        steps = self._distances(theta)
        distance = _largest(steps, counted)
        if self._expected_error(distance) <= TOLERANCE:
            return False
        is_close = not self._error_ratio * distance > CLOSE or self._error_ratio > MAX_RATIO
        hessian = self.n_coefficients < COSTLY_HESSIAN or is_close
        errors = self._exact_pass(theta, counted, hessian=hessian)
        error = _largest(errors, counted)
        if distance < np.inf:
            self._error_ratio = self._mean(errors) / max(self._mean(steps), TINY)
        is_step = hessian and NEAR < distance < np.inf
        # Not a number is far too.
        is_far = not error <= (FAR if hessian else np.inf)
        if is_far or (is_step and self._error_ratio > MISLED):
            self._give_up()
        self._error_rate = self._measured_rate(error, distance) if hessian else np.inf
        # An error at the point of the last pass is rounding: more passes do not reduce it.
        return self.is_exact or not hessian or (error > TOLERANCE and distance > NEAR)

    def _recover(self, start: Array, counted: NDArray[np.bool_]) -> bool:
        """Correct few rows without a finite optimum at the start of the fit, or give them up."""
        if self._correction is not None:
            return self._give_up()
        error = _largest(self._exact_pass(start, counted, hessian=True), counted)
        self._error_rate = max(error, LEAST_ERROR_RATE)
        return True

    def _give_up(self) -> bool:
        """Sum over all rows from now on."""
        self.is_exact = True
        return True

    def _exact_pass(self, theta: Array, counted: NDArray[np.bool_], *, hessian: bool) -> Array:
        """Correct the few rows at ``theta``; return the error that they had at each key."""
        if self._correction is not None:
            theta = np.where(counted[:, None], theta, self._correction.center)
        exact, few = self.all_rows.sums(theta, hessian=hessian), self._few.sums(theta)
        self._n_passes += 1
        before = few if self._correction is None else self._correction.applied_to(few, theta)
        assert before.hessian is not None
        if exact.hessian is None:
            # The Hessian stays as it was corrected last.
            exact = Sums(exact.loss, exact.gradient, before.hessian)
        assert exact.hessian is not None
        self._correction = Correction.between(few, exact, theta)
        self._curvature = exact.hessian
        residual = exact.gradient - before.gradient
        return _newton_step_norms(residual, exact.hessian, self.key_weights)

    def _distances(self, theta: Array) -> Array:
        """Root mean square change of the linear predictors since the last pass, at each key."""
        if self._correction is None:
            return np.full(self.n_keys, np.inf)
        step = theta - self._correction.center
        squares = np.einsum("ap,apq,aq->a", step, self._curvature, step)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0) / np.maximum(self.key_weights, TINY)))

    def _expected_error(self, distance: float) -> float:
        """Estimate the error of the linear predictors at the minimum of the corrected sums."""
        if not (distance < 1.0 and self._error_rate < np.inf):
            return np.inf
        # The Hessian's error is of first order, and enters through the strengths estimated from it.
        return SAFETY_FACTOR * self._error_rate * (distance + HESSIAN_ERROR_WEIGHT) * distance

    def _measured_rate(self, error: float, distance: float) -> float:
        """Error per squared distance: the gradient's error after a second-order correction."""
        if distance <= NEAR or (error <= TOLERANCE and self._error_rate < np.inf):
            # All but rounding.
            return self._error_rate
        known = distance < np.inf and self._error_rate < np.inf
        return max(error / distance**2 if known else error, LEAST_ERROR_RATE)

    def _mean(self, norms: Array) -> float:
        """Root mean square over all keys."""
        return float(np.sqrt(self.key_weights @ norms**2 / max(self.total_weight, TINY)))


def _newton_step_norms(gradient: Array, hessian: Array, weights: Array) -> Array:
    """Root mean square change of the linear predictors of each key in a Newton step."""
    size = np.einsum("app->a", hessian) / gradient.shape[1]
    ridge = np.maximum(RIDGE * size, TINY)[:, None, None] * np.eye(gradient.shape[1])
    steps = np.linalg.solve(hessian + ridge, gradient[:, :, None])[:, :, 0]
    squares = np.einsum("ap,ap->a", steps, gradient)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) / np.maximum(weights, TINY)))


def _largest(values: Array, counted: NDArray[np.bool_]) -> float:
    return float(values[counted].max(initial=0.0))
