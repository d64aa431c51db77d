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
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import SequenceRows, Sums
from tempocal.solve.estimating import with_information
from tempocal.solve.estimating_rates import FASTEST, SLOWEST, EstimatingRates, MakeProblem
from tempocal.solve.evidence import RegularizedFit, fit_by_evidence
from tempocal.solve.laplace import FixedStrengths
from tempocal.solve.minimize import identity_or_zero, is_misled, refine
from tempocal.solve.moving_targets import TOLERANCE as TARGET_TOLERANCE
from tempocal.solve.moving_targets import CenterSearch
from tempocal.solve.newton import DECREASE_TOLERANCE, minimize_newton
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.rate_search import Bracket, KeyQuadratic

# Log rates that are scanned. The best one is bracketed down to BRACKET_WIDTH.
GRID = np.linspace(SLOWEST, FASTEST, 41)
SPACING = float(GRID[1] - GRID[0])
BRACKET_WIDTH = 0.05
# Points next to the current rate: most steps are small, and these save bracketing.
NEARBY = np.array([-0.02, -0.005, -0.001, 0.0, 0.001, 0.005, 0.02])
# Step of the finite differences in a log rate.
DIFFERENCE_STEP = 2e-3
# A wider step locates the minimum more precisely, unless an active bound changes between its
# points. Then the result is farther away than the largest polishing step, and is not used.
WIDE_DIFFERENCE_STEP, MAX_POLISH_STEP = 2e-2, 1e-7
# Changes of the mean objective below this are rounding errors.
ROUNDING = 1e-15
# Calibrated logits larger than this mean that the fit diverges.
MAX_LOGIT = 1e9
# Differences of the mean objective between scanned rates that make no local minimum, and below
# which two rates are equally good.
LEVEL_TOLERANCE, TIE_TOLERANCE = 1e-12, 1e-14
MAX_STEPS = 60
# On nearly separable rows the quadratic is useless: give up after this many failures or passes.
MAX_FAILURES, MAX_PASSES = 5, 300
# Alternations between strengths and rates, and the change of the log rate at convergence.
MAX_ROUNDS = 8
RATE_TOLERANCE = 3e-4
# Change of the log rate below which it was visited before.
VISITED_TOLERANCE = 0.05
# Stricter than for coefficients, because rates are less well determined.
TOLERANCE = 1e-2 * DECREASE_TOLERANCE


@dataclass(frozen=True)
class ProfileFit:
    """The best rates and the fit at them."""

    log_rates: tuple[float, ...]
    result: RegularizedFit


def fit_profile_by_evidence(
    make_problem: MakeProblem, n_rates: int, groups: Groups | None, fixed_strengths: FixedStrengths
) -> ProfileFit:
    """Fit rates and coefficients, with strengths of maximum evidence unless they are fixed."""
    # Diverging coefficients may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        found = _fit_by_evidence(make_problem, n_rates, groups, fixed_strengths)
        problem, strengths = make_problem(found.log_rates), found.result.strengths
        solution = with_information(problem, strengths, found.result.solution)
        solution = _check_slopes(problem, solution)
    return replace(found, result=replace(found.result, solution=solution))


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
) -> ProfileFit:
    strengths = tuple(1.0 if one is None else one for one in fixed_strengths)
    all_fixed = None not in fixed_strengths
    iterate = fit_profile(make_problem, n_rates, strengths, polish=all_fixed)
    passes, effects, visited = iterate.solution.passes, None, []
    for _ in range(0 if all_fixed else MAX_ROUNDS):
        problem = make_problem(iterate.log_rates)
        chosen = fit_by_evidence(
            problem,
            groups,
            fixed_strengths,
            start_strengths=strengths,
            start=iterate.solution.theta,
        )
        strengths, effects, before = chosen.strengths, chosen.effects, iterate.log_rates
        iterate = fit_profile(
            make_problem,
            n_rates,
            strengths,
            RateIterate(before, chosen.solution, sums_are_current=True),
        )
        passes += chosen.solution.passes + iterate.solution.passes
        if np.abs(np.subtract(iterate.log_rates, before)).max() < RATE_TOLERANCE:
            break
        # Where rows learn from forecasts that tell little of the rate, it may go around in circles.
        visited.append(before)
        if isinstance(problem.rows, SequenceRows) and _is_among(iterate.log_rates, visited[:-1]):
            break
    if not all_fixed and not iterate.solution.unbounded:
        iterate = _polish(make_problem, n_rates, strengths, iterate)
        passes += iterate.solution.passes
    solution = replace(iterate.solution, passes=passes)
    return ProfileFit(iterate.log_rates, RegularizedFit(solution, strengths, effects))


