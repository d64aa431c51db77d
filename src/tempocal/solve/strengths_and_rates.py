"""Strengths of maximum evidence for curves with rates, such as exponentials.

Each round of `tempocal.solve.evidence` fits at other strengths, and here the fit finds its rates
too, so that strengths and rates converge together. Between rounds rates move little and are
followed where they are; at the end all rates are searched once more, for at other strengths others
may be better.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tempocal.inputs import Groups
from tempocal.solve.estimating import with_information
from tempocal.solve.estimating_rates import MakeProblem, RateIterate
from tempocal.solve.evidence import RegularizedFit, StrengthChoice, min_strengths_of
from tempocal.solve.group_gradients import design_effect
from tempocal.solve.laplace import FixedStrengths
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.profile import fit_profile, polish_rates

# Calibrated logits larger than this mean that the fit diverges.
MAX_LOGIT = 1e9
# Searches of all rates at strengths of maximum evidence, and the change of a log rate after which
# strengths are not chosen again.
MAX_SEARCHES = 8
RATE_TOLERANCE = 3e-4


def fit_profile_by_evidence(
    make_problem: MakeProblem, n_rates: int, groups: Groups | None, fixed_strengths: FixedStrengths
) -> RegularizedFit:
    """Fit rates and coefficients, with strengths of maximum evidence unless they are fixed."""
    make_problem = _remember_problems(make_problem)
    # Diverging coefficients may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        found = _fit_by_evidence(make_problem, n_rates, groups, fixed_strengths)
        return replace(found, solution=_check_slopes(make_problem(found.log_rates), found.solution))


def _remember_problems(make_problem: MakeProblem) -> MakeProblem:
    """Return the same problem where it is asked for again at the last rates."""
    known = lru_cache(maxsize=4)(make_problem)
    return lambda rates: known(rates) if isinstance(rates, tuple) else make_problem(rates)


def _check_slopes(problem: Problem, solution: Solution) -> Solution:
    """Mark a fit as unbounded if slopes diverge at some time.

    With a fast rate a curve can diverge at times with separable rows and stay finite at others.
    """
    at_keys = problem.at_keys(solution.theta)
    is_slope = problem.at_keys(problem.identity) != 0.0
    is_far = ~(np.abs(at_keys) <= MAX_LOGIT) & is_slope
    if not is_far.any():
        return solution
    # Slopes of tiny logits may be large.
    is_far &= ~(np.abs(at_keys) * np.sqrt(problem.rows.mean_squares) <= MAX_LOGIT)
    where_unbounded = is_far.any(axis=1)
    if not where_unbounded.any():
        return solution
    return replace(solution, unbounded=True, where_unbounded=where_unbounded)


def _fit_by_evidence(
    make_problem: MakeProblem, n_rates: int, groups: Groups | None, fixed_strengths: FixedStrengths
) -> RegularizedFit:
    strengths = tuple(1.0 if one is None else one for one in fixed_strengths)
    all_fixed = None not in fixed_strengths
    iterate = fit_profile(make_problem, n_rates, strengths, polish=all_fixed)
    problem = make_problem(iterate.log_rates)
    choice = _StrengthsAndRates(
        problem, fixed_strengths, min_strengths_of(problem), make_problem, groups
    )
    found = choice.fitted(iterate, RegularizedFit(iterate.solution, strengths))
    if all_fixed or found.solution.unbounded:
        return found
    effect = design_effect(problem, found.solution, groups, strengths)
    found = replace(found, design_effect=effect)
    for _ in range(MAX_SEARCHES):
        found = choice.choose(found, groups)
        if found.solution.unbounded:
            return found
        # At other strengths other rates may be better.
        iterate = fit_profile(make_problem, n_rates, found.strengths, _iterate_of(found))
        moved = np.abs(np.subtract(iterate.log_rates, found.log_rates)).max()
        found = choice.fitted(iterate, found, passes=found.solution.passes)
        if found.solution.unbounded:
            return found
        if moved < RATE_TOLERANCE:
            break
    polished = polish_rates(make_problem, n_rates, found.strengths, _iterate_of(found))
    if polished.log_rates == found.log_rates:
        passes = found.solution.passes + polished.solution.passes
        return replace(found, solution=replace(found.solution, passes=passes))
    return choice.fitted(polished, found, passes=found.solution.passes)


@dataclass(frozen=True)
class _StrengthsAndRates(StrengthChoice):
    """Choice of strengths where each fit finds its rates, and the design effect follows these."""

    make_problem: MakeProblem
    groups: Groups | None

    def problem_at(self, fitted: RegularizedFit) -> Problem:
        """Return the problem at the rates of a fit."""
        return self.make_problem(fitted.log_rates)

    def fit_at(self, strengths: Strengths, near: RegularizedFit) -> RegularizedFit:
        """Fit at these strengths, at the rates that are best next to those of another fit."""
        start, n_rates = _iterate_of(near), len(near.log_rates)
        iterate = fit_profile(self.make_problem, n_rates, strengths, start, is_close=True)
        found = self.fitted(iterate, replace(near, strengths=strengths))
        if self.groups is None or found.solution.unbounded or found.log_rates == near.log_rates:
            return found
        effect = design_effect(self.problem_at(found), found.solution, self.groups, strengths)
        return replace(found, design_effect=effect)

    def fitted(self, at: RateIterate, near: RegularizedFit, passes: int = 0) -> RegularizedFit:
        """Return the fit at an iterate with the strengths of another, after some more passes."""
        solution = replace(at.solution, passes=at.solution.passes + passes)
        problem = self.make_problem(at.log_rates)
        solution = with_information(problem, near.strengths, solution)
        return replace(near, solution=solution, log_rates=at.log_rates)


def _iterate_of(fitted: RegularizedFit) -> RateIterate:
    return RateIterate(fitted.log_rates, fitted.solution, sums_are_current=True)
