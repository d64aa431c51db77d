"""Fit a problem at given strengths: Newton's method, or L-BFGS if a Hessian is too large."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.rows import SequenceRows, Sums
from tempocal.solve.estimating import search_coefficients, tangent_of, with_information
from tempocal.solve.lbfgs import minimize_lbfgs
from tempocal.solve.moving_targets import TOLERANCE
from tempocal.solve.newton import LESS_THAN_ONE_ERROR, minimize_newton
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# If a Newton step along the ray predicts a decrease of this many times the loss, there is next to
# no curvature to rely on. Below it damping recovers within a few passes.
SATURATED = 1e20
# Coefficients times this are as good as infinite.
FAR_ALONG = 1e6

# Coefficients to start from, and the sums over the rows there, if they are known.
Start = tuple[Array, Sums | None]


def fit(problem: Problem, strengths: Strengths, start: Array | None = None) -> Solution:
    """Minimize the negative log likelihood plus the penalties.

    Parameters
    ----------
    problem : Problem
        The model and its rows.
    strengths : tuple of float
        One for each penalty; zero is plain maximum likelihood.
    start : ndarray of shape (coefficients,) or None
        Where to start; by default at the identity or at zero.
    """
    if problem.in_blocks(problem.identity).shape[1] > problem.max_newton:
        # No Hessian can be summed, and so no surrogate be corrected.
        all_rows = replace(problem, rows=problem.rows.all_rows)
        return minimize_lbfgs(all_rows, strengths, problem.identity if start is None else start)
    known = None if start is None else (start, None)
    if isinstance(problem.rows, SequenceRows):
        return _fit_moving_targets(problem, strengths, start)
    return _fit_fixed_targets(problem, strengths, known)


def _fit_fixed_targets(problem: Problem, strengths: Strengths, known: Start | None) -> Solution:
    begin = known or identity_or_zero(problem)
    solution = minimize_newton(problem, strengths, *begin)
    passes = solution.passes
    while refine(problem, solution, begin[0]):
        begin = (solution.theta, None)
        if is_misled(problem, solution):
            begin = known or identity_or_zero(problem)
        solution = minimize_newton(problem, strengths, *begin)
        passes += solution.passes
    return replace(solution, passes=passes)


def _fit_moving_targets(problem: Problem, strengths: Strengths, start: Array | None) -> Solution:
    """Find the root of the estimating function of rows that learn from forecasts."""
    rows = problem.rows
    assert isinstance(rows, SequenceRows)
    center = identity_or_zero(problem)[0] if start is None else start
    search = search_coefficients(problem)
    passes = 0
    while True:
        at_keys = problem.at_keys(center)
        rows.move_to(at_keys, within=TOLERANCE)
        moved = problem.with_targets_at(center)
        solution = _fit_fixed_targets(moved, strengths, (center, None))
        passes += solution.passes
        change = solution.theta - center
        if _has_failed(solution) or search.is_found(change, rows.distance(at_keys)):
            break
        tangent = partial(tangent_of, moved, strengths, solution)
        center = np.maximum(search.next_center(center, change, tangent), problem.lower)
    if not _has_failed(solution) and _outcomes_separate(problem, strengths, solution):
        solution = replace(solution, unbounded=True)
    return with_information(problem, strengths, replace(solution, passes=passes))


def _outcomes_separate(problem: Problem, strengths: Strengths, solution: Solution) -> bool:
    """Whether larger coefficients are better for every outcome, without a penalty against them.

    The root of the estimating function may be finite then, for forecasts in between contradict
    the outcomes; there is no fit to outcomes to which it could be near.
    """
    direction = problem.at_keys(problem.unpenalized_part(strengths)(solution.theta))
    if problem.earlier_loss is not None or not direction.any():
        return False
    rows = problem.rows
    assert isinstance(rows, SequenceRows)
    losses = rows.all_rows.losses(FAR_ALONG * direction)
    return bool(losses.sum() <= LESS_THAN_ONE_ERROR * min(1.0, rows.mean_weight))


def refine(problem: Problem, solution: Solution, start: Array) -> bool:
    """Refine the rows at a solution, or at its start if it failed; return whether they changed."""
    failed = _has_failed(solution)
    return problem.rows.refine(
        problem.at_keys(start if failed else solution.theta), diverged=failed
    )


def is_misled(problem: Problem, solution: Solution) -> bool:
    """Whether a solution from before a refinement is no point to go on from."""
    return _has_failed(solution) or problem.rows.is_exact


def _has_failed(solution: Solution) -> bool:
    return solution.unbounded or not solution.converged


def identity_or_zero(problem: Problem) -> Start:
    """Start from the identity, or from zero if the identity is worse, in each block.

    Very large logits saturate every row at the identity, which leaves no curvature for Newton's
    method, even if few rows are misclassified and the loss is low. At zero the curvature is
    largest. Elsewhere zero is a bad start: a single huge logit dominates the curvature there, and
    steps are tiny.
    """
    rows, at_keys = problem.rows, problem.at_keys(problem.identity)
    sums = problem.sums_at_identity if rows.is_exact else rows.sums(at_keys)
    assert sums.hessian is not None
    gradient = np.einsum("kp,kp->k", sums.gradient, at_keys)
    curvature = np.einsum("kp,kpq,kq->k", at_keys, sums.hessian, at_keys)
    on_ray = np.stack([sums.loss, gradient, curvature, rows.losses(np.zeros_like(at_keys))])
    if not problem.is_separate:
        on_ray = on_ray[:, problem.is_counted].sum(axis=1, keepdims=True)
    better = _is_better(on_ray[:3], on_ray[3])
    if better.all():
        return problem.identity, sums
    zero = problem.in_blocks(np.maximum(np.zeros_like(problem.identity), problem.lower))
    start = np.where(better[:, None], problem.in_blocks(problem.identity), zero)
    return start.ravel(), None


def _is_better(at_identity: Array, at_zero: Array) -> NDArray[np.bool_]:
    """Whether a point is a better start than zero, by its derivatives along the ray."""
    loss, gradient, curvature = at_identity
    # Uninformative logits are as good as zero, up to rounding.
    has_curvature = gradient * gradient <= 2.0 * SATURATED * curvature * loss
    return np.asarray((loss <= at_zero * (1 + 1e-9)) & has_curvature)
