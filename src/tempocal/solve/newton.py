"""Newton's method with a lower bound on each coefficient and damping when a step fails.

The last step is taken without another pass over the rows. Convergence is quadratic: a step that
promises a decrease of 1e-12 moves the linear predictors by a millionth, and leaves about the square
of that.
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

# Decrease of the mean objective that the last step, which is taken unseen, may promise.
DECREASE_TOLERANCE = 1e-12
# One that promises as little as this, and is no better, has come to the rounding errors.
ROUNDING = 1e-9
# Where steps that move the linear predictors by this much promise nothing, or nothing is left to
# lose, the coefficients have no limit.
DIVERGENCE = 1e-3
TINY = 1e-300
NEGLIGIBLE = 1e-12
# Coefficients this many times as large as those that change nothing, and as 1, are far away.
FAR_FACTOR = 10.0
# Share of the curvature that is hardly any: only wrong rows that are as rare as this leave no more,
# or none at all.
FLAT_SHARE = 1e-6
# What looks at the rows, one after the other, leave of a loss that has no end.
NEARLY_ZERO_LOSS = 1e-7
LESS_THAN_ONE_ERROR = 0.5
MAX_PASSES = 200
# Of the curvature, where a step went too far for the first time.
MIN_DAMPING = 0.1


def minimize_newton(
    problem: Problem, strengths: Strengths, start: Array, start_sums: Sums | None = None
) -> Solution:
    """Minimize the penalized loss of a problem; the sums at the start may be ``known``."""
    solution = _minimize_once(problem, strengths, start, start_sums)
    while not solution.unbounded and problem.rows.sharpen(problem.at_keys(solution.theta)):
        again = _minimize_once(problem, strengths, solution.theta)
        solution = replace(again, passes=solution.passes + again.passes)
    return solution


def _minimize_once(
    problem: Problem, strengths: Strengths, start: Array, start_sums: Sums | None = None
) -> Solution:
    """Go down, in a single step of plain numbers where that is all there is to do."""
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
    """Step from next to the optimum of one coefficient; None where there is any doubt.

    That is where `descend_newton` would end after the same step, and `_judged` would not look at
    the rows again; without arrays around each number, which take ten times as long. Neither could
    call it unbounded: so short a step, at a place with so much curvature, runs nowhere, and leaves
    more than nothing to lose.
    """
    assert sums.hessian is not None
    weight, penalty_matrix = problem.rows.total_weight, problem.penalty_matrix(strengths).item()
    identity, lower = float(problem.identity[0]), float(problem.lower[0])
    at, bend = float(start[0]), float(sums.hessian[0, 0, 0])
    away = at - identity
    gradient, curvature = float(sums.gradient[0, 0]) + penalty_matrix * away, bend + penalty_matrix
    if not (at > lower and curvature > 0.0):
        return None
    step = -gradient / curvature
    predicted, theta = -0.5 * gradient * step, at + step
    is_next = predicted <= DECREASE_TOLERANCE * weight and theta >= lower
    # A product is infinite where a power would be an error.
    is_near = (
        abs(theta) <= FAR_FACTOR * max(abs(identity), 1.0)
        and theta * theta * bend >= FLAT_SHARE * weight
    )
    if not (is_next and is_near):
        return None
    # What the step takes off the pull is not taken off the loss.
    less_pull = 0.5 * penalty_matrix * (away * away - (theta - identity) * (theta - identity))
    return Solution(
        theta=np.array([theta]),
        loss=float(sums.loss[0]) - predicted + less_pull,
        hessian=np.array([[bend]]),
        gradient=np.array([gradient + curvature * step]),
        passes=passes,
        converged=True,
        unbounded=False,
        sums=sums,
        step=np.array([theta - at]),
    )


def _check_unbounded(problem: Problem, strengths: Strengths, found: Solution) -> Solution:
    """Tell coefficients that have run away, step by step, until nothing was left to lose.

    A row on the wrong side loses log 2 at least. Where all rows together lose less, none is: the
    classes are separated, and larger coefficients are better still. A long step to the optimum of
    few rows, far from where it all began, is not taken for one that runs away, if rows can tell.
    """
    if found.unbounded and problem.is_scalar and problem.rows.know_ends:
        has_finite_optimum = problem.rows.have_end(problem.at_keys(found.theta))
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
    """Whether no row objects to coefficients that may be on their way, and would go on growing.

    Rows about which the logits say nothing may lose as much as ever.
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
    moved = at_keys.any(axis=1) & problem.is_counted
    return bool(moved.any()) and not problem.rows.have_end(at_keys)[moved].any()


