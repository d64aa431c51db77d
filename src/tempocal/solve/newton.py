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
from tempocal.solve.linear_systems import solve_flat
from tempocal.solve.penalties import Strengths, plus_pull
from tempocal.solve.problem import Point, Problem, Solution

# Decrease of the mean objective that the last step, which is taken unseen, may promise.
LAST_STEP = 1e-12
# One that promises as little as this, and is no better, has come to the rounding errors.
ROUNDING = 1e-9
# Where steps that move the linear predictors by this much promise nothing, or nothing is left to
# lose, the coefficients have no limit.
RUNAWAY = 1e-3
TINY = 1e-300
NOTHING = 1e-12
# Coefficients this many times as large as those that change nothing, and as 1, are far away.
FAR = 10.0
# Share of the curvature that is hardly any: only wrong rows that are as rare as this leave no more,
# or none at all.
LEVEL = 1e-6
# What looks at the rows, one after the other, leave of a loss that has no end.
HARDLY_ANYTHING = 1e-7
LESS_THAN_A_ROW = 0.5
MAX_PASSES = 200
# Of the curvature, where a step went too far for the first time.
LEAST_DAMPING = 0.1


def minimize_newton(
    problem: Problem, strengths: Strengths, start: Array, known: Sums | None = None
) -> Solution:
    """Minimize the penalized loss of a problem; the sums at the start may be ``known``."""
    solution = _descended(problem, strengths, start, known)
    while not solution.unbounded and problem.rows.sharpen(problem.at_keys(solution.theta)):
        again = _descended(problem, strengths, solution.theta)
        solution = replace(again, passes=solution.passes + again.passes)
    return solution


def _descended(
    problem: Problem, strengths: Strengths, start: Array, known: Sums | None = None
) -> Solution:
    """Go down, in a single step of plain numbers where that is all there is to do."""
    passes = 0
    if problem.is_one_number:
        start = np.maximum(start, problem.lower)
        if known is None:
            known, passes = problem.rows.sums(problem.at_keys(start)), 1
        close = _last_step(problem, strengths, start, known, passes)
        if close is not None:
            return close
    return _judged(problem, strengths, descend_newton(problem, strengths, start, known, passes))


def _last_step(
    problem: Problem, strengths: Strengths, start: Array, sums: Sums, passes: int
) -> Solution | None:
    """Step from next to the optimum of one coefficient; None where there is any doubt.

    That is where `descend_newton` would end after the same step, and `_judged` would not look at
    the rows again; without arrays around each number, which take ten times as long. Neither could
    call it unbounded: so short a step, at a place with so much curvature, runs nowhere, and leaves
    more than nothing to lose.
    """
    assert sums.hessian is not None
    weight, pull = problem.rows.total_weight, problem.pull(strengths).item()
    identity, lower = float(problem.identity[0]), float(problem.lower[0])
    at, bend = float(start[0]), float(sums.hessian[0, 0, 0])
    away = at - identity
    gradient, curvature = float(sums.gradient[0, 0]) + pull * away, bend + pull
    if not (at > lower and curvature > 0.0):
        return None
    step = -gradient / curvature
    promised, theta = -0.5 * gradient * step, at + step
    is_next = promised <= LAST_STEP * weight and theta >= lower
    # A product is infinite where a power would be an error.
    is_near = abs(theta) <= FAR * max(abs(identity), 1.0) and theta * theta * bend >= LEVEL * weight
    if not (is_next and is_near):
        return None
    # What the step takes off the pull is not taken off the loss.
    less_pull = 0.5 * pull * (away * away - (theta - identity) * (theta - identity))
    return Solution(
        theta=np.array([theta]),
        loss=float(sums.loss[0]) - promised + less_pull,
        hessian=np.array([[bend]]),
        gradient=np.array([gradient + curvature * step]),
        passes=passes,
        converged=True,
        unbounded=False,
        sums=sums,
        step=np.array([theta - at]),
    )