def _is_among(log_rates: tuple[float, ...], visited: list[tuple[float, ...]]) -> bool:
    near = [np.abs(np.subtract(log_rates, one)).max() < VISITED_TOLERANCE for one in visited]
    return any(near)


@dataclass(frozen=True)
class RateIterate:
    """Rates and the solution at them.

    ``sums_are_current`` says that the rows were not refined since the sums of the solution.
    """

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
) -> RateIterate:
    """Minimize over rates and coefficients; ``polish`` improves the last digits of the rates.

    Polish only after strengths are chosen: with few rows a tiny change of the rates may lead to
    other strengths.
    """

    def search(begin: RateIterate | None) -> RateIterate:
        if begin is None:
            begin = _fit_middle(make_problem, n_rates, strengths)
            if begin.solution.unbounded:
                # Without a finite optimum at one rate the others are not searched.
                return begin
        return _RateSearch(make_problem, n_rates, strengths).run(begin, polish=polish)

    if isinstance(make_problem((1.0,) * n_rates).rows, SequenceRows):
        return _fit_moving_targets(make_problem, n_rates, strengths, start, search)
    return _fit_fixed_targets(make_problem, start, search)


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


def _fit_moving_targets(
    make_problem: MakeProblem,
    n_rates: int,
    strengths: Strengths,
    start: RateIterate | None,
    search: Callable[[RateIterate | None], RateIterate],
) -> RateIterate:
    """Find the root of the estimating function, in coefficients and rates."""
    middle = make_problem((1.0,) * n_rates)
    rows, lower = middle.rows, np.append(middle.lower, [SLOWEST] * n_rates)
    assert isinstance(rows, SequenceRows)
    if start is None:
        center = np.append(identity_or_zero(middle)[0], (1.0,) * n_rates)
    else:
        center = np.append(start.theta, start.log_rates)
    estimating = EstimatingRates(make_problem, n_rates, strengths)
    centers = CenterSearch(rows, estimating.scaled, estimating.jacobian, is_long=estimating.is_long)
    passes = 0
    while True:
        at_keys = estimating.move_to(center)
        rows.move_to(at_keys, within=TARGET_TOLERANCE)
        begin = None if start is None else replace(start, sums_are_current=False)
        start = _fit_fixed_targets(make_problem, begin, search)
        passes += start.solution.passes
        change = np.append(start.theta, start.log_rates) - center
        failed = start.solution.unbounded or not start.solution.converged
        if failed or centers.is_found(change, rows.distance(at_keys)):
            break
        tangent = partial(estimating.tangent, start.log_rates, start.solution)
        center = np.maximum(centers.next_center(center, change, tangent), lower)
        center[-n_rates:] = np.minimum(center[-n_rates:], FASTEST)
    return replace(start, solution=replace(start.solution, passes=passes))


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

    def run(self, start: RateIterate, *, polish: bool = False) -> RateIterate:
        """Find the rates of the lowest objective and fit at them."""
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
            best, _ = self._best_of(quadratic, best, k, np.array([new_rate]))
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
        # One for each rate, along the first axis.
        matrices = problem.penalty_matrix(self.strengths)
        penalty_matrices = matrices if matrices.ndim == 3 else as_matrix(matrices)
        return quadratic.minimize(np.asarray(problem.basis, np.float64), penalty_matrices, at.theta)


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