def may_diverge(
    rows: Rows, theta: Array, identity: Array, curvature: Array, weight: Array | float
) -> NDArray[np.bool_]:
    """Which slopes are far away, or have hardly any curvature left of what there was at zero."""
    is_slope = identity != 0.0
    far = np.abs(theta) > FAR_FACTOR * np.maximum(np.abs(identity), 1.0)
    level = (theta**2 * curvature < FLAT_SHARE * weight) & is_slope
    if level.any():
        # So it is next to zero as well, where there is most of it.
        squares = np.tile(rows.squares, curvature.shape[-1] // rows.n_coefficients)
        level &= curvature < FLAT_SHARE * squares * weight
    return np.asarray(level | (far & is_slope))


def run_newton(
    problem: Problem,
    strengths: Strengths,
    start: Array,
    start_sums: Sums | None = None,
    passes: int = 0,
    *,
    tolerance: float = DECREASE_TOLERANCE,
    sums: Callable[[Array], Sums] | None = None,
) -> Solution:
    """Minimize by what is known of the rows, without a closer look at them.

    So many ``passes`` were made before. ``sums`` over the rows of each key, from its coefficients,
    may come from other rows.
    """
    penalty_matrix, start = problem.penalty_matrix(strengths), np.maximum(start, problem.lower)
    sum_rows = sums or problem.rows.sums
    last = _iterate(
        lambda theta: _with_hessian(
            problem.point_from_sums(theta, strengths, sum_rows(problem.at_keys(theta)))
        ),
        start,
        problem.lower,
        problem.rows.total_weight,
        problem.unpenalized_part(strengths),
        tolerance=tolerance,
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
    """A point whose Hessian is known."""

    hessian: Array


@dataclass(frozen=True)
class _NewtonResult:
    """The last point that was evaluated, and the step from there to the minimum."""

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
    tolerance: float,
    passes: int,
    first_point: _PointWithHessian | None,
    nonnegative_loss: bool,
) -> _NewtonResult:
    """Go down; a loss ends at zero unless that of earlier rows is a quadratic of any height."""
    point = evaluate(start) if first_point is None else first_point
    curvature = point.hessian
    passes, damping = passes + int(first_point is None), 0.0
    while True:
        step = _bounded_step(point, lower, damping)
        predicted = -float(point.gradient @ step + 0.5 * step @ point.hessian @ step)
        if damping == 0.0 and predicted <= tolerance * total_weight:
            loss_vanished = nonnegative_loss and point.value <= NEGLIGIBLE * total_weight
            # Only what nothing pulls back can run away. Its first curvature tells how far the
            # step moves the linear predictors; where none was left there, go by the share.
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
            # A strong pull leaves the value fewer digits: it is as low as it can be told.
            return _NewtonResult(point, step, predicted, passes, converged=True)
        else:
            damping = max(10 * damping, MIN_DAMPING)


def _bounded_step(point: _PointWithHessian, lower: Array, damping: float) -> Array:
    """Newton step over the coefficients that are free to move, cut at the bounds."""
    free = (point.theta > lower) | (point.gradient < 0)
    if free.all():
        step = -solve_semidefinite(point.hessian, point.gradient, damping)
        if (point.theta + step >= lower).all():
            return step
    step = np.zeros_like(point.theta)
    released_before = np.zeros_like(free)
    while free.any():
        step[~free] = (lower - point.theta)[~free]
        gradient_left = point.gradient + point.hessian @ np.where(free, 0.0, step)
        curvature = point.hessian[np.ix_(free, free)]
        step[free] = -solve_semidefinite(curvature, gradient_left[free], damping)
        violated = free & (point.theta + step < lower)
        # Where the step ends, what a bound holds back may want to leave it: once.
        slope = point.gradient + point.hessian @ step
        released = (
            ~free & ~released_before & (slope < 0) if not violated.any() else violated & False
        )
        if not violated.any() and not released.any():
            break
        released_before |= released
        free = (free & ~violated) | released
    return np.maximum(point.theta + step, lower) - point.theta
