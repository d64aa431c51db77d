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
the design effect: the inflation of the variance of the coefficients, on average over them. Along a
curve with a trend its roughness has a design effect of its own (`design_effect.py`).
"""

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from scipy.special import erfcx

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import SequenceRows
from tempocal.solve.design_effect import Effects, design_effect
from tempocal.solve.laplace import (
    SMALLEST,
    STRENGTH_TOLERANCE,
    FixedStrengths,
    LaplaceApproximation,
    hessian_and_gradient,
    max_log_change,
)
from tempocal.solve.minimize import fit
from tempocal.solve.penalties import Strengths, log_determinant
from tempocal.solve.problem import Problem, Solution

MAX_ROUNDS = 30
# Change of the logarithm of the design effect below which strengths are not chosen again.
EFFECT_TOLERANCE = 0.05
# Ratio of successive changes of strengths above which the next ones are not extrapolated.
MAX_RATIO = 0.5
# Ratio of successive steps up to which they are summed to their end, and steps too short for that.
MAX_AITKEN_RATIO, TINY_STEP = 0.9, 1e-12
# Smaller changes of the logarithms of strengths that do not become smaller are rounding errors.
ROUNDING_CHANGE = 1e-6
# At the bound of 1 for other penalties, a wave of two periods would be smoothed away.
LEAST_SMOOTHING = 1e-3
# Ratio above which steps do not become shorter, and rounds that take whole steps all the same.
NO_PROGRESS, FULL_ROUNDS = 0.9, 3


@dataclass(frozen=True)
class RegularizedFit:
    """A penalized fit, its strengths, and the design effects where strengths were chosen."""

    solution: Solution
    strengths: Strengths
    effects: Effects | None = None

    @property
    def design_effect(self) -> float | None:
        """Design effect on average over all directions."""
        return None if self.effects is None else self.effects.mean


def fit_by_evidence(
    problem: Problem,
    groups: Groups | None,
    fixed_strengths: FixedStrengths | None = None,
    *,
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
    effects = design_effect(problem, solution, groups, strengths)
    choice = StrengthChoice(problem, fixed_strengths, min_strengths_of(problem))
    converged = choice.highest(RegularizedFit(solution, strengths, effects))
    # Design effects depend slightly on the strengths, which were chosen with them.
    updated = design_effect(problem, converged.solution, groups, converged.strengths)
    if abs(np.log(updated.mean / effects.mean)) < EFFECT_TOLERANCE:
        return converged
    return choice.highest(replace(converged, effects=updated))


@dataclass(frozen=True)
class StrengthChoice:
    """Alternation of strength updates and fits, for the strengths that are not fixed."""

    problem: Problem
    fixed_strengths: FixedStrengths
    min_strengths: Strengths

    def highest(self, start: RegularizedFit) -> RegularizedFit:
        """Converge, and again from another maximum of the evidence if that may be higher."""
        found = self.converge(start)
        if found.solution.unbounded:
            return found
        approximation = self._approximation(found)
        rival = approximation.rival_strengths(self.min_strengths, self.fixed_strengths)
        if rival is None:
            return found
        other = self.converge(self._fit_at(rival, found))
        passes = found.solution.passes + other.solution.passes
        is_higher = not other.solution.unbounded and self._is_higher(other, found)
        best = other if is_higher else found
        return replace(best, solution=replace(best.solution, passes=passes))

    def converge(self, start: RegularizedFit, max_rounds: int = MAX_ROUNDS) -> RegularizedFit:
        """Update strengths and fit until the strengths converge.

        Where coefficients alternate between a bound and the interior, steps are made shorter. If
        that does not help, the round with the largest evidence is kept.
        """
        rounds = [start]
        change = remaining = np.inf
        share = 1.0
        # Of rows that learn from forecasts the information changes with the strengths.
        drift = LogSteps() if isinstance(self.problem.rows, SequenceRows) else None
        while remaining >= STRENGTH_TOLERANCE and len(rounds) <= max_rounds:
            latest = rounds[-1]
            updated = self._approximation(latest).best_strengths(
                self.min_strengths, self.fixed_strengths
            )
            previous_change, change = change, max_log_change(updated, latest.strengths)
            turns = drift is None or drift.turns(latest.strengths, updated)
            if turns and len(rounds) > FULL_ROUNDS and change > NO_PROGRESS * previous_change:
                share *= 0.5
            pairs = zip(latest.strengths, updated, strict=True)
            strengths = tuple(
                old if old == new else old ** (1.0 - share) * new**share for old, new in pairs
            )
            if drift is not None:
                strengths = drift.extrapolated(latest.strengths, strengths)
            rounds.append(self._fit_at(strengths, latest))
            if rounds[-1].solution.unbounded:
                # Later rounds would start far out, where divergence can no longer be detected.
                return rounds[-1]
            remaining = _extrapolated_change(change, previous_change)
            if NO_PROGRESS * previous_change < change <= previous_change < ROUNDING_CHANGE:
                # What is left are rounding errors of the fits.
                remaining = 0.0
        has_converged = remaining < STRENGTH_TOLERANCE
        # Strengths of the start may be below bounds that a new design effect has raised.
        best = rounds[-1] if has_converged else reduce(self._higher, rounds[1:])
        passes = sum(one.solution.passes for one in rounds)
        return replace(best, solution=replace(best.solution, passes=passes))

    def _fit_at(self, strengths: Strengths, near: RegularizedFit) -> RegularizedFit:
        solution = fit(self.problem, strengths, near.solution.theta)
        return RegularizedFit(solution, strengths, near.effects)

    def _approximation(self, at: RegularizedFit) -> LaplaceApproximation:
        effects = at.effects or Effects(1.0)
        return LaplaceApproximation.at(self.problem, at.solution, at.strengths, effects)

    def _higher(self, best: RegularizedFit, other: RegularizedFit) -> RegularizedFit:
        return other if self._is_higher(other, best) else best

    def _is_higher(self, one: RegularizedFit, other: RegularizedFit) -> bool:
        """Whether one fit has a larger evidence than another.

        Losses with targets that move with the coefficients cannot be compared, nor can those that
        no single design effect divides. There the difference is the average of those that the
        quadratic approximations around the two fits predict.
        """
        is_single = one.effects is None or one.effects.rough is None
        if is_single and not isinstance(self.problem.rows, SequenceRows):
            return self._evidence(one) > self._evidence(other)
        gain = 0.0
        for at in (one, other):
            approximation = self._approximation(at)
            priors = np.array([one.strengths, other.strengths]) / approximation.effects
            values, _ = approximation.evidence(priors)
            gain += float(values[0] - values[1])
        return gain > 0.0

    def _evidence(self, of: RegularizedFit) -> float:
        return log_evidence(self.problem, of.solution, of.strengths, of.design_effect or 1.0)


class LogSteps:
    """Steps of the strengths that shrink by the same ratio, taken to their end (Aitken).

    Every other step is left as it is, to see how it shrinks.
    """

    def __init__(self) -> None:
        self._last: Array | None = None

    def turns(self, before: Strengths, after: Strengths) -> bool:
        """Whether a step goes back where the last came from."""
        return self._last is not None and float(_log_step(before, after) @ self._last) < 0.0

    def extrapolated(self, before: Strengths, after: Strengths) -> Strengths:
        """Return where the steps lead."""
        step, last = _log_step(before, after), self._last
        if last is None:
            self._last = step
            return after
        self._last = None
        ratio = float(step @ last) / max(float(last @ last), TINY_STEP**2)
        if not 0.0 < ratio < MAX_AITKEN_RATIO:
            return after
        factors = np.exp(step * ratio / (1.0 - ratio)).tolist()
        return tuple(new * factor for new, factor in zip(after, factors, strict=True))


def _log_step(before: Strengths, after: Strengths) -> Array:
    pairs = zip(before, after, strict=True)
    return np.array([0.0 if old == new else np.log(new / old) for old, new in pairs])


def _extrapolated_change(change: float, previous_change: float) -> float:
    """Sum of all later changes, if each is as much smaller than the one before as the last was."""
    if previous_change == np.inf:
        return change
    ratio = change / previous_change if change > 0.0 else 0.0
    return change * ratio / (1.0 - ratio) if ratio < MAX_RATIO else np.inf


def min_strengths_of(problem: Problem) -> Strengths:
    """Lower bounds of the strengths: mean square of the penalized features, at most 1.

    The mean squares come from the Hessian at probability 1/2. A smoothing penalty may be weaker by
    `LEAST_SMOOTHING`: it is 1 for a curve with one turn, and grows with the fourth power of their
    number.
    """
    squares = problem.rows.mean_squares
    # All basis functions multiply the same features.
    all_squares = np.tile(squares, problem.n_coefficients // len(squares))
    means = [
        float(all_squares @ one.diagonal / one.diagonal.sum()) if one.is_used else 1.0
        for one in problem.penalties
    ]
    least = [LEAST_SMOOTHING if one.is_smoothing else 1.0 for one in problem.penalties]
    return tuple(
        min(1.0, max(mean, SMALLEST)) * share for mean, share in zip(means, least, strict=True)
    )


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
    These strengths are the mode in the logarithm of every strength. Those that make a curve with a
    trend smooth are weaker still: their evidence is so much lower as by two standard errors (Wood,
    Pya and Saefken 2016 add the variance that follows from one). Bands must cover their fit too.
    """

    strengths: Strengths
    theta: Array


def alternative_fit(
    problem: Problem,
    solution: Solution,
    strengths: Strengths,
    effects: Effects,
    *,
    fixed_strengths: FixedStrengths,
    min_strengths: Strengths,
) -> AlternativeFit:
    """Return the weaker strengths that the data also support, where they are not fixed."""
    quadratic = LaplaceApproximation.at(problem, solution, strengths, effects, mode_in_log=True)
    alternative = quadratic.best_strengths(min_strengths, fixed_strengths)
    if problem.trend is not None:
        alternative = quadratic.less_smooth(alternative, min_strengths, fixed_strengths)
    return AlternativeFit(alternative, problem.identity + quadratic.coefficients(alternative))
