"""Fit a problem at a given strength: Newton where a Hessian fits in memory, else L-BFGS."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tempocal.links import Array
from tempocal.rows import Shortfall, Sums
from tempocal.solve.lbfgs import minimize_lbfgs
from tempocal.solve.newton import minimize_newton, run_newton
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.quasi_newton import quasi_newton_steps

# A sample of about this many rows gives the start, which saves passes over all of them.
SAMPLE_ROWS = 2**14
# With few coefficients, of so many rows: it is put right by looks at all of them.
SMALL_SAMPLE_ROWS = 2**13
# It is far from the optimum of all rows anyway.
SAMPLE_TOLERANCE = 1e-8
# Of more than this share of the rows a fit takes as long as it saves.
MAX_SAMPLE_SHARE = 0.25
# A step that promises so many times what there is to lose goes by a curvature that is not there.
# With less, damping finds back in few passes.
SATURATED = 1e20
# From so many coefficients of a key on, a Hessian takes far longer than a gradient.
COSTLY_HESSIAN = 40


def fit(problem: Problem, strengths: Strengths, start: Array | None = None) -> Solution:
    """Minimize the negative log likelihood plus the pull towards the identity.

    Parameters
    ----------
    problem : Problem
        The model and its rows.
    strengths : tuple of float
        One for each penalty; zero is plain maximum likelihood.
    start : ndarray of shape (coefficients,) or None
        Where to start; None finds a place by itself.
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
    """Fit a sample, and go on from there by its curvature until one Hessian of all rows will do."""
    start = identity_or_zero(sample)
    sample_strengths = tuple(share * s for s in strengths)
    found = run_newton(
        sample, sample_strengths, start, known_sums(sample, start), tolerance=SAMPLE_TOLERANCE
    )
    if found.unbounded or _objective(problem, strengths, found.theta) > _objective(
        problem, strengths, start
    ):
        # Classes may be separated in a sample and not in all rows: then it has run away.
        start = identity_or_zero(problem)
        return minimize_newton(problem, strengths, start, known_sums(problem, start))
    assert found.hessian is not None
    theta, passes = quasi_newton_steps(problem, strengths, found.theta, found.hessian / share)
    solution = minimize_newton(problem, strengths, theta)
    return replace(solution, passes=passes + solution.passes)


def _start(problem: Problem, strengths: Strengths) -> Array:
    """Fit few rows that stand for all; or a sample of them, with the pull that is its share."""
    near = problem.approximate_optimum(strengths)
    if near is not None:
        return near
    sample_sums = problem.condensed()
    if sample_sums is not None:
        start = identity_or_zero(sample_sums)
        found = minimize_newton(sample_sums, strengths, start, known_sums(sample_sums, start))
        return start if found.unbounded else found.theta
    sample, share = problem.subsampled(SMALL_SAMPLE_ROWS)
    if share > MAX_SAMPLE_SHARE:
        return identity_or_zero(problem)
    start = identity_or_zero(sample)
    if start is problem.identity:
        return _start_from_sample(problem, strengths, sample, share)
    sample_strengths = tuple(share * s for s in strengths)
    found = minimize_newton(sample, sample_strengths, start, known_sums(sample, start))
    return start if found.unbounded else found.theta


def _start_from_sample(
    problem: Problem, strengths: Strengths, sample: Problem, share: float
) -> Array:
    """Fit a sample that is put right at the identity, and once more where that has led to."""

    def sample_sums(at_keys: Array) -> Sums:
        return sample.rows.sums(at_keys).times(1.0 / share)

    found = _minimize_corrected(
        problem, strengths, problem.identity, problem.sums_at_identity, sample_sums
    )
    if found.unbounded:
        return problem.identity
    first = found.theta
    exact_sums = problem.rows.sums(problem.at_keys(first))
    before, after = (
        problem.point_from_sums(at, strengths, known).value
        for at, known in ((problem.identity, problem.sums_at_identity), (first, exact_sums))
    )
    if not after <= before:
        # The sample has led astray, as where its classes are separated.
        return problem.identity
    again = _minimize_corrected(problem, strengths, first, exact_sums, sample_sums)
    return first if again.unbounded or not again.converged else again.theta


def _minimize_corrected(
    problem: Problem,
    strengths: Strengths,
    start: Array,
    exact_sums: Sums,
    sample_sums: Callable[[Array], Sums],
) -> Solution:
    """Fit few rows that are put right at the start, where the sums over all rows were seen."""
    at = problem.at_keys(start)
    correction = Shortfall.of(sample_sums(at), exact_sums, at)

    def sums(at_keys: Array) -> Sums:
        return correction.added_to(sample_sums(at_keys), at_keys)

    return run_newton(problem, strengths, start, exact_sums, tolerance=SAMPLE_TOLERANCE, sums=sums)


def _objective(problem: Problem, strengths: Strengths, theta: Array) -> float:
    return problem.evaluate(theta, strengths, hessian=False).value


def identity_or_zero(problem: Problem) -> Array:
    """Prefer zero where the identity is worse than not looking at the logits at all.

    Logits far too large saturate every row there and leave no curvature to go by; at zero it is
    largest. So it is even where few of them are wrong, and the loss is not worse. Elsewhere zero
    would be a trap: one huge logit has all the curvature there, and steps that go by it are tiny.
    """
    zero = np.zeros_like(problem.identity)
    here = radial_derivatives(problem.sums_at_identity, problem.at_keys(problem.identity))
    at_zero = problem.rows.losses(problem.at_keys(zero))
    if is_better_start(here[:, problem.is_counted].sum(axis=1), at_zero[problem.is_counted].sum()):
        return problem.identity
    return np.maximum(zero, problem.lower)


def radial_derivatives(sums: Sums, at_keys: Array) -> Array:
    """Loss, slope and curvature of each key, as its coefficients are multiplied: (3, keys)."""
    assert sums.hessian is not None
    slope = np.einsum("kp,kp->k", sums.gradient, at_keys)
    bend = np.einsum("kp,kpq,kq->k", at_keys, sums.hessian, at_keys)
    return np.stack([sums.loss, slope, bend])


def is_better_start(here: Array, at_zero: Array) -> Any:
    """Whether a place is better to start from than zero, by its loss, slope and curvature."""
    loss, slope, bend = here
    # Logits that say nothing are as good as zero, to rounding.
    return (loss <= at_zero * (1 + 1e-9)) & (slope * slope <= 2.0 * SATURATED * bend * loss)


def known_sums(problem: Problem, start: Array) -> Sums | None:
    """Return the sums over the rows of each key at a start, where rows were looked at already."""
    return problem.sums_at_identity if start is problem.identity else None
