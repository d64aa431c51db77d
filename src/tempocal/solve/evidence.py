"""Penalty strengths by maximum evidence (empirical Bayes), a fixed point as in REML.

With a normal prior of precision ``S = sum of s_k S_k`` around the identity, the Laplace
approximation of the log evidence (marginal likelihood) has its maximum where for every penalty::

    s * offset' S_k offset  =  s * trace(S^- S_k) - s * trace(V S_k)  +  2 / (1 + s)

V is the covariance of the coefficients, so that for S_k = 1 the first two terms are the number of
coefficients that the data determine (MacKay 1992; Wood and Fasiolo 2017 for several penalties on
the same coefficients); the last comes from a half-Cauchy prior of scale 1 on the prior's standard
deviation. Where the coefficients differ from the identity by less than their standard error, s
grows without limit and the fit is the identity. In the other direction s has a lower bound, without
which separable data would lead to next to no shrinkage: at this bound the prior standard deviation
of a coefficient is one, or the change that moves the linear predictor of a typical row by one, if
that is more.

A smoothing penalty, such as one on the roughness of a curve, must not grow without limit: a curve
without curvature would be held with more certainty than the data give, and its band would be too
narrow (it covered 91 % instead of 95 %). There the mode is taken in the logarithm of s, which adds
1 to the left side.

Rows of one group carry less information than as many independent rows. The likelihood is divided by
the design effect: the inflation of the variance of the coefficients, on average over them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.design_effect import design_effect
from tempocal.solve.laplace import (
    MAX_UPDATES,
    SMALLEST,
    STRENGTH_TOLERANCE,
    FixedStrengths,
    LaplaceApproximation,
    hessian_and_gradient,
    max_log_change,
)
from tempocal.solve.linear_systems import blocks_like
from tempocal.solve.minimize import fit
from tempocal.solve.penalties import Penalty, Strengths, log_determinant
from tempocal.solve.problem import Problem, Solution

Fit = Callable[[Problem, Strengths, Array | None], Solution]

MAX_ROUNDS = 30
# Change of the logarithm of the design effect below which strengths are not chosen again.
EFFECT_TOLERANCE = 0.05


@dataclass(frozen=True)
class RegularizedFit:
    """A penalized fit, its strengths, and the design effect where strengths were chosen."""

    solution: Solution
    strengths: Strengths
    design_effect: float | None = None


def fit_by_evidence(
    problem: Problem,
    groups: Groups | None,
    fixed_strengths: FixedStrengths | None = None,
    *,
    fit: Fit = fit,
    start_strengths: Strengths | None = None,
    start: Array | None = None,
) -> RegularizedFit:
    """Fit at the strengths of maximum evidence, except for ``fixed_strengths``.

    Each round fits exactly at the current strengths and then updates them on the quadratic
    approximation of the loss around that fit, which takes no pass over the rows. Updates need not
    converge where coefficients alternate between a bound and the interior; then the round with the
    largest evidence is kept. Good ``start_strengths`` and ``start`` coefficients save passes.
    """
    if fixed_strengths is None:
        fixed_strengths = (None,) * len(problem.penalties)
    strengths = start_strengths or tuple(1.0 if one is None else one for one in fixed_strengths)
    solution = fit(problem, strengths, start)
    if solution.unbounded:
        return RegularizedFit(solution, strengths)
    if start is None:
        # Fit again from the optimum: the updates need the Hessian there, not at an earlier iterate.
        polished = fit(problem, strengths, solution.theta)
        solution = replace(polished, passes=solution.passes + polished.passes)
    effect = design_effect(problem, solution, groups, strengths)
    min_strengths = min_strengths_of(problem)
    converged = converge_strengths(
        problem,
        RegularizedFit(solution, strengths, effect),
        fixed_strengths=fixed_strengths,
        min_strengths=min_strengths,
        fit=fit,
    )
    # The design effect depends slightly on the strengths, which were chosen with it.
    updated_effect = design_effect(problem, converged.solution, groups, converged.strengths)
    if abs(np.log(updated_effect / effect)) < EFFECT_TOLERANCE:
        return converged
    converged = replace(converged, design_effect=updated_effect)
    return converge_strengths(
        problem, converged, fixed_strengths=fixed_strengths, min_strengths=min_strengths, fit=fit
    )


def converge_strengths(
    problem: Problem,
    start: RegularizedFit,
    *,
    fixed_strengths: FixedStrengths,
    min_strengths: Strengths,
    fit: Fit,
    max_rounds: int = MAX_ROUNDS,
    max_updates: int = MAX_UPDATES,
) -> RegularizedFit:
    """Alternate strength updates and fits, from a fit at some strengths, until they converge."""
    solution, strengths, effect = start.solution, start.strengths, start.design_effect or 1.0
    rounds = [start]
    last_change = np.inf
    for _ in range(max_rounds):
        quadratic = LaplaceApproximation.at(problem, solution, strengths, effect)
        updated = quadratic.converge(min_strengths, fixed_strengths, max_updates)
        # Small twice in a row, because the Hessian may be that of the previous round.
        previous_change, last_change = last_change, max_log_change(updated, strengths)
        change = max(previous_change, last_change)
        strengths = updated
        solution = fit(problem, strengths, solution.theta)
        if solution.unbounded:
            # Later rounds would start far out, where divergence can no longer be detected.
            return RegularizedFit(solution, strengths, effect)
        rounds.append(RegularizedFit(solution, strengths, effect))
        if change < STRENGTH_TOLERANCE:
            break
    best = rounds[-1]
    if change >= STRENGTH_TOLERANCE:
        best = max(
            rounds, key=lambda one: log_evidence(problem, one.solution, one.strengths, effect)
        )
    passes = sum(one.solution.passes for one in rounds)
    return RegularizedFit(replace(best.solution, passes=passes), best.strengths, effect)


def min_strengths_of(problem: Problem) -> Strengths:
    """Lower bounds of the strengths: mean square of the penalized features, at most 1.

    The mean squares come from the Hessian at probability 1/2.
    """
    squares = problem.rows.mean_squares
    # All basis functions multiply the same features.
    all_squares = np.tile(squares, problem.n_coefficients // len(squares))
    means = [
        float(all_squares @ _diagonal_of(one) / _diagonal_of(one).sum()) if one.is_used else 1.0
        for one in problem.penalties
    ]
    return tuple(min(1.0, max(mean, SMALLEST)) for mean in means)


def log_evidence(
    problem: Problem, solution: Solution, strengths: Strengths, effect: float
) -> float:
    """Log of the marginal likelihood times the prior of the strengths.

    Free coefficients are integrated by the Laplace approximation; those at a bound as exponentials
    whose rate is the gradient.
    """
    hessian, gradient = hessian_and_gradient(solution)
    free = solution.theta > problem.lower
    prior = tuple(s / effect for s in strengths)
    penalty_matrix = problem.penalty_matrix(strengths) / effect
    log_posterior = -(solution.loss + problem.penalty_value(strengths, solution.theta)) / effect
    curvature = hessian / effect + blocks_like(penalty_matrix, hessian)
    # Coefficients at a bound drop out of the determinant: rows of the identity matrix.
    held = ~free.reshape(curvature.shape[:2])
    curvature[held] = 0.0
    curvature.transpose(0, 2, 1)[held] = 0.0
    np.einsum("tpp->tp", curvature)[held] = 1.0
    eigenvalues = np.linalg.eigvalsh(curvature)
    volume = -0.5 * float(np.log(np.maximum(eigenvalues, SMALLEST)).sum())
    volume -= float(np.log(np.maximum(gradient[~free] / effect, SMALLEST)).sum())
    volume -= 0.5 * np.log(2.0 * np.pi) * float((~free).sum())
    width = 0.5 * log_determinant(penalty_matrix)
    used = [
        (s, one.is_smoothing)
        for s, one in zip(prior, problem.penalties, strict=True)
        if one.is_used and s > 0
    ]
    hyperprior = sum(np.log1p(1.0 / s) + 0.5 * np.log(s) * is_smoothing for s, is_smoothing in used)
    return float(log_posterior + volume + width - hyperprior)


@dataclass(frozen=True)
class AlternativeFit:
    """Weaker strengths that the data also support, and the coefficients at them.

    A fit that is shrunk to the identity shows lack of evidence, not certainty about the identity.
    These strengths are the mode in the logarithm of every strength. Bands must cover their fit too.
    """

    strengths: Strengths
    theta: Array


def alternative_fit(
    problem: Problem,
    solution: Solution,
    strengths: Strengths,
    effect: float,
    *,
    fixed_strengths: FixedStrengths,
    min_strengths: Strengths,
) -> AlternativeFit:
    """Return the weaker strengths that the data also support, where they are not fixed."""
    quadratic = LaplaceApproximation.at(problem, solution, strengths, effect, mode_in_log=True)
    alternative = quadratic.converge(min_strengths, fixed_strengths)
    prior = tuple(s / effect for s in alternative)
    return AlternativeFit(alternative, problem.identity + quadratic.optimum(prior)[1])


def _diagonal_of(penalty: Penalty) -> Array:
    return penalty.matrix if penalty.matrix.ndim == 1 else np.diag(penalty.matrix)
