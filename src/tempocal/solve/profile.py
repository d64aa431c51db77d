"""Fit curves that are linear only once a rate is given, such as exponentials.

The objective can have several optima in the rate, so that all rates must be looked at, and a fit at
every one of them would take hundreds of passes over the rows. Instead, one pass gives the loss at
the keys up to second order in their coefficients. On that quadratic the best curve at every rate is
small linear algebra, without a look at the rows; the best of all rates is where the next pass goes.
This is Newton's method in the coefficients of the keys. Once it has settled, every rate at which
the quadratic has another dip is fitted as well, and the lowest of them all is the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import Sums
from tempocal.solve.evidence import RegularizedFit, fit_by_evidence
from tempocal.solve.laplace import FixedStrengths
from tempocal.solve.minimize import MAX_SAMPLE_SHARE, SAMPLE_ROWS, fit, identity_or_zero, known_sums
from tempocal.solve.newton import DECREASE_TOLERANCE, run_newton
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.rate_search import Bracket, KeyQuadratic

# Logarithms of rates, relative to the range of time, and the problem at them. Where one is an
# array, the basis and the pulls have a first axis for it.
LogRates = Sequence[float | Array]
MakeProblem = Callable[[LogRates], Problem]

SLOWEST, FASTEST = float(np.log(1e-2)), float(np.log(1e3))
# Rates that are looked at; then the lowest is closed in on, until this close.
GRID = np.linspace(SLOWEST, FASTEST, 41)
SPACING = float(GRID[1] - GRID[0])
BRACKET_WIDTH = 0.05
# Most steps are small: these save closing in.
NEARBY = np.array([-0.02, -0.005, -0.001, 0.0, 0.001, 0.005, 0.02])
# Distance of the points from which derivatives by a rate are taken.
DIFFERENCE_STEP = 2e-3
# Points further apart say more of where the lowest place is, unless bounds make the objective bend
# between them: then they lead further than a tiny step.
WIDE_DIFFERENCE_STEP, MAX_POLISH_STEP = 2e-2, 1e-7
# Changes of the mean objective that are rounding errors.
ROUNDING = 1e-15
# Calibrated logits of this size are beyond all that any row can ask for.
MAX_LOGIT = 1e9
# Of scanned rates, changes of it that make no dip, and none lower than another.
LEVEL_TOLERANCE, TIE_TOLERANCE = 1e-12, 1e-14
MAX_STEPS = 60
# Rows that are all but separable leave no quadratic to go by: then enough is enough.
MAX_SETBACKS, MAX_PASSES = 5, 300
# Rounds of rate, strengths, rate; and the change of the log rate at which they are settled.
MAX_ROUNDS = 8
RATE_TOLERANCE = 1e-3
# The last step of a search may promise this much less than that of a fit, for rates are less well
# determined than coefficients; on rows that stand for others it may promise more.
RATE_SEARCH_TOLERANCE, CONDENSED_TOLERANCE = 1e-2 * DECREASE_TOLERANCE, 1e2 * DECREASE_TOLERANCE


@dataclass(frozen=True)
class ProfileFit:
    """The best rates, and the fit at them."""

    log_rates: tuple[float, ...]
    result: RegularizedFit


def fit_profile_by_evidence(
    make_problem: MakeProblem, n_rates: int, groups: Groups | None, fixed_strengths: FixedStrengths
) -> ProfileFit:
    """Fit rates and coefficients, with strengths from the data where none are given."""
    # On their way to no end, coefficients may come to what a double cannot hold.
    with np.errstate(over="ignore", invalid="ignore"):
        found = _fit_by_evidence(make_problem, n_rates, groups, fixed_strengths)
        solution = _check_slopes(make_problem(found.log_rates), found.result.solution)
    return replace(found, result=replace(found.result, solution=solution))


def _check_slopes(problem: Problem, solution: Solution) -> Solution:
    """Tell slopes that leave no doubt about any row at some time, and have no end to go to.

    A fast rate can let a curve run away where no row objects, and hold it where one does.
    """
    at_keys = problem.at_keys(solution.theta)
    is_slope = problem.at_keys(problem.identity) != 0.0
    far = ~(np.abs(at_keys) <= MAX_LOGIT) & is_slope
    if solution.unbounded or not far.any():
        return solution
    # Logits may be tiny, and their slopes large.
    far &= ~(np.abs(at_keys) * np.sqrt(problem.rows.squares) <= MAX_LOGIT)
    where = far.any(axis=1)
    return replace(solution, unbounded=bool(where.any()), where_unbounded=where)


def _fit_by_evidence(
    make_problem: MakeProblem, n_rates: int, groups: Groups | None, fixed_strengths: FixedStrengths
) -> ProfileFit:
    strengths = tuple(1.0 if one is None else one for one in fixed_strengths)
    all_fixed = None not in fixed_strengths
    iterate = fit_profile(make_problem, n_rates, strengths, polish=all_fixed)
    passes, effect = iterate.solution.passes, None
    for _ in range(0 if all_fixed else MAX_ROUNDS):
        problem = make_problem(iterate.log_rates)
        chosen = fit_by_evidence(
            problem,
            groups,
            fixed_strengths,
            start_strengths=strengths,
            start=iterate.solution.theta,
        )
        strengths, effect, before = chosen.strengths, chosen.design_effect, iterate.log_rates
        iterate = fit_profile(
            make_problem,
            n_rates,
            strengths,
            RateIterate(before, chosen.solution, sums_are_current=True),
        )
        passes += chosen.solution.passes + iterate.solution.passes
        if np.abs(np.subtract(iterate.log_rates, before)).max() < RATE_TOLERANCE:
            break
    if not all_fixed and not iterate.solution.unbounded:
        iterate = _polish(make_problem, n_rates, strengths, iterate)
        passes += iterate.solution.passes
    solution = replace(iterate.solution, passes=passes)
    return ProfileFit(iterate.log_rates, RegularizedFit(solution, strengths, effect))


@dataclass(frozen=True)
class RateIterate:
    """Rates and the solution there; ``seen`` if its sums are those of the rows as they are now."""

    log_rates: tuple[float, ...]
    solution: Solution
    sums_are_current: bool = False

    @property
    def theta(self) -> Array:
        """The coefficients."""
        return self.solution.theta


def _polish(
    make_problem: MakeProblem, n_rates: int, strengths: Strengths, iterate: RateIterate
) -> RateIterate:
    """Settle the last digits of the rates, where a search has ended."""
    search = _RateSearch(make_problem, n_rates, strengths)
    current, quadratic = search.expand_around(iterate)
    best = search.polish(quadratic, current)
    if best.log_rates == iterate.log_rates:
        return replace(iterate, solution=replace(iterate.solution, passes=search.passes))
    return search.fit_at(best, quadratic)


def fit_profile(
    make_problem: MakeProblem,
    n_rates: int,
    strengths: Strengths,
    start: RateIterate | None = None,
    *,
    polish: bool = False,
) -> RateIterate:
    """Find the rates and the coefficients of least objective; ``polish`` settles the last digits.

    Only at the very end: where strengths follow from the rates, the least change of these may lead
    to others on few rows.
    """
    is_close = False
    if start is None:
        start, is_close = _start(make_problem, n_rates, strengths)
        if start.solution.unbounded:
            # All rows at one rate leave no finite optimum: none is looked for at others.
            return start
    iterate = _RateSearch(make_problem, n_rates, strengths).iterate(
        start, is_close=is_close, polish=polish
    )
    while _refine_rows(make_problem(iterate.log_rates), iterate):
        iterate = replace(iterate, sums_are_current=False)
        again = _RateSearch(make_problem, n_rates, strengths).iterate(iterate, polish=polish)
        passes = iterate.solution.passes + again.solution.passes
        iterate = replace(again, solution=replace(again.solution, passes=passes))
    return iterate


def _refine_rows(problem: Problem, iterate: RateIterate) -> bool:
    """Look closer at the rows where the search has ended."""
    solution = iterate.solution
    return not solution.unbounded and problem.rows.sharpen(problem.at_keys(solution.theta))


def _start(
    make_problem: MakeProblem, n_rates: int, strengths: Strengths
) -> tuple[RateIterate, bool]:
    """Fit few rows that stand for all, or a sample of them; else all of them at a middling rate.

    Also tell if the place is the best of all rates already, but for its last digits: rows that
    stand for all have the same dips.
    """
    middle = (1.0,) * n_rates
    problem = make_problem(middle)
    condensed = problem.condensed()
    if condensed is not None:
        iterate = _fit_condensed(make_problem, n_rates, strengths, condensed)
        if not iterate.solution.unbounded:
            return iterate, True
    sample, share = problem.subsampled(SAMPLE_ROWS)
    if share <= MAX_SAMPLE_SHARE:

        def make_sample(log_rates: LogRates) -> Problem:
            return replace(
                make_problem(log_rates), rows=sample.rows, baseline_penalty=sample.baseline_penalty
            )

        iterate = fit_profile(make_sample, n_rates, tuple(share * s for s in strengths))
        if not iterate.solution.unbounded:
            return replace(iterate, sums_are_current=False), False
    return RateIterate(middle, fit(problem, strengths), sums_are_current=True), False


def _fit_condensed(
    make_problem: MakeProblem, n_rates: int, strengths: Strengths, condensed: Problem
) -> RateIterate:
    """Fit few rows that stand for many: to the last digit but one, for a search is to follow."""

    def make_condensed(log_rates: LogRates) -> Problem:
        return replace(make_problem(log_rates), rows=condensed.rows)

    is_close = identity_or_zero(condensed)
    known, tolerance = known_sums(condensed, is_close), CONDENSED_TOLERANCE
    solution = run_newton(condensed, strengths, is_close, known, tolerance=tolerance)
    start = RateIterate((1.0,) * n_rates, solution, sums_are_current=True)
    if solution.unbounded:
        return start
    best, _ = _RateSearch(make_condensed, n_rates, strengths, tolerance).minimize(start)
    return RateIterate(best.log_rates, replace(solution, theta=best.theta))


@dataclass(frozen=True)
class _RatePoint:
    """Rates and coefficients, with the objective there."""

    log_rates: tuple[float, ...]
    theta: Array
    value: float


class _RateSearch:
    """A search over all rates, at given strengths."""

    def __init__(
        self,
        make_problem: MakeProblem,
        n_rates: int,
        strengths: Strengths,
        tolerance: float = RATE_SEARCH_TOLERANCE,
    ) -> None:
        self.make_problem = make_problem
        self.n_rates = n_rates
        self.strengths = strengths
        self.tolerance = tolerance
        self.passes = 0

    def iterate(
        self, start: RateIterate, *, is_close: bool = False, polish: bool = False
    ) -> RateIterate:
        """Return the place of least objective."""
        best, quadratic = self.minimize(start, is_close=is_close)
        best = self._refine_rates(quadratic, best)
        return self.fit_at(self.polish(quadratic, best) if polish else best, quadratic)

    def minimize(
        self, start: RateIterate, *, is_close: bool = False
    ) -> tuple[_RatePoint, KeyQuadratic]:
        """Search from a place, and, unless it is ``near``, from every other that may be as good.

        Also return the quadratic there.
        """
        best, quadratic = self._descend_in_rate(start, is_close=is_close)
        other_minima = (
            [] if is_close or self.passes >= MAX_PASSES else self._other_minima(quadratic, best)
        )
        for log_rates, theta in other_minima:
            # A rival is fitted at its own rate first: the quadratic is not to be trusted so far.
            at = run_newton(self.make_problem(log_rates), self.strengths, theta)
            self.passes += at.passes
            rival, its_quadratic = self._descend_in_rate(
                RateIterate(log_rates, at, sums_are_current=True), is_close=True
            )
            if rival.value < best.value:
                best, quadratic = rival, its_quadratic
        return best, quadratic

    def expand_around(self, iterate: RateIterate) -> tuple[_RatePoint, KeyQuadratic]:
        """Return the quadratic at a place, or at the last point next to it that was seen."""
        solution = iterate.solution
        if not iterate.sums_are_current or solution.sums is None or solution.step is None:
            return self._expand(iterate.log_rates, iterate.theta)
        return self._expand(iterate.log_rates, solution.theta - solution.step, solution.sums)

    def _descend_in_rate(
        self, iterate: RateIterate, *, is_close: bool = False
    ) -> tuple[_RatePoint, KeyQuadratic]:
        """Go down from a place; ``near`` keeps to the dip that it is in.

        Also return the last quadratic.
        """
        radius = SPACING if is_close else np.inf
        current, quadratic = self.expand_around(iterate)
        setbacks = 0
        for _ in range(MAX_STEPS):
            candidate = self._minimize_quadratic(quadratic, current, radius)
            predicted = current.value - candidate.value
            if predicted <= self.tolerance * quadratic.weight:
                return candidate if predicted > ROUNDING * quadratic.weight else current, quadratic
            trial, its_quadratic = self._expand(candidate.log_rates, candidate.theta)
            if trial.value <= current.value - 0.1 * predicted:
                current, quadratic = trial, its_quadratic
                continue
            # The quadratic led too far: fit at its rate, and if that is no better keep closer.
            solution = run_newton(
                self.make_problem(candidate.log_rates), self.strengths, candidate.theta
            )
            self.passes += solution.passes
            trial, its_quadratic = self.expand_around(
                RateIterate(candidate.log_rates, solution, sums_are_current=True)
            )
            if trial.value < current.value:
                current, quadratic = trial, its_quadratic
            else:
                radius, setbacks = 0.25 * min(radius, FASTEST - SLOWEST), setbacks + 1
            if setbacks == MAX_SETBACKS or self.passes > MAX_PASSES:
                break
        return current, quadratic

    def fit_at(self, best: _RatePoint, quadratic: KeyQuadratic) -> RateIterate:
        """Fit at the rates that were found."""
        problem = self.make_problem(best.log_rates)
        # So close by, the quadratic is as good as another pass.
        known = quadratic.sums_at(problem.at_keys(best.theta))
        solution = run_newton(problem, self.strengths, best.theta, known)
        passes = self.passes + solution.passes
        return RateIterate(best.log_rates, replace(solution, passes=passes), sums_are_current=True)

    def _expand(
        self, log_rates: tuple[float, ...], theta: Array, sums: Sums | None = None
    ) -> tuple[_RatePoint, KeyQuadratic]:
        """Make a pass over the rows, unless the sums over them are known."""
        problem = self.make_problem(log_rates)
        at_keys = problem.at_keys(theta)
        if sums is None:
            sums, self.passes = problem.rows.sums(at_keys), self.passes + 1
        assert sums.hessian is not None
        loss = float(sums.loss.sum())
        offset = theta - problem.identity
        # As in the quadratic, to the last digit.
        penalty = 0.5 * float(offset @ as_matrix(problem.penalty_matrix(self.strengths)) @ offset)
        return _RatePoint(log_rates, theta, loss + penalty), KeyQuadratic(
            center=at_keys,
            loss=loss,
            sums=sums,
            identity=problem.identity,
            lower=problem.lower,
            weight=problem.rows.total_weight,
        )

    def _minimize_quadratic(
        self, quadratic: KeyQuadratic, current: _RatePoint, radius: float
    ) -> _RatePoint:
        """Lowest place of the quadratic, going over the rates one after the other."""
        best = current
        for _ in range(self.n_rates):
            for k in range(self.n_rates):
                best = self._minimize_along(quadratic, best, k, current.log_rates[k], radius)
        return best

    def _minimize_along(
        self, quadratic: KeyQuadratic, best: _RatePoint, k: int, center: float, radius: float
    ) -> _RatePoint:
        low, high = max(SLOWEST, center - radius), min(FASTEST, center + radius)
        points = np.unique(np.concatenate([GRID, best.log_rates[k] + NEARBY]).clip(low, high))
        best, bracket = self._best_of(quadratic, best, k, points)
        if bracket.right - bracket.left > BRACKET_WIDTH:
            best, bracket = self._best_of(quadratic, best, k, bracket.refined_grid())
        if bracket.predicted <= ROUNDING * quadratic.weight:
            return best
        return self._best_of(quadratic, best, k, np.array([bracket.center, bracket.vertex]))[0]

    def _refine_rates(self, quadratic: KeyQuadratic, best: _RatePoint) -> _RatePoint:
        """Rates of the lowest place of the quadratic, to as many digits as there are."""
        for k in [*range(self.n_rates)] * self.n_rates:
            best = self._step_in_rate(
                quadratic, best, k, spacing=DIFFERENCE_STEP, max_step=DIFFERENCE_STEP
            )
        return best

    def polish(self, quadratic: KeyQuadratic, best: _RatePoint) -> _RatePoint:
        """Take tiny steps by points that are far apart."""
        for k in [*range(self.n_rates)] * self.n_rates:
            best = self._step_in_rate(
                quadratic, best, k, spacing=WIDE_DIFFERENCE_STEP, max_step=MAX_POLISH_STEP
            )
        return best

    def _step_in_rate(
        self, quadratic: KeyQuadratic, best: _RatePoint, k: int, *, spacing: float, max_step: float
    ) -> _RatePoint:
        """Go to the lowest place along a rate, by derivatives from five points."""
        center = best.log_rates[k]
        points = center + spacing * np.arange(-2.0, 3.0)
        if points[0] < SLOWEST or points[-1] > FASTEST:
            return best
        _, values = self._profile_along(quadratic, best, k, points)
        slope = values @ [1.0, -8.0, 0.0, 8.0, -1.0] / (12.0 * spacing)
        bend = values @ [-1.0, 16.0, -30.0, 16.0, -1.0] / (12.0 * spacing**2)
        third = values @ [-1.0, 2.0, 0.0, -2.0, 1.0] / (2.0 * spacing**3)
        # Where all rates are as good, one is as good as the next.
        if bend * DIFFERENCE_STEP**2 > ROUNDING * quadratic.weight and abs(slope) < max_step * bend:
            further = center - slope / max(bend - 0.5 * third * slope / bend, 0.5 * bend)
            best, _ = self._best_of(quadratic, best, k, np.array([further]))
        return best

    def _best_of(
        self, quadratic: KeyQuadratic, best: _RatePoint, k: int, points: Array
    ) -> tuple[_RatePoint, Bracket]:
        thetas, values = self._profile_along(quadratic, best, k, points)
        # Of rates that are as good but for rounding, the first: so it is the same for all engines.
        lowest = int(np.argmax(values <= values.min() + TIE_TOLERANCE * quadratic.weight))
        found = _RatePoint(
            _with_rate(best.log_rates, k, points[lowest]), thetas[lowest], values[lowest]
        )
        return found, Bracket.around(lowest, points, values)

    def _other_minima(
        self, quadratic: KeyQuadratic, current: _RatePoint
    ) -> list[tuple[tuple[float, ...], Array]]:
        """Other local minima over the scanned rates."""
        found = []
        for k in range(self.n_rates):
            thetas, values = self._profile_along(quadratic, current, k, GRID)
            indices = _local_minima(values, LEVEL_TOLERANCE * quadratic.weight)
            found += [
                (_with_rate(current.log_rates, k, GRID[index]), thetas[index])
                for index in indices[np.abs(GRID[indices] - current.log_rates[k]) > SPACING]
            ]
        return found

    def _profile_along(
        self, quadratic: KeyQuadratic, at: _RatePoint, k: int, points: Array
    ) -> tuple[Array, Array]:
        """Coefficients of least objective at several values of a rate, and these."""
        problem = self.make_problem([*at.log_rates[:k], points, *at.log_rates[k + 1 :]])
        penalty_matrices = as_matrix(problem.penalty_matrix(self.strengths))
        return quadratic.minimize(np.asarray(problem.basis, np.float64), penalty_matrices, at.theta)


def _with_rate(log_rates: tuple[float, ...], k: int, value: float) -> tuple[float, ...]:
    return (*log_rates[:k], float(value), *log_rates[k + 1 :])


def _local_minima(values: Array, rounding: float) -> NDArray[np.intp]:
    """Positions of local minima, and the first of those that are level but for rounding errors.

    Fast rates are all but the same curve, and so are slow ones.
    """
    steps = np.diff(values)
    starts = np.concatenate([[0], np.flatnonzero(np.abs(steps) > rounding) + 1])
    level = np.concatenate([[np.inf], values[starts], [np.inf]])
    return starts[(level[1:-1] < level[:-2]) & (level[1:-1] < level[2:])]
