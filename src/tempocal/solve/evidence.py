"""Penalty strengths by maximum evidence (empirical Bayes, as in REML).

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

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from scipy.special import erfcx

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import SequenceRows
from tempocal.solve.group_gradients import design_effect
from tempocal.solve.laplace import (
    SMALLEST,
    STRENGTH_TOLERANCE,
    FixedStrengths,
    LaplaceApproximation,
    hessian_and_gradient,
    max_log_change,
)
from tempocal.solve.newton import fit
from tempocal.solve.penalties import Strengths, log_determinant
from tempocal.solve.problem import Problem, Solution

MAX_ROUNDS = 30
# Change of the logarithm of the design effect below which strengths are not chosen again.
EFFECT_TOLERANCE = 0.05
# Ratio of successive changes of strengths above which the next ones are not extrapolated.
MAX_RATIO = 0.5
# Smaller changes of logarithms of strengths that do not shrink in two rounds are rounding errors.
ROUNDING_CHANGE = 3e-5
# Changes of logarithms of strengths above which rounds are not yet linear, how many times the last
# change an extrapolation may reach, and the share of a change below which two are alike.
MAX_LINEAR_CHANGE, MAX_REACH, ALIKE = 1.0, 10.0, 1e-6


@dataclass(frozen=True)
class RegularizedFit:
    """A penalized fit, its strengths, and the design effect where strengths were chosen.

    ``log_rates`` are those of a curve that has rates.
    """

    solution: Solution
    strengths: Strengths
    design_effect: float | None = None
    log_rates: tuple[float, ...] = ()


def fit_by_evidence(
    problem: Problem, groups: Groups | None, fixed_strengths: FixedStrengths | None = None
) -> RegularizedFit:
    """Fit at the strengths of maximum evidence, except for ``fixed_strengths``."""
    if fixed_strengths is None:
        fixed_strengths = (None,) * len(problem.penalties)
    strengths = tuple(1.0 if one is None else one for one in fixed_strengths)
    solution = fit(problem, strengths)
    if solution.unbounded:
        return RegularizedFit(solution, strengths)
    effect = 1.0
    if groups is not None:
        # Fit again from the optimum: the effect needs the Hessian there, not at an earlier iterate.
        polished = fit(problem, strengths, solution.theta)
        solution = replace(polished, passes=solution.passes + polished.passes)
        effect = design_effect(problem, solution, groups, strengths)
    choice = StrengthChoice(problem, fixed_strengths, min_strengths_of(problem))
    return choice.choose(RegularizedFit(solution, strengths, effect), groups)


@dataclass(frozen=True)
class StrengthChoice:
    """Alternation of strength updates and fits, for the strengths that are not fixed.

    Each round fits exactly at the current strengths and then updates them on the quadratic
    approximation of the loss around that fit, which takes no pass over the rows. The strengths are
    the fixed point of these rounds, which `Extrapolation` reaches in a few. There is none where
    coefficients alternate between a bound and the interior; then the round with the largest
    evidence is kept.
    """

    problem: Problem
    fixed_strengths: FixedStrengths
    min_strengths: Strengths

    def problem_at(self, fitted: RegularizedFit) -> Problem:
        """Return the problem of a fit."""
        return self.problem

    def fit_at(self, strengths: Strengths, near: RegularizedFit) -> RegularizedFit:
        """Fit at these strengths, from a fit at others."""
        solution = fit(self.problem, strengths, near.solution.theta)
        return replace(near, solution=solution, strengths=strengths)

    def choose(self, start: RegularizedFit, groups: Groups | None) -> RegularizedFit:
        """Return the fit at the strengths of maximum evidence, with a design effect of its own."""
        found = self.highest(start)
        if groups is None or found.solution.unbounded or found.design_effect is None:
            return found
        # The design effect depends slightly on the strengths, which were chosen with it.
        problem = self.problem_at(found)
        updated = design_effect(problem, found.solution, groups, found.strengths)
        if abs(np.log(updated / found.design_effect)) < EFFECT_TOLERANCE:
            return found
        return self.highest(replace(found, design_effect=updated))

    def highest(self, start: RegularizedFit) -> RegularizedFit:
        """Converge, and again from another maximum of the evidence if that may be higher."""
        found = self.converge(start)
        if found.solution.unbounded:
            return found
        approximation = self._approximation(found)
        rival = approximation.rival_strengths(self.min_strengths, self.fixed_strengths)
        if rival is None:
            return found
        other = self.converge(self.fit_at(rival, found))
        passes = found.solution.passes + other.solution.passes
        is_higher = not other.solution.unbounded and self._is_higher(other, found)
        best = other if is_higher else found
        return replace(best, solution=replace(best.solution, passes=passes))

    def converge(self, start: RegularizedFit, max_rounds: int = MAX_ROUNDS) -> RegularizedFit:
        """Update strengths and fit until the strengths converge."""
        rounds, extrapolation = [start], Extrapolation()
        changes: list[float] = []
        while len(rounds) <= max_rounds and not _have_converged(changes):
            latest = rounds[-1]
            updated = self._approximation(latest).best_strengths(
                self.min_strengths, self.fixed_strengths
            )
            changes.append(max_log_change(updated, latest.strengths))
            strengths = extrapolation.next_strengths(latest.strengths, updated)
            rounds.append(self.fit_at(strengths, latest))
            if rounds[-1].solution.unbounded:
                # Later rounds would start far out, where divergence can no longer be detected.
                return rounds[-1]
        best = rounds[-1] if _have_converged(changes) else reduce(self._higher, rounds)
        passes = sum(one.solution.passes for one in rounds)
        return replace(best, solution=replace(best.solution, passes=passes))

    def _approximation(self, at: RegularizedFit) -> LaplaceApproximation:
        effect = at.design_effect or 1.0
        return LaplaceApproximation.at(self.problem_at(at), at.solution, at.strengths, effect)

    def _higher(self, best: RegularizedFit, other: RegularizedFit) -> RegularizedFit:
        return other if self._is_higher(other, best) else best

    def _is_higher(self, one: RegularizedFit, other: RegularizedFit) -> bool:
        """Whether one fit has a larger evidence than another.

        Losses with targets that move with the coefficients cannot be compared. There the difference
        is the average of those that the quadratic approximations around the two fits predict.
        """
        if not isinstance(self.problem.rows, SequenceRows):
            return self._evidence(one) > self._evidence(other)
        gain = 0.0
        for at in (one, other):
            priors = np.array([one.strengths, other.strengths]) / (at.design_effect or 1.0)
            values, _ = self._approximation(at).evidence(priors)
            gain += float(values[0] - values[1])
        return gain > 0.0

    def _evidence(self, of: RegularizedFit) -> float:
        effect = of.design_effect or 1.0
        return log_evidence(self.problem_at(of), of.solution, of.strengths, effect)


class Extrapolation:
    """Extrapolation of rounds that map strengths to better ones (Anderson 1965).

    Rounds converge linearly. Near the fixed point the change that a round makes is linear in the
    logarithms of the strengths, so that the changes of the last rounds predict where it vanishes:
    for a single strength this is the secant method. As many rounds are kept as strengths change.
    """

    def __init__(self) -> None:
        self._rounds: list[tuple[Array, Array]] = []  # updated logarithms, and their changes

    def next_strengths(self, before: Strengths, updated: Strengths) -> Strengths:
        """Return strengths to go on from, after a round that updated those ``before``."""
        # Strengths of zero are fixed.
        logs, change = np.log([pair for pair in zip(updated, before, strict=True) if pair[0]]).T
        change = logs - change
        largest = float(np.abs(change).max(initial=0.0))
        if not 0.0 < largest < MAX_LINEAR_CHANGE:
            self._rounds.clear()
            return updated
        shift = np.zeros(len(logs))
        if self._rounds:
            values, changes = map(np.array, zip(*self._rounds, strict=True))
            weights = np.linalg.lstsq((changes - change).T, change, rcond=ALIKE)[0]
            shift = weights @ (logs - values)
        self._rounds = [*self._rounds, (logs, change)][-np.count_nonzero(change) :]
        shift *= min(1.0, MAX_REACH * largest / max(float(np.abs(shift).max()), SMALLEST))
        shifted = iter(np.exp(shift).tolist())
        return tuple(new * next(shifted) if new > 0.0 else new for new in updated)


def _have_converged(changes: list[float]) -> bool:
    """Whether strengths have converged, given the changes of their logarithms in all rounds.

    What remains is the sum of all later changes, if each is as much smaller than the one before as
    the last was. Where the evidence is flat, rounding errors change the strengths forever.
    """
    *_, earlier, previous, change = [np.inf, np.inf, np.inf, *changes]
    if previous == np.inf:
        return change < STRENGTH_TOLERANCE
    if earlier <= change and max(previous, change) < ROUNDING_CHANGE:
        return True
    ratio = change / previous
    return ratio < MAX_RATIO and change * ratio / (1.0 - ratio) < STRENGTH_TOLERANCE


def min_strengths_of(problem: Problem) -> Strengths:
    """Lower bounds of the strengths: mean square of the penalized features, at most 1.

    The mean squares come from the Hessian at probability 1/2.
    """
    squares = problem.rows.mean_squares
    # All basis functions multiply the same features.
    all_squares = np.tile(squares, problem.n_coefficients // len(squares))
    means = [
        float(all_squares @ one.diagonal / one.diagonal.sum()) if one.is_used else 1.0
        for one in problem.penalties
    ]
    return tuple(min(1.0, max(mean, SMALLEST)) for mean in means)


def log_evidence(
    problem: Problem, solution: Solution, strengths: Strengths, effect: float
) -> float:
    """Log of the marginal likelihood times the prior of the strengths.

    Free coefficients are integrated by the Laplace approximation; those at a bound, with gradient g
    and curvature h, as ``exp(-g x - h x^2 / 2)`` over x > 0.
    """
    hessian, gradient = hessian_and_gradient(solution)
    free = solution.theta > problem.lower
    prior = tuple(s / effect for s in strengths)
    penalty_matrix = problem.penalty_matrix(strengths) / effect
    log_posterior = -(solution.loss + problem.penalty_value(strengths, solution.theta)) / effect
    curvature = (hessian + problem.penalty_blocks(strengths)) / effect
    # Coefficients at a bound drop out of the determinant: rows of the identity matrix.
    held = ~free.reshape(curvature.shape[:2])
    volume = _log_volume_at_bounds(gradient[~free] / effect, np.einsum("tpp->tp", curvature)[held])
    curvature[held] = 0.0
    curvature.transpose(0, 2, 1)[held] = 0.0
    np.einsum("tpp->tp", curvature)[held] = 1.0
    eigenvalues = np.linalg.eigvalsh(curvature)
    volume -= 0.5 * float(np.log(np.maximum(eigenvalues, SMALLEST)).sum())
    width = 0.5 * log_determinant(penalty_matrix)
    used = [
        (s, one.is_smoothing)
        for s, one in zip(prior, problem.penalties, strict=True)
        if one.is_used and s > 0
    ]
    hyperprior = sum(np.log1p(1.0 / s) + 0.5 * np.log(s) * is_smoothing for s, is_smoothing in used)
    return float(log_posterior + volume + width - hyperprior)


def _log_volume_at_bounds(gradient: Array, curvature: Array) -> float:
    """Log of the integrals of ``exp(-g x - h x^2 / 2)`` over x > 0, each over sqrt(2 pi)."""
    root = np.sqrt(np.maximum(curvature, SMALLEST))
    scaled = erfcx(np.maximum(gradient, 0.0) / (np.sqrt(2.0) * root))
    return float(np.log(0.5 * scaled / root).sum())


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
    alternative = quadratic.best_strengths(min_strengths, fixed_strengths)
    prior = tuple(s / effect for s in alternative)
    return AlternativeFit(alternative, problem.identity + quadratic.coefficients(prior))
