"""Profile likelihood (variable projection) for curves with rates, such as exponentials.

Given the rates such a curve is linear in its coefficients. The profile objective, minimized over
the coefficients at each rate, can have several local minima, so a global search is needed. A fit at
every rate of a grid would take hundreds of passes over the rows. Instead, one pass gives the
second-order expansion of the loss in the coefficients at the keys. On that quadratic the best curve
at any rate is small linear algebra, without the rows, and the next pass is made at the best rate.
This is Newton's method in the coefficients of the keys. After convergence every rate at which the
quadratic has another local minimum is fitted as well, and the lowest of all fits is returned.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.rows import SequenceRows, Sums
from tempocal.solve.estimating_rates import (
    FASTEST,
    SLOWEST,
    MakeProblem,
    RateIterate,
    fit_moving_targets,
)
from tempocal.solve.newton import (
    DECREASE_TOLERANCE,
    identity_or_zero,
    is_misled,
    minimize_newton,
    refine,
)
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem
from tempocal.solve.rate_search import Bracket, KeyQuadratic

# Log rates that are scanned. The best one is bracketed down to BRACKET_WIDTH.
GRID = np.linspace(SLOWEST, FASTEST, 41)
SPACING = float(GRID[1] - GRID[0])
BRACKET_WIDTH = 0.05
# Points next to the current rate: most steps are small, and these save bracketing.
NEARBY = np.array([-0.02, -0.005, -0.001, 0.0, 0.001, 0.005, 0.02])
# Step of the finite differences in a log rate.
DIFFERENCE_STEP = 2e-3
# Steps up to this long need no bracket: those to rates that are best at slightly other strengths.
CLOSE_STEP = 0.1
# A wider step locates the minimum more precisely, unless an active bound changes between its
# points. Then the result is farther away than the largest polishing step, and is not used.
WIDE_DIFFERENCE_STEP, MAX_POLISH_STEP = 2e-2, 1e-7
# Changes of the mean objective below this are rounding errors.
ROUNDING = 1e-15
# Differences of the mean objective between scanned rates that make no local minimum, and below
# which two rates are equally good.
LEVEL_TOLERANCE, TIE_TOLERANCE = 1e-12, 1e-14
MAX_STEPS = 60
# On nearly separable rows the quadratic is useless: give up after this many failures or passes.
MAX_FAILURES, MAX_PASSES = 5, 300
# Stricter than for coefficients, because rates are less well determined.
TOLERANCE = 1e-2 * DECREASE_TOLERANCE


def polish_rates(
    make_problem: MakeProblem, n_rates: int, strengths: Strengths, iterate: RateIterate
) -> RateIterate:
    """Improve the last digits of the rates after a search."""
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
    is_close: bool = False,
) -> RateIterate:
    """Minimize over rates and coefficients; ``polish`` improves the last digits of the rates.

    A start that ``is_close`` is next to the best rates: no others are searched.

    Polish only after strengths are chosen: with few rows a tiny change of the rates may lead to
    other strengths.
    """

    def search(begin: RateIterate | None) -> RateIterate:
        if begin is None:
            begin = _fit_middle(make_problem, n_rates, strengths)
            if begin.solution.unbounded:
                # Without a finite optimum at one rate the others are not searched.
                return begin
        search = _RateSearch(make_problem, n_rates, strengths)
        return search.run(begin, polish=polish, is_close=is_close)

    def fit_fixed_targets(begin: RateIterate | None) -> RateIterate:
        return _fit_fixed_targets(make_problem, begin, search)

    if isinstance(make_problem((1.0,) * n_rates).rows, SequenceRows):
        return fit_moving_targets(make_problem, n_rates, strengths, start, fit_fixed_targets)
    return fit_fixed_targets(start)


def _fit_fixed_targets(
    make_problem: MakeProblem,
    start: RateIterate | None,
    search: Callable[[RateIterate | None], RateIterate],
) -> RateIterate:
    iterate = search(start)
    passes = iterate.solution.passes
    while refine(problem := make_problem(iterate.log_rates), iterate.solution, problem.identity):
        misled = is_misled(problem, iterate.solution)
        iterate = search(start if misled else replace(iterate, sums_are_current=False))
        passes += iterate.solution.passes
    return replace(iterate, solution=replace(iterate.solution, passes=passes))


def _fit_middle(make_problem: MakeProblem, n_rates: int, strengths: Strengths) -> RateIterate:
    """Fit at medium rates."""
    middle = (1.0,) * n_rates
    problem = make_problem(middle)
    solution = minimize_newton(problem, strengths, *identity_or_zero(problem))
    return RateIterate(middle, solution, sums_are_current=True)


@dataclass(frozen=True)
class _RatePoint:
    """Rates, coefficients and the objective at them."""

    log_rates: tuple[float, ...]
    theta: Array
    value: float


class _RateSearch:
    """Global search over the rates at given strengths; counts its passes over the rows."""

    def __init__(
        self,
        make_problem: MakeProblem,
        n_rates: int,
        strengths: Strengths,
    ) -> None:
        self.make_problem = make_problem
        self.n_rates = n_rates
        self.strengths = strengths
        self.passes = 0

    def run(
        self, start: RateIterate, *, polish: bool = False, is_close: bool = False
    ) -> RateIterate:
        """Find the rates of the lowest objective and fit at them."""
        if is_close:
            best, quadratic = self._descend_in_rate(start, is_close=True)
        else:
            best, quadratic = self._minimize(start)
            best = self._refine_rates(quadratic, best)
        return self.fit_at(self.polish(quadratic, best) if polish else best, quadratic)

    def _minimize(self, start: RateIterate) -> tuple[_RatePoint, KeyQuadratic]:
        """Search from a start and from every other local minimum.

        Also return the quadratic at the best point.
        """
        best, quadratic = self._descend_in_rate(start)
        other_minima = [] if self.passes >= MAX_PASSES else self._other_minima(quadratic, best)
        for log_rates, theta in other_minima:
            # Fit at the rate of the rival first: so far away the quadratic is inaccurate.
            at = minimize_newton(self.make_problem(log_rates), self.strengths, theta)
            self.passes += at.passes
            rival, trial_quadratic = self._descend_in_rate(
                RateIterate(log_rates, at, sums_are_current=True), is_close=True
            )
            if rival.value < best.value:
                best, quadratic = rival, trial_quadratic
        return best, quadratic

    def expand_around(self, iterate: RateIterate) -> tuple[_RatePoint, KeyQuadratic]:
        """Expand the loss at an iterate, or at the last evaluated point next to it."""
        solution = iterate.solution
        if not iterate.sums_are_current or solution.sums is None or solution.step is None:
            return self._expand(iterate.log_rates, iterate.theta)
        return self._expand(iterate.log_rates, solution.theta - solution.step, solution.sums)

    def _descend_in_rate(
        self, iterate: RateIterate, *, is_close: bool = False
    ) -> tuple[_RatePoint, KeyQuadratic]:
        """Minimize from an iterate; if it is close, stay within one grid step of the rate.

        Also return the last quadratic. Steps are limited by a trust radius in the log rate.
        """
        radius = SPACING if is_close else np.inf
        current, quadratic = self.expand_around(iterate)
        failures = 0
        for _ in range(MAX_STEPS):
            candidate = self._minimize_quadratic(quadratic, current, radius)
            predicted = current.value - candidate.value
            if predicted <= TOLERANCE * quadratic.weight:
                return candidate if predicted > ROUNDING * quadratic.weight else current, quadratic
            trial, trial_quadratic = self._expand(candidate.log_rates, candidate.theta)
            if trial.value <= current.value - 0.1 * predicted:
                current, quadratic = trial, trial_quadratic
                continue
            # The quadratic is inaccurate there: fit at that rate, and if this is no better reduce
            # the trust radius.
            solution = minimize_newton(
                self.make_problem(candidate.log_rates), self.strengths, candidate.theta
            )
            self.passes += solution.passes
            trial, trial_quadratic = self.expand_around(
                RateIterate(candidate.log_rates, solution, sums_are_current=True)
            )
            if trial.value < current.value:
                current, quadratic = trial, trial_quadratic
            else:
                radius, failures = 0.25 * min(radius, FASTEST - SLOWEST), failures + 1
            if failures == MAX_FAILURES or self.passes > MAX_PASSES:
                break
        return current, quadratic

    def fit_at(self, best: _RatePoint, quadratic: KeyQuadratic) -> RateIterate:
        """Fit at given rates."""
        problem = self.make_problem(best.log_rates)
        # So close to its center the quadratic replaces another pass.
        start_sums = quadratic.sums_at(problem.at_keys(best.theta))
        solution = minimize_newton(problem, self.strengths, best.theta, start_sums)
        passes = self.passes + solution.passes
        return RateIterate(best.log_rates, replace(solution, passes=passes), sums_are_current=True)

    def _expand(
        self, log_rates: tuple[float, ...], theta: Array, sums: Sums | None = None
    ) -> tuple[_RatePoint, KeyQuadratic]:
        """Expand the loss, by a pass over the rows unless their sums are known."""
        problem = self.make_problem(log_rates)
        at_keys = problem.at_keys(theta)
        if sums is None:
            sums, self.passes = problem.rows.sums(at_keys), self.passes + 1
        assert sums.hessian is not None
        loss = float(sums.loss.sum())
        offset = theta - problem.identity
        # The same operations as in the quadratic, for the same rounding.
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
        """Minimize the quadratic over rates and coefficients, by coordinate descent in rates."""
        best = current
        for _ in range(self.n_rates):
            for k in range(self.n_rates):
                best = self._minimize_along(quadratic, best, k, current.log_rates[k], radius)
        return best

    def _minimize_along(
        self, quadratic: KeyQuadratic, best: _RatePoint, k: int, center: float, radius: float
    ) -> _RatePoint:
        if radius <= SPACING:
            close = self._step_in_rate(
                quadratic, best, k, spacing=DIFFERENCE_STEP, max_step=CLOSE_STEP
            )
            if close is not best:
                return close
        low, high = max(SLOWEST, center - radius), min(FASTEST, center + radius)
        points = np.unique(np.concatenate([GRID, best.log_rates[k] + NEARBY]).clip(low, high))
        best, bracket = self._best_of(quadratic, best, k, points)
        if bracket.right - bracket.left > BRACKET_WIDTH:
            best, bracket = self._best_of(quadratic, best, k, bracket.refined_grid())
        if bracket.predicted <= ROUNDING * quadratic.weight:
            return best
        return self._best_of(quadratic, best, k, np.array([bracket.center, bracket.vertex]))[0]

    def _refine_rates(self, quadratic: KeyQuadratic, best: _RatePoint) -> _RatePoint:
        """Refine the rates to machine precision on the quadratic."""
        for k in [*range(self.n_rates)] * self.n_rates:
            best = self._step_in_rate(
                quadratic, best, k, spacing=DIFFERENCE_STEP, max_step=DIFFERENCE_STEP
            )
        return best

    def polish(self, quadratic: KeyQuadratic, best: _RatePoint) -> _RatePoint:
        """Take tiny steps with wide finite differences."""
        for k in [*range(self.n_rates)] * self.n_rates:
            best = self._step_in_rate(
                quadratic, best, k, spacing=WIDE_DIFFERENCE_STEP, max_step=MAX_POLISH_STEP
            )
        return best

    def _step_in_rate(
        self, quadratic: KeyQuadratic, best: _RatePoint, k: int, *, spacing: float, max_step: float
    ) -> _RatePoint:
        """Take a Halley step in one rate, with derivatives from five-point finite differences."""
        center = best.log_rates[k]
        points = center + spacing * np.arange(-2.0, 3.0)
        if points[0] < SLOWEST or points[-1] > FASTEST:
            return best
        _, values = self._profile_along(quadratic, best, k, points)
        first = values @ [1.0, -8.0, 0.0, 8.0, -1.0] / (12.0 * spacing)
        second = values @ [-1.0, 16.0, -30.0, 16.0, -1.0] / (12.0 * spacing**2)
        third = values @ [-1.0, 2.0, 0.0, -2.0, 1.0] / (2.0 * spacing**3)
        # A flat profile has no minimum to go to.
        if (
            second * DIFFERENCE_STEP**2 > ROUNDING * quadratic.weight
            and abs(first) < max_step * second
        ):
            new_rate = center - first / max(second - 0.5 * third * first / second, 0.5 * second)
            log_rates = _with_rate(best.log_rates, k, float(new_rate))
            theta, value = self._profile_of(quadratic, self.make_problem(log_rates), best.theta)
            best = _RatePoint(log_rates, theta[0], value[0])
        return best

    def _best_of(
        self, quadratic: KeyQuadratic, best: _RatePoint, k: int, points: Array
    ) -> tuple[_RatePoint, Bracket]:
        thetas, values = self._profile_along(quadratic, best, k, points)
        # Of equally good rates take the first, so that all engines choose the same one.
        lowest = int(np.argmax(values <= values.min() + TIE_TOLERANCE * quadratic.weight))
        found = _RatePoint(
            _with_rate(best.log_rates, k, points[lowest]), thetas[lowest], values[lowest]
        )
        return found, Bracket.around(lowest, points, values)

    def _other_minima(
        self, quadratic: KeyQuadratic, current: _RatePoint
    ) -> list[tuple[tuple[float, ...], Array]]:
        """Return other local minima of the profile over the scanned rates."""
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
        """Minimize the quadratic at several values of one rate; return coefficients and values."""
        problem = self.make_problem([*at.log_rates[:k], points, *at.log_rates[k + 1 :]])
        return self._profile_of(quadratic, problem, at.theta)

    def _profile_of(
        self, quadratic: KeyQuadratic, problem: Problem, theta: Array
    ) -> tuple[Array, Array]:
        """Minimize the quadratic with the bases of a problem, one for each value of a rate."""
        bases = np.asarray(problem.basis, np.float64)
        # One for each rate, along the first axis.
        matrices = problem.penalty_matrix(self.strengths)
        penalty_matrices = matrices if matrices.ndim == 3 else as_matrix(matrices)
        if bases.ndim == 2:
            bases, penalty_matrices = bases[None], penalty_matrices[None]
        return quadratic.minimize(bases, penalty_matrices, theta)


def _with_rate(log_rates: tuple[float, ...], k: int, value: float) -> tuple[float, ...]:
    return (*log_rates[:k], float(value), *log_rates[k + 1 :])


def _local_minima(values: Array, rounding: float) -> NDArray[np.intp]:
    """Return the indices of local minima; of a plateau up to rounding, its first point.

    Very fast rates give nearly the same curve, and so do very slow ones.
    """
    steps = np.diff(values)
    starts = np.concatenate([[0], np.flatnonzero(np.abs(steps) > rounding) + 1])
    level = np.concatenate([[np.inf], values[starts], [np.inf]])
    return starts[(level[1:-1] < level[:-2]) & (level[1:-1] < level[2:])]
