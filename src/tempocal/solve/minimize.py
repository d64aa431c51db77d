"""Fit a problem at given strengths: Newton's method, or L-BFGS if a Hessian is too large.

With many rows the start comes from fewer of them: a condensed (weighted) set of rows, or a
subsample. A subsample is corrected to second order by exact sums over all rows: the difference of
loss, gradient and Hessian at one point is added to its sums, so that near that point they are those
of all rows up to third derivatives.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tempocal.links import Array
from tempocal.rows import Correction, Sums
from tempocal.solve.lbfgs import minimize_lbfgs
from tempocal.solve.newton import minimize_newton, run_newton
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.quasi_newton import quasi_newton_steps

# Size of the sample whose fit is the start, which saves passes over all rows.
SAMPLE_ROWS = 2**14
# Its size with few coefficients, where exact passes over all rows correct it.
SMALL_SAMPLE_ROWS = 2**13
# Tolerance of a fit to a sample, whose optimum is only near that of all rows.
SAMPLE_TOLERANCE = 1e-8
# A sample with a larger share of the rows takes as long as it saves.
MAX_SAMPLE_SHARE = 0.25
# If a Newton step along the ray predicts a decrease of this many times the loss, there is next to
# no curvature to rely on. Below it damping recovers within a few passes.
SATURATED = 1e20
# From this many coefficients of a key on, a Hessian takes far longer than a gradient.
COSTLY_HESSIAN = 40


def fit(problem: Problem, strengths: Strengths, start: Array | None = None) -> Solution:
    """Minimize the negative log likelihood plus the penalties.

    Parameters
    ----------
    problem : Problem
        The model and its rows.
    strengths : tuple of float
        One for each penalty; zero is plain maximum likelihood.
    start : ndarray of shape (coefficients,) or None
        Where to start; by default a start is chosen from the rows.
    """
    if problem.n_coefficients > problem.max_newton:
        return minimize_lbfgs(problem, strengths, problem.identity if start is None else start)
    if start is None and problem.rows.n_coefficients >= COSTLY_HESSIAN:
        sample, share = problem.subsampled(SAMPLE_ROWS)
        if share <= MAX_SAMPLE_SHARE:
            return _fit_from_sample(problem, strengths, sample, share)
    if start is None:
        start = _start(problem, strengths)
    return minimize_newton(problem, strengths, start, known_sums(problem, start))


def _fit_from_sample(
    problem: Problem, strengths: Strengths, sample: Problem, share: float
) -> Solution:
    """Fit a sample, take chord steps with its Hessian, and finish with a Hessian of all rows."""
    start = identity_or_zero(sample)
    sample_strengths = tuple(share * s for s in strengths)
    sample_fit = run_newton(
        sample, sample_strengths, start, known_sums(sample, start), tolerance=SAMPLE_TOLERANCE
    )
    if sample_fit.unbounded or _objective(problem, strengths, sample_fit.theta) > _objective(
        problem, strengths, start
    ):
        # Classes may be separated in the sample only, so that its fit diverges.
        start = identity_or_zero(problem)
        return minimize_newton(problem, strengths, start, known_sums(problem, start))
    assert sample_fit.hessian is not None
    theta, passes = quasi_newton_steps(
        problem, strengths, sample_fit.theta, sample_fit.hessian[0] / share
    )
    solution = minimize_newton(problem, strengths, theta)
    return replace(solution, passes=passes + solution.passes)


def _start(problem: Problem, strengths: Strengths) -> Array:
    """Fit a condensed set of rows, or a sample with strengths scaled by its share of the weight."""
    start = problem.approximate_optimum(strengths)
    if start is not None:
        return start
    condensed = problem.condensed()
    if condensed is not None:
        start = identity_or_zero(condensed)
        found = minimize_newton(condensed, strengths, start, known_sums(condensed, start))
        return start if found.unbounded else found.theta
    sample, share = problem.subsampled(SMALL_SAMPLE_ROWS)
    if share > MAX_SAMPLE_SHARE:
        return identity_or_zero(problem)
    start = identity_or_zero(sample)
    if start is problem.identity:
        return _start_from_sample(problem, strengths, sample, share)
    sample_strengths = tuple(share * s for s in strengths)
    sample_fit = minimize_newton(sample, sample_strengths, start, known_sums(sample, start))
    return start if sample_fit.unbounded else sample_fit.theta


def _start_from_sample(
    problem: Problem, strengths: Strengths, sample: Problem, share: float
) -> Array:
    """Fit a sample corrected at the identity, and again corrected at the result."""

    def sample_sums(at_keys: Array) -> Sums:
        return sample.rows.sums(at_keys).times(1.0 / share)

    sample_fit = _minimize_corrected(
        problem, strengths, problem.identity, problem.sums_at_identity, sample_sums
    )
    if sample_fit.unbounded:
        return problem.identity
    first_theta = sample_fit.theta
    exact_sums = problem.rows.sums(problem.at_keys(first_theta))
    value_before, value_after = (
        problem.point_from_sums(at, strengths, sums).value
        for at, sums in ((problem.identity, problem.sums_at_identity), (first_theta, exact_sums))
    )
    if not value_after <= value_before:
        # The sample misleads, for example because its classes are separated.
        return problem.identity
    again = _minimize_corrected(problem, strengths, first_theta, exact_sums, sample_sums)
    return first_theta if again.unbounded or not again.converged else again.theta


def _minimize_corrected(
    problem: Problem,
    strengths: Strengths,
    start: Array,
    exact_sums: Sums,
    sample_sums: Callable[[Array], Sums],
) -> Solution:
    """Fit a sample that is corrected by the exact sums over all rows at the start."""
    at = problem.at_keys(start)
    correction = Correction.between(sample_sums(at), exact_sums, at)

    def sums(at_keys: Array) -> Sums:
        return correction.applied_to(sample_sums(at_keys), at_keys)

    return run_newton(problem, strengths, start, exact_sums, tolerance=SAMPLE_TOLERANCE, sums=sums)


def _objective(problem: Problem, strengths: Strengths, theta: Array) -> float:
    return problem.evaluate(theta, strengths, hessian=False).value


def identity_or_zero(problem: Problem) -> Array:
    """Return the identity as the start, or zero if the identity is worse.

    Very large logits saturate every row at the identity, which leaves no curvature for Newton's
    method, even if few rows are misclassified and the loss is low. At zero the curvature is
    largest. Elsewhere zero is a bad start: a single huge logit dominates the curvature there, and
    steps are tiny.
    """
    zero = np.zeros_like(problem.identity)
    at_identity = radial_derivatives(problem.sums_at_identity, problem.at_keys(problem.identity))
    at_zero = problem.rows.losses(problem.at_keys(zero))
    if is_better_start(
        at_identity[:, problem.is_counted].sum(axis=1), at_zero[problem.is_counted].sum()
    ):
        return problem.identity
    return np.maximum(zero, problem.lower)


def radial_derivatives(sums: Sums, at_keys: Array) -> Array:
    """Loss and its first two derivatives along the ray through the coefficients: (3, keys)."""
    assert sums.hessian is not None
    gradient = np.einsum("kp,kp->k", sums.gradient, at_keys)
    curvature = np.einsum("kp,kpq,kq->k", at_keys, sums.hessian, at_keys)
    return np.stack([sums.loss, gradient, curvature])


def is_better_start(at_identity: Array, at_zero: Array) -> Any:
    """Whether a point is a better start than zero, by its radial derivatives."""
    loss, gradient, curvature = at_identity
    # Uninformative logits are as good as zero, up to rounding.
    return (loss <= at_zero * (1 + 1e-9)) & (
        gradient * gradient <= 2.0 * SATURATED * curvature * loss
    )


def known_sums(problem: Problem, start: Array) -> Sums | None:
    """Return the sums over the rows of each key at the start, if they were computed before."""
    return problem.sums_at_identity if start is problem.identity else None
