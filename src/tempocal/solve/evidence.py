"""How strongly to shrink, taken from the data: the strengths under which they are most likely.

With a normal prior of precision ``S = sum of s_k S_k`` around the identity, the log evidence of the
data, by Laplace's approximation, has its maximum where for every penalty::

    s * offset' S_k offset  =  s * trace(S^- S_k) - s * trace(V S_k)  +  2 / (1 + s)

V is the covariance of the coefficients, so that for S_k = 1 the first two terms are the number of
coefficients that the data determine (MacKay 1992; Wood and Fasiolo 2017 for several penalties on
the same coefficients); the last comes from a half-Cauchy prior of scale 1 on the prior's standard
deviation. Where the coefficients stray from the identity by less than their own error, s grows
without limit and the identity is what is left. In the other direction s has a floor, without which
separable data would ask for next to no shrinkage: the prior moves a coefficient by about one, or by
as much as moves the linear predictor of a typical row by one, where that is more.

A penalty that ties coefficients to each other, such as one on the roughness of a curve, is not to
grow without limit: a curve without any bend would be held with a certainty that the data do not
give, and its band would be too narrow (it covered 91 % where it says 95). There the mode is taken
in the logarithm of s, which adds 1 to the left side.

Rows of one group say less than as many independent rows. The likelihood is divided by the design
effect: the inflation of the variance of the coefficients, on average over them.
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
# Change of the logarithm of the design effect that is too small to matter.
EFFECT_TOLERANCE = 0.05


@dataclass(frozen=True)
class RegularizedFit:
    """A fit, and the strengths that the data chose for it."""

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
    """Fit with the strengths under which the data are most likely, but for those ``wanted``.

    Each round fits exactly at the current strengths and then updates them on the quadratic
    approximation of the loss around that fit, which takes no pass over the rows. Updates need not
    settle where a bound comes and goes, so that of all rounds the one of most evidence is kept.
    The ``first`` strengths and the coefficients to ``start`` from save rounds and passes.
    """
    if fixed_strengths is None:
        fixed_strengths = (None,) * len(problem.penalties)
    strengths = start_strengths or tuple(1.0 if one is None else one for one in fixed_strengths)
    solution = fit(problem, strengths, start)
    if solution.unbounded:
        return RegularizedFit(solution, strengths)
    if start is None:
        # Once more from there: what follows rests on the curvature at the optimum itself, whatever
        # way led to it.
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
    # The design effect depends a little on the strengths that it has chosen.
    again = design_effect(problem, converged.solution, groups, converged.strengths)
    if abs(np.log(again / effect)) < EFFECT_TOLERANCE:
        return converged
    converged = replace(converged, design_effect=again)
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
    """Go on from a fit at some strengths until they no longer change."""
    solution, strengths, effect = start.solution, start.strengths, start.design_effect or 1.0
    rounds = [start]
    before = np.inf
    for _ in range(max_rounds):
        quadratic = LaplaceApproximation.at(problem, solution, strengths, effect)
        chosen = quadratic.converge(min_strengths, fixed_strengths, max_updates)
        # Twice in a row, for the curvature may be that of the round before.
        last, before = before, max_log_change(chosen, strengths)
        change = max(last, before)
        strengths = chosen
        solution = fit(problem, strengths, solution.theta)
        if solution.unbounded:
            # From here on every start would be far out, where nothing shows it any more.
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
    """Mean square of the features that each penalty pulls on, but at most 1.

    It is read off the curvature where p is 1/2.
    """
    squares = problem.rows.squares
    # All functions of a basis see the same features.
    all_squares = np.tile(squares, problem.n_coefficients // len(squares))
    means = [
        float(all_squares @ _diagonal_of(one) / _diagonal_of(one).sum()) if one.is_used else 1.0
        for one in problem.penalties
    ]
    return tuple(min(1.0, max(mean, SMALLEST)) for mean in means)


def log_evidence(
    problem: Problem, solution: Solution, strengths: Strengths, effect: float
) -> float:
    """Log of the likelihood averaged over the prior, times the prior of the strengths.

    A free coefficient is integrated as a normal one, by its curvature; one that a bound holds back
    as an exponential one, by its gradient.
    """
    hessian, gradient = hessian_and_gradient(solution)
    free = solution.theta > problem.lower
    prior = tuple(s / effect for s in strengths)
    penalty_matrix = problem.penalty_matrix(strengths) / effect
    log_posterior = -(solution.loss + problem.penalty_value(strengths, solution.theta)) / effect
    curvature = hessian / effect + blocks_like(penalty_matrix, hessian)
    # What is not free is left out: ones on the diagonal have no logarithm.
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
    """Strengths that could be, and the coefficients at them.

    Where the data leave nothing but the identity, they do so for want of evidence, not because
    they are sure of it. Had the mode been taken in the logarithms of the strengths, these would
    have been chosen; what they leave open is what a band must hold.
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
    """Return the weaker strengths that the data would allow, where they were not given."""
    quadratic = LaplaceApproximation.at(problem, solution, strengths, effect, mode_in_log=True)
    weaker = quadratic.converge(min_strengths, fixed_strengths)
    prior = tuple(s / effect for s in weaker)
    return AlternativeFit(weaker, problem.identity + quadratic.optimum(prior)[1])


def _diagonal_of(penalty: Penalty) -> Array:
    return penalty.matrix if penalty.matrix.ndim == 1 else np.diag(penalty.matrix)
