"""Damped Newton's method, with an active set for lower bounds on the coefficients.

Each step solves the quadratic model over the coefficients that are not at a bound. A step that does
not decrease the objective by a tenth of what the model predicts is repeated with damping
(Levenberg-Marquardt). The last step is taken without another pass over the rows: convergence is
quadratic, a step with a predicted decrease of 1e-12 moves the linear predictors by about 1e-6 and
leaves about the square of that.

Keys that share no coefficients are blocks of the Hessian. Each block has its own damping and stops
by itself, as if it were fitted alone, but each pass over the rows serves all of them.

Separable data have no finite optimum: the loss decreases forever as coefficients grow. Such blocks
are reported as unbounded. The signs are a long step in unpenalized directions that predicts no
decrease, a loss of nearly zero with large coefficients, and a loss that the rows know never to rise
in the direction of the coefficients.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.rows import Sums
from tempocal.solve.linear_systems import bounded_steps
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Point, Problem, Solution

# Predicted decrease of the mean objective at which the next step is the last.
DECREASE_TOLERANCE = 1e-12
# A step that fails has reached rounding errors if it predicts a decrease below this, relative to
# the objective, or below the other in the mean objective.
ROUNDING, MEAN_ROUNDING = 1e-9, 1e-10
# Root mean square change of the linear predictors. A longer last step means divergence.
DIVERGENCE = 1e-3
TINY = 1e-300
# A mean loss below this is zero; also the relative rounding error of the objective.
NEGLIGIBLE = 1e-12
# Coefficients this many times as large as those of the identity, and as 1, are far away.
FAR_FACTOR = 10.0
# Share of the curvature at zero below which a direction is flat: misclassified rows are rarer than
# this, or there are none.
FLAT_SHARE = 1e-6
# Mean loss, and total loss, below which the classes are separated. A misclassified row has a loss
# of at least log 2.
NEARLY_ZERO_LOSS = 1e-7
LESS_THAN_ONE_ERROR = 0.5
MAX_PASSES = 200
# First damping after a failed step, relative to the curvature.
MIN_DAMPING = 0.1

Mask = NDArray[np.bool_]


def minimize_newton(
    problem: Problem, strengths: Strengths, start: Array, start_sums: Sums | None = None
) -> Solution:
    """Minimize the penalized loss, without refining the rows.

    Pass ``start_sums``, the sums over rows at the start, if they are known.
    """
    newton = _Newton(problem, strengths)
    return newton.solution(newton.iterate(start, start_sums))


@dataclass(frozen=True)
class _Result:
    """The last point that was evaluated, and the step from there to the minimum, by block.

    ``predicted`` is the decrease that the quadratic model predicts for the step.
    """

    point: Point
    step: Array
    predicted: Array
    passes: int
    stopped: Mask
    unbounded: Mask


class _Newton:
    """Newton's method for one problem; arrays have a first axis for the blocks."""

    def __init__(self, problem: Problem, strengths: Strengths) -> None:
        self.problem, self.strengths = problem, strengths
        self.lower = problem.in_blocks(problem.lower)
        self.has_earlier_loss = problem.earlier_loss is not None
        self.weights = np.maximum(problem.block_weights, TINY)
        if problem.earlier_loss is not None:
            # Keys without rows now may have had earlier ones.
            self.weights = self.weights + np.einsum("tpp->t", problem.earlier_loss.curvature)

    def iterate(self, start: Array, start_sums: Sums | None) -> _Result:
        """Iterate until every block has stopped."""
        within = np.maximum(start, self.problem.lower)
        known = start_sums if (within == start).all() else None
        point, passes = self._evaluate(within, known), int(known is None)
        start_hessians = point.hessians
        damping = np.zeros(len(self.weights))
        at_rounding = np.zeros(len(damping), dtype=bool)
        while True:
            step = self._bounded_steps(point, damping)
            predicted = -_quadratic(point, step)
            is_last = (damping == 0.0) & (predicted <= DECREASE_TOLERANCE * self.weights)
            stopped = is_last | at_rounding
            if stopped.all() or passes == MAX_PASSES:
                step = np.where(stopped[:, None], step, 0.0)
                unbounded = is_last & ~at_rounding & self._diverges(point, step, start_hessians)
                return _Result(
                    point, step, np.where(stopped, predicted, 0.0), passes, stopped, unbounded
                )
            moving = np.where(stopped[:, None], 0.0, step)
            trial = self._evaluate(point.theta + moving.ravel())
            passes += 1
            noise = NEGLIGIBLE * (np.abs(point.values) + self.weights)
            better = trial.values <= point.values - 0.1 * predicted + noise
            # A strong penalty or a steep slope limits the precision of the objective.
            relative = ROUNDING * np.minimum(self.weights, np.abs(point.values))
            is_small = predicted <= np.maximum(relative, MEAN_ROUNDING * self.weights)
            at_rounding |= ~stopped & ~better & (damping == 0.0) & is_small
            reduced = np.where(damping < 1e-6, 0.0, damping / 100)
            increased = np.maximum(10 * damping, MIN_DAMPING)
            changed = np.where(better, reduced, increased)
            damping = np.where(stopped | at_rounding, damping, changed)
            point = point.replaced(trial, better & ~stopped)

    def solution(self, last: _Result) -> Solution:
        """Take the last step, and decide which blocks have a finite optimum."""
        problem, point = self.problem, last.point
        assert point.hessians is not None
        theta = np.maximum(point.theta + last.step.ravel(), problem.lower)
        penalties = problem.penalty_values(self.strengths, theta)
        losses = point.values - last.predicted - penalties
        gradient = point.gradients + np.einsum("tpq,tq->tp", point.hessians, last.step)
        hessian = point.hessians - problem.penalty_blocks(self.strengths)
        unbounded = self._where_unbounded(theta, hessian, losses, last.unbounded)
        return Solution(
            theta=theta,
            loss=float(losses.sum()),
            hessian=hessian,
            gradient=gradient.ravel(),
            passes=last.passes,
            converged=bool(last.stopped.all()),
            unbounded=bool(unbounded.any()),
            where_unbounded=unbounded if problem.is_separate else None,
            sums=None if problem.is_separate and len(unbounded) > 1 else point.sums,
            step=theta - point.theta,
        )

    def _evaluate(self, theta: Array, sums: Sums | None = None) -> Point:
        if sums is None:
            sums = self.problem.rows.sums(self.problem.at_keys(theta))
        return self.problem.point_from_sums(theta, self.strengths, sums)

    def _bounded_steps(self, point: Point, damping: Array) -> Array:
        assert point.hessians is not None
        theta = self.problem.in_blocks(point.theta)
        return bounded_steps(
            theta,
            point.gradients,
            point.hessians,
            self.lower,
            damping,
            bandwidth=self.problem.bandwidth,
        )

    def _unpenalized(self, theta: Array) -> Array:
        unpenalized_part = self.problem.unpenalized_part(self.strengths)
        return self.problem.in_blocks(unpenalized_part(theta.ravel()))

    def _diverges(self, point: Point, step: Array, start_hessians: Array | None) -> Mask:
        """Whether the last step of a block is long, in unpenalized directions.

        The Hessian at the start says how far the step moves the linear predictors. If the loss is
        zero, the relative step counts too; with earlier rows a loss of zero means nothing.
        """
        unpenalized = self._unpenalized(step)
        assert start_hessians is not None
        curvature = np.einsum("tpq,tq->tp", start_hessians, unpenalized)
        moves = np.einsum("tp,tp->t", unpenalized, curvature)
        diverges = moves > DIVERGENCE**2 * self.weights
        vanished = (point.values <= NEGLIGIBLE * self.weights) & (not self.has_earlier_loss)
        if vanished.any():
            sizes = np.maximum(_norms(self.problem.in_blocks(point.theta)), TINY)
            diverges |= vanished & (_norms(unpenalized) > DIVERGENCE * sizes)
        return np.asarray(diverges)

    def _where_unbounded(
        self, theta: Array, hessian: Array, losses: Array, unbounded: Mask
    ) -> Mask:
        """Which blocks have no finite optimum.

        A misclassified row has a loss of at least log 2. If the total loss is less, no row is
        misclassified: the classes are separated, and larger coefficients are always better. Where a
        block is a single slope, the rows can tell whether it has a finite optimum.
        """
        if self.has_earlier_loss:
            return unbounded
        problem = self.problem
        unbounded = unbounded | self._decrease_forever(theta, hessian)
        vanished = losses <= np.minimum(NEARLY_ZERO_LOSS * self.weights, LESS_THAN_ONE_ERROR)
        if vanished.any():
            sizes, usual = (_norms(self._unpenalized(one)) for one in (theta, problem.identity))
            unbounded = unbounded | (vanished & (sizes > FAR_FACTOR * np.maximum(usual, 1.0)))
        is_scalar = problem.is_separate and problem.rows.n_coefficients == 1
        if is_scalar and unbounded.any() and problem.rows.detects_separation:
            direction = np.where(unbounded[:, None], problem.at_keys(theta), 0.0)
            unbounded = unbounded & ~problem.rows.has_finite_optimum(direction)
        return unbounded

    def _decrease_forever(self, theta: Array, hessian: Array) -> Mask:
        """At which blocks the loss of no key rises as the suspect coefficients grow.

        The loss need not be near zero: rows with uninformative logits keep theirs.
        """
        problem, rows = self.problem, self.problem.rows
        slopes, identity = problem.in_blocks(theta), problem.in_blocks(problem.identity)
        is_slope = identity != 0.0
        curvature, weights = np.einsum("tpp->tp", hessian), self.weights[:, None]
        far = np.abs(slopes) > FAR_FACTOR * np.maximum(np.abs(identity), 1.0)
        # Roots, for squares of diverging slopes may overflow.
        moves = np.abs(slopes) * np.sqrt(np.maximum(curvature, 0.0))
        flat = (moves < np.sqrt(FLAT_SHARE * weights)) & is_slope
        if flat.any():
            # Near zero, theta**2 is small although the curvature is largest: compare with zero.
            squares = np.tile(rows.mean_squares, curvature.shape[1] // rows.n_coefficients)
            flat &= curvature < FLAT_SHARE * squares * weights
        suspect = flat | (far & is_slope)
        if not suspect.any():
            return np.zeros(len(suspect), dtype=bool)
        at_keys = problem.at_keys(np.where(suspect, self._unpenalized(theta), 0.0).ravel())
        is_moved = at_keys.any(axis=1) & problem.is_counted & (rows.key_weights > 0.0)
        if not is_moved.any():
            return np.zeros(len(suspect), dtype=bool)
        rises = is_moved & rows.has_finite_optimum(at_keys)
        if problem.is_separate:
            return is_moved & ~rises
        return np.array([not rises.any()])


def _quadratic(point: Point, step: Array) -> Array:
    """Change of the objective of each block that the quadratic model predicts for a step."""
    assert point.hessians is not None
    curvature = np.einsum("tpq,tq->tp", point.hessians, step)
    return np.asarray(np.einsum("tp,tp->t", step, point.gradients + 0.5 * curvature))


def _norms(vectors: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("tp,tp->t", vectors, vectors)))
