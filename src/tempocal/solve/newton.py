"""Damped Newton's method, with an active set for lower bounds on the coefficients.

Each step solves the quadratic model over the coefficients that are not at a bound. A step that does
not decrease the objective by a tenth of what the model predicts is repeated with damping
(Levenberg-Marquardt). The last step is taken without another pass over the rows: convergence is
quadratic, a step with a predicted decrease of 1e-12 moves the linear predictors by about 1e-6 and
leaves about the square of that.

Separable data have no finite optimum: the loss decreases forever as coefficients grow. Such fits
are reported as unbounded. The signs are a long step in unpenalized directions that predicts no
decrease, a loss of nearly zero with large coefficients, and a loss that the rows know never to rise
in the direction of the coefficients.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.rows import Rows, Sums
from tempocal.solve.linear_systems import solve_semidefinite
from tempocal.solve.penalties import Strengths, add_penalty
from tempocal.solve.problem import Point, Problem, Solution

# Predicted decrease of the mean objective at which the next step is the last.
DECREASE_TOLERANCE = 1e-12
# A step with a relative predicted decrease below this that fails has reached rounding errors.
ROUNDING = 1e-9
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


def minimize_newton(
    problem: Problem, strengths: Strengths, start: Array, start_sums: Sums | None = None
) -> Solution:
    """Minimize the penalized loss, without refining the rows.

    Pass ``start_sums``, the sums over rows at the start, if they are known.
    """
    passes = 0
    if problem.is_scalar:
        start = np.maximum(start, problem.lower)
        if start_sums is None:
            start_sums, passes = problem.rows.sums(problem.at_keys(start)), 1
        solution = _scalar_last_step(problem, strengths, start, start_sums, passes)
        if solution is not None:
            return solution
    return _check_unbounded(
        problem, strengths, run_newton(problem, strengths, start, start_sums, passes)
    )


def _scalar_last_step(
    problem: Problem, strengths: Strengths, start: Array, sums: Sums, passes: int
) -> Solution | None:
    """Take the last Newton step of a single coefficient in plain floats; None if in doubt.

    Shortcut for a start next to the optimum, ten times as fast as arrays of one element. It returns
    what `run_newton` would after the same step. `_check_unbounded` is not needed: with so short a
    step and so much curvature the coefficient does not diverge, and the loss is not zero.
    """
    assert sums.hessian is not None
    weight, penalty = problem.rows.total_weight, problem.penalty_matrix(strengths).item()
    identity, lower = float(problem.identity[0]), float(problem.lower[0])
    current, loss_curvature = float(start[0]), float(sums.hessian[0, 0, 0])
    offset = current - identity
    gradient, curvature = (
        float(sums.gradient[0, 0]) + penalty * offset,
        loss_curvature + penalty,
    )
    if not (current > lower and curvature > 0.0):
        return None
    step = -gradient / curvature
    predicted, theta = -0.5 * gradient * step, current + step
    is_last = predicted <= DECREASE_TOLERANCE * weight and theta >= lower
    # theta * theta overflows to infinity, where theta**2 would raise.
    is_near = (
        abs(theta) <= FAR_FACTOR * max(abs(identity), 1.0)
        and theta * theta * loss_curvature >= FLAT_SHARE * weight
    )
    if not (is_last and is_near):
        return None
    # Part of the predicted decrease is that of the penalty, not of the loss.
    penalty_decrease = 0.5 * penalty * (offset * offset - (theta - identity) * (theta - identity))
    return Solution(
        theta=np.array([theta]),
        loss=float(sums.loss[0]) - predicted + penalty_decrease,
        hessian=np.array([[loss_curvature]]),
        gradient=np.array([gradient + curvature * step]),
        passes=passes,
        converged=True,
        unbounded=False,
        sums=sums,
        step=np.array([theta - current]),
    )


def _check_unbounded(problem: Problem, strengths: Strengths, found: Solution) -> Solution:
    """Decide whether a fit has a finite optimum.

    A misclassified row has a loss of at least log 2. If the total loss is less, no row is
    misclassified: the classes are separated, and larger coefficients are always better. A long last
    step is no divergence if the rows can tell that a finite optimum exists.
    """
    if found.unbounded and problem.is_scalar and problem.rows.detects_separation:
        has_finite_optimum = problem.rows.has_finite_optimum(problem.at_keys(found.theta))
        found = replace(found, unbounded=not has_finite_optimum.all())
    if not found.unbounded and _decreases_forever(problem, strengths, found):
        return replace(found, unbounded=True)
    loss_vanished = found.loss <= min(
        NEARLY_ZERO_LOSS * problem.rows.total_weight, LESS_THAN_ONE_ERROR
    )
    if problem.earlier_loss is not None or not loss_vanished:
        return found
    unpenalized = problem.unpenalized_part(strengths)
    size, usual_size = (
        float(np.linalg.norm(unpenalized(one))) for one in (found.theta, problem.identity)
    )
    return replace(found, unbounded=found.unbounded or size > FAR_FACTOR * max(usual_size, 1.0))


def _decreases_forever(problem: Problem, strengths: Strengths, found: Solution) -> bool:
    """Whether the loss of no key rises as the suspect coefficients grow.

    The loss need not be near zero: rows with uninformative logits keep theirs.
    """
    if problem.earlier_loss is not None or found.hessian is None:
        return False
    curvature = np.diag(found.hessian)
    suspect = may_diverge(
        problem.rows, found.theta, problem.identity, curvature, problem.rows.total_weight
    )
    if not suspect.any():
        return False
    direction = np.where(suspect, problem.unpenalized_part(strengths)(found.theta), 0.0)
    at_keys = problem.at_keys(direction)
    is_moved = at_keys.any(axis=1) & problem.is_counted
    return bool(is_moved.any()) and not problem.rows.has_finite_optimum(at_keys)[is_moved].any()


def may_diverge(
    rows: Rows, theta: Array, identity: Array, curvature: Array, weight: Array | float
) -> NDArray[np.bool_]:
    """Which slopes are far from the identity, or have next to no curvature left."""
    is_slope = identity != 0.0
    far = np.abs(theta) > FAR_FACTOR * np.maximum(np.abs(identity), 1.0)
    flat = (theta**2 * curvature < FLAT_SHARE * weight) & is_slope
    if flat.any():
        # Near zero, theta**2 is small although the curvature is largest: compare with that at zero.
        squares = np.tile(rows.mean_squares, curvature.shape[-1] // rows.n_coefficients)
        flat &= curvature < FLAT_SHARE * squares * weight
    return np.asarray(flat | (far & is_slope))


def run_newton(
    problem: Problem,
    strengths: Strengths,
    start: Array,
    start_sums: Sums | None = None,
    passes: int = 0,
) -> Solution:
    """Minimize the penalized loss; do not check whether there is a finite optimum.

    ``start_sums`` are the sums at the start, if known; ``passes`` the number of passes made so far.
    """
    penalty_matrix, start = problem.penalty_matrix(strengths), np.maximum(start, problem.lower)
    last = _iterate(
        lambda theta: _with_hessian(
            problem.point_from_sums(theta, strengths, problem.rows.sums(problem.at_keys(theta)))
        ),
        start,
        problem.lower,
        problem.rows.total_weight,
        problem.unpenalized_part(strengths),
        passes=passes,
        first_point=None
        if start_sums is None
        else _with_hessian(problem.point_from_sums(start, strengths, start_sums)),
        nonnegative_loss=problem.earlier_loss is None,
    )
    theta = np.maximum(last.point.theta + last.step, problem.lower)
    return Solution(
        theta=theta,
        loss=last.point.value - last.predicted - problem.penalty_value(strengths, theta),
        hessian=add_penalty(last.point.hessian, -penalty_matrix),
        gradient=last.point.gradient + last.point.hessian @ last.step,
        passes=last.passes,
        converged=last.converged,
        unbounded=last.unbounded,
        sums=last.point.sums,
        step=theta - last.point.theta,
    )


@dataclass(frozen=True)
class _PointWithHessian(Point):
    """A point with a Hessian."""

    hessian: Array


@dataclass(frozen=True)
class _NewtonResult:
    """The last point that was evaluated, and the step from there to the minimum.

    ``predicted`` is the decrease that the quadratic model predicts for the step.
    """

    point: _PointWithHessian
    step: Array
    predicted: float
    passes: int
    converged: bool
    unbounded: bool = False


def _with_hessian(point: Point) -> _PointWithHessian:
    assert point.hessian is not None
    return _PointWithHessian(point.theta, point.value, point.gradient, point.hessian, point.sums)


def _iterate(
    evaluate: Callable[[Array], _PointWithHessian],
    start: Array,
    lower: Array,
    total_weight: float,
    unpenalized_part: Callable[[Array], Array],
    *,
    passes: int,
    first_point: _PointWithHessian | None,
    nonnegative_loss: bool,
) -> _NewtonResult:
    """Run the iteration; a loss that includes a quadratic for earlier rows can be negative."""
    point = evaluate(start) if first_point is None else first_point
    curvature = point.hessian
    passes, damping = passes + int(first_point is None), 0.0
    while True:
        step = _bounded_step(point, lower, damping)
        predicted = -float(point.gradient @ step + 0.5 * step @ point.hessian @ step)
        if damping == 0.0 and predicted <= DECREASE_TOLERANCE * total_weight:
            loss_vanished = nonnegative_loss and point.value <= NEGLIGIBLE * total_weight
            # Only unpenalized directions can diverge. The Hessian at the start says how far the
            # step moves the linear predictors; if the loss is zero, use the relative step.
            unpenalized = unpenalized_part(step)
            diverges = bool(unpenalized @ curvature @ unpenalized > DIVERGENCE**2 * total_weight)
            if loss_vanished and not diverges:
                size = max(float(np.linalg.norm(point.theta)), TINY)
                diverges = bool(np.linalg.norm(unpenalized) > DIVERGENCE * size)
            return _NewtonResult(point, step, predicted, passes, converged=True, unbounded=diverges)
        if passes == MAX_PASSES:
            return _NewtonResult(point, 0.0 * step, 0.0, passes, converged=False)
        trial = evaluate(point.theta + step)
        passes += 1
        noise = NEGLIGIBLE * (abs(point.value) + total_weight)
        if trial.value <= point.value - 0.1 * predicted + noise:
            point, damping = trial, (0.0 if damping < 1e-6 else damping / 100)
        elif damping == 0.0 and predicted <= ROUNDING * min(total_weight, abs(point.value)):
            # A strong penalty limits the precision of the objective: treat as converged.
            return _NewtonResult(point, step, predicted, passes, converged=True)
        else:
            damping = max(10 * damping, MIN_DAMPING)


def _bounded_step(point: _PointWithHessian, lower: Array, damping: float) -> Array:
    """Newton step over the free coefficients, by an active set for the bounds."""
    free = (point.theta > lower) | (point.gradient < 0)
    if free.all():
        step = -solve_semidefinite(point.hessian, point.gradient, damping)
        if (point.theta + step >= lower).all():
            return step
    step = np.zeros_like(point.theta)
    released_before = np.zeros_like(free)
    while free.any():
        step[~free] = (lower - point.theta)[~free]
        reduced_gradient = point.gradient + point.hessian @ np.where(free, 0.0, step)
        curvature = point.hessian[np.ix_(free, free)]
        step[free] = -solve_semidefinite(curvature, reduced_gradient[free], damping)
        violated = free & (point.theta + step < lower)
        # A coefficient at its bound whose gradient is negative after the step is released, once.
        new_gradient = point.gradient + point.hessian @ step
        released = (
            ~free & ~released_before & (new_gradient < 0)
            if not violated.any()
            else violated & False
        )
        if not violated.any() and not released.any():
            break
        released_before |= released
        free = (free & ~violated) | released
    return np.maximum(point.theta + step, lower) - point.theta