def _judged(problem: Problem, strengths: Strengths, found: Solution) -> Solution:
    """Tell coefficients that have run away, step by step, until nothing was left to lose.

    A row on the wrong side loses log 2 at least. Where all rows together lose less, none is: the
    classes are separated, and larger coefficients are better still. A long step to the optimum of
    few rows, far from where it all began, is not taken for one that runs away, if rows can tell.
    """
    if found.unbounded and problem.is_one_number and problem.rows.know_ends:
        has_end = problem.rows.have_end(problem.at_keys(found.theta))
        found = replace(found, unbounded=not has_end.all())
    if not found.unbounded and _falls_for_ever(problem, strengths, found):
        return replace(found, unbounded=True)
    nothing_left = found.loss <= min(HARDLY_ANYTHING * problem.rows.total_weight, LESS_THAN_A_ROW)
    if problem.past is not None or not nothing_left:
        return found
    loose = problem.unpenalized_part(strengths)
    size, usual = (float(np.linalg.norm(loose(one))) for one in (found.theta, problem.identity))
    return replace(found, unbounded=found.unbounded or size > FAR * max(usual, 1.0))


def _falls_for_ever(problem: Problem, strengths: Strengths, found: Solution) -> bool:
    """Whether no row objects to coefficients that may be on their way, and would go on growing.

    Rows about which the logits say nothing may lose as much as ever.
    """
    if problem.past is not None or found.hessian is None:
        return False
    curvature = np.diag(found.hessian)
    doubtful = may_run(
        problem.rows, found.theta, problem.identity, curvature, problem.rows.total_weight
    )
    if not doubtful.any():
        return False
    direction = np.where(doubtful, problem.unpenalized_part(strengths)(found.theta), 0.0)
    at_keys = problem.at_keys(direction)
    moved = at_keys.any(axis=1) & problem.counted
    return bool(moved.any()) and not problem.rows.have_end(at_keys)[moved].any()


