"""Fit a problem whose keys share no coefficients."""

from dataclasses import replace

import numpy as np

from tempocal.links import Array
from tempocal.solve.minimize import (
    MAX_SAMPLE_SHARE,
    SAMPLE_ROWS,
    fit,
    is_better_start,
    radial_derivatives,
)
from tempocal.solve.newton import minimize_newton
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# Rows per key that a sample needs to give each key its own start.
MIN_ROWS_PER_KEY = 100


def fit_blockwise(problem: Problem, strengths: Strengths, start: Array | None = None) -> Solution:
    """Minimize the penalized loss of each key separately; all penalties must be diagonal."""
    return minimize_newton(
        problem, strengths, _start(problem, strengths) if start is None else start
    )


def _start(problem: Problem, strengths: Strengths) -> Array:
    """Start from the fit of fewer rows if there are many, else from the identity or zero."""
    start = problem.approximate_optimum(strengths)
    if start is not None:
        return start
    condensed = problem.condensed()
    if condensed is not None:
        start = _identity_or_zero(condensed)
        return _where_bounded(fit_blockwise(condensed, strengths, start), start, condensed)
    sample, share = problem.subsampled(SAMPLE_ROWS)
    sample_strengths = tuple(share * s for s in strengths)
    shared = (
        fit(_shared_across_keys(sample), sample_strengths) if share <= MAX_SAMPLE_SHARE else None
    )
    if shared is None or shared.unbounded:
        return _identity_or_zero(problem)
    has_rows = np.repeat(problem.rows.key_weights > 0, problem.rows.n_coefficients)
    theta = np.where(has_rows, np.tile(shared.theta, problem.rows.n_keys), problem.identity)
    if MIN_ROWS_PER_KEY * problem.rows.n_keys > SAMPLE_ROWS:
        return theta
    return _where_bounded(fit_blockwise(sample, sample_strengths, theta), theta, sample)


def _where_bounded(solution: Solution, theta: Array, problem: Problem) -> Array:
    """Take the solution at the keys where it is finite, and ``theta`` at the others."""
    if solution.where_unbounded is None or not solution.unbounded:
        return solution.theta
    is_unbounded = np.repeat(solution.where_unbounded, problem.rows.n_coefficients)
    return np.where(is_unbounded, theta, solution.theta)


def _identity_or_zero(problem: Problem) -> Array:
    """Start from the identity, or from zero at the keys where zero is the better start."""
    shape = (problem.rows.n_keys, problem.rows.n_coefficients)
    identity = problem.identity.reshape(shape)
    at_identity = radial_derivatives(problem.rows.sums(identity), identity)
    better = is_better_start(at_identity, problem.rows.losses(np.zeros(shape)))
    return np.where(np.repeat(better, shape[1]), problem.identity, 0.0)


def _shared_across_keys(problem: Problem) -> Problem:
    """Return the problem with the same coefficients at all keys."""
    width = problem.rows.n_coefficients
    return replace(
        problem,
        basis=np.zeros(problem.rows.n_keys, dtype=np.intp),
        identity=problem.identity[:width],
        lower=problem.lower[:width],
        baseline_penalty=problem.baseline_penalty[:width],
        penalties=tuple(replace(one, matrix=one.matrix[:width]) for one in problem.penalties),
    )
