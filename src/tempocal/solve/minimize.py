"""Fit a problem at given strengths: Newton's method, or L-BFGS if a Hessian is too large."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tempocal.links import Array
from tempocal.rows import Sums
from tempocal.solve.lbfgs import minimize_lbfgs
from tempocal.solve.newton import minimize_newton
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# If a Newton step along the ray predicts a decrease of this many times the loss, there is next to
# no curvature to rely on. Below it damping recovers within a few passes.
SATURATED = 1e20

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
    if problem.n_coefficients > problem.max_newton:
        # No Hessian can be summed, and so no surrogate be corrected.
        all_rows = replace(problem, rows=problem.rows.all_rows)
        return minimize_lbfgs(all_rows, strengths, problem.identity if start is None else start)

    def minimize(theta: Array, sums: Sums | None) -> Solution:
        return minimize_newton(problem, strengths, theta, sums)

    return minimize_and_refine(
        problem,
        minimize,
        lambda: identity_or_zero(problem) if start is None else (start, None),
    )


def minimize_and_refine(
    problem: Problem,
    minimize: Callable[[Array, Sums | None], Solution],
    find_start: Callable[[], Start],
) -> Solution:
    """Minimize, and again after each refinement of the rows, until their sums are exact."""
    start = find_start()
    solution = minimize(*start)
    passes = solution.passes
    while refine(problem, solution, start[0]):
        start = find_start() if is_misled(problem, solution) else (solution.theta, None)
        solution = minimize(*start)
        passes += solution.passes
    return replace(solution, passes=passes)


def refine(problem: Problem, solution: Solution, start: Array) -> bool:
    """Refine the rows at a solution, or at its start if there is none; return whether they changed."""
    failed = _has_failed(solution)
    return problem.rows.refine(problem.at_keys(start if failed else solution.theta), diverged=failed)


def is_misled(problem: Problem, solution: Solution) -> bool:
    """Whether a solution from before a refinement is no point to go on from."""
    return _has_failed(solution) or problem.rows.is_exact


def _has_failed(solution: Solution) -> bool:
    return solution.unbounded or not solution.converged


def identity_or_zero(problem: Problem) -> Start:
    """Start from the identity, or from zero if the identity is worse.

    Very large logits saturate every row at the identity, which leaves no curvature for Newton's
    method, even if few rows are misclassified and the loss is low. At zero the curvature is
    largest. Elsewhere zero is a bad start: a single huge logit dominates the curvature there, and
    steps are tiny.
    """
    sums, at_identity, at_zero = _identity_and_zero(problem)
    counted = problem.is_counted
    if _is_better(at_identity[:, counted].sum(axis=1), at_zero[counted].sum()):
        return problem.identity, sums
    return np.maximum(np.zeros_like(problem.identity), problem.lower), None


def identity_or_zero_by_key(problem: Problem) -> Start:
    """Start from the identity, or from zero at the keys where zero is the better start."""
    sums, at_identity, at_zero = _identity_and_zero(problem)
    better = _is_better(at_identity, at_zero)
    start = np.where(np.repeat(better, problem.rows.n_coefficients), problem.identity, 0.0)
    return start, sums if better.all() else None


def _identity_and_zero(problem: Problem) -> tuple[Sums, Array, Array]:
    """Sums at the identity; the loss of each key and its derivatives on the ray; losses at zero."""
    rows, at_keys = problem.rows, problem.at_keys(problem.identity)
    sums = problem.sums_at_identity if rows.is_exact else rows.sums(at_keys)
    assert sums.hessian is not None
    gradient = np.einsum("kp,kp->k", sums.gradient, at_keys)
    curvature = np.einsum("kp,kpq,kq->k", at_keys, sums.hessian, at_keys)
    return sums, np.stack([sums.loss, gradient, curvature]), rows.losses(np.zeros_like(at_keys))


def _is_better(at_identity: Array, at_zero: Array) -> Any:
    """Whether a point is a better start than zero, by its derivatives along the ray."""
    loss, gradient, curvature = at_identity
    # Uninformative logits are as good as zero, up to rounding.
    return (loss <= at_zero * (1 + 1e-9)) & (
        gradient * gradient <= 2.0 * SATURATED * curvature * loss
    )