def may_run(
    rows: Rows, theta: Array, identity: Array, curvature: Array, weight: Array | float
) -> NDArray[np.bool_]:
    """Which slopes are far away, or have hardly any curvature left of what there was at zero."""
    is_slope = identity != 0.0
    far = np.abs(theta) > FAR * np.maximum(np.abs(identity), 1.0)
    level = (theta**2 * curvature < LEVEL * weight) & is_slope
    if level.any():
        # So it is next to zero as well, where there is most of it.
        squares = np.tile(rows.squares, curvature.shape[-1] // rows.n_coefficients)
        level &= curvature < LEVEL * squares * weight
    return np.asarray(level | (far & is_slope))


def descend_newton(
    problem: Problem,
    strengths: Strengths,
    start: Array,
    known: Sums | None = None,
    passes: int = 0,
    *,
    last_step: float = LAST_STEP,
    sums: Callable[[Array], Sums] | None = None,
) -> Solution:
    """Minimize by what is known of the rows, without a closer look at them.

    So many ``passes`` were made before. ``sums`` over the rows of each key, from its coefficients,
    may come from other rows.
    """
    pull, start = problem.pull(strengths), np.maximum(start, problem.lower)
    summed = sums or problem.rows.sums
    last = _descend(
        lambda theta: _with_hessian(
            problem.point(theta, strengths, summed(problem.at_keys(theta)))
        ),
        start,
        problem.lower,
        problem.rows.total_weight,
        problem.unpenalized_part(strengths),
        last_step=last_step,
        passes=passes,
        first=None if known is None else _with_hessian(problem.point(start, strengths, known)),
        ends_at_zero=problem.past is None,
    )
    theta = np.maximum(last.point.theta + last.step, problem.lower)
    return Solution(
        theta=theta,
        loss=last.point.value - last.promised - problem.cost(strengths, theta),
        hessian=plus_pull(last.point.hessian, -pull),
        gradient=last.point.gradient + last.point.hessian @ last.step,
        passes=last.passes,
        converged=last.converged,
        unbounded=last.unbounded,
        sums=last.point.sums,
        step=theta - last.point.theta,
    )


@dataclass(frozen=True)
class _Curved(Point):
    """A point whose Hessian is known."""

    hessian: Array


@dataclass(frozen=True)
class _Last:
    """The last point that was evaluated, and the step from there to the minimum."""

    point: _Curved
    step: Array
    promised: float
    passes: int
    converged: bool
    unbounded: bool = False


def _with_hessian(point: Point) -> _Curved:
    assert point.hessian is not None
    return _Curved(point.theta, point.value, point.gradient, point.hessian, point.sums)


def _descend(
    evaluate: Callable[[Array], _Curved],
    start: Array,
    lower: Array,
    total_weight: float,
    loose_of: Callable[[Array], Array],
    *,
    last_step: float,
    passes: int,
    first: _Curved | None,
    ends_at_zero: bool,
) -> _Last:
    """Go down; a loss ends at zero unless that of earlier rows is a quadratic of any height."""
    point = evaluate(start) if first is None else first
    curvature = point.hessian
    passes, damping = passes + int(first is None), 0.0
    while True:
        step = _bounded_step(point, lower, damping)
        promised = -float(point.gradient @ step + 0.5 * step @ point.hessian @ step)
        if damping == 0.0 and promised <= last_step * total_weight:
            nothing_left = ends_at_zero and point.value <= NOTHING * total_weight
            # Only what nothing pulls back can run away. Its first curvature tells how far the
            # step moves the linear predictors; where none was left there, go by the share.
            loose = loose_of(step)
            runs = bool(loose @ curvature @ loose > RUNAWAY**2 * total_weight)
            if nothing_left and not runs:
                size = max(float(np.linalg.norm(point.theta)), TINY)
                runs = bool(np.linalg.norm(loose) > RUNAWAY * size)
            return _Last(point, step, promised, passes, converged=True, unbounded=runs)
        if passes == MAX_PASSES:
            return _Last(point, 0.0 * step, 0.0, passes, converged=False)
        trial = evaluate(point.theta + step)
        passes += 1
        noise = NOTHING * (abs(point.value) + total_weight)
        if trial.value <= point.value - 0.1 * promised + noise:
            point, damping = trial, (0.0 if damping < 1e-6 else damping / 100)
        elif damping == 0.0 and promised <= ROUNDING * min(total_weight, abs(point.value)):
            # A strong pull leaves the value fewer digits: it is as low as it can be told.
            return _Last(point, step, promised, passes, converged=True)
        else:
            damping = max(10 * damping, LEAST_DAMPING)


def _bounded_step(point: _Curved, lower: Array, damping: float) -> Array:
    """Newton step over the coefficients that are free to move, cut at the bounds."""
    free = (point.theta > lower) | (point.gradient < 0)
    if free.all():
        step = -solve_flat(point.hessian, point.gradient, damping)
        if (point.theta + step >= lower).all():
            return step
    step = np.zeros_like(point.theta)
    held_for_good = np.zeros_like(free)
    while free.any():
        step[~free] = (lower - point.theta)[~free]
        rest = point.gradient + point.hessian @ np.where(free, 0.0, step)
        curvature = point.hessian[np.ix_(free, free)]
        step[free] = -solve_flat(curvature, rest[free], damping)
        beyond = free & (point.theta + step < lower)
        # Where the step ends, what a bound holds back may want to leave it: once.
        slope = point.gradient + point.hessian @ step
        leaving = ~free & ~held_for_good & (slope < 0) if not beyond.any() else beyond & False
        if not beyond.any() and not leaving.any():
            break
        held_for_good |= leaving
        free = (free & ~beyond) | leaving
    return np.maximum(point.theta + step, lower) - point.theta
