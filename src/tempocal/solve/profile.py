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
from tempocal.solve.evidence import Shrunk, fit_by_evidence
from tempocal.solve.minimize import LARGEST_SHARE, SAMPLE_ROWS, fit, identity_or_zero, known_at
from tempocal.solve.newton import LAST_STEP, descend_newton
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.quadratic import Wanted
from tempocal.solve.rate_search import Bracket, KeyQuadratic

# Logarithms of rates, relative to the range of time, and the problem at them. Where one is an
# array, the basis and the pulls have a first axis for it.
LogRates = Sequence[float | Array]
MakeProblem = Callable[[LogRates], Problem]

SLOWEST, FASTEST = float(np.log(1e-2)), float(np.log(1e3))
# Rates that are looked at; then the lowest is closed in on, until this close.
GRID = np.linspace(SLOWEST, FASTEST, 41)
SPACING = float(GRID[1] - GRID[0])
CLOSE = 0.05
# Most steps are small: these save closing in.
NEARBY = np.array([-0.02, -0.005, -0.001, 0.0, 0.001, 0.005, 0.02])
# Distance of the points from which derivatives by a rate are taken.
APART = 2e-3
# Points further apart say more of where the lowest place is, unless bounds make the objective bend
# between them: then they lead further than a tiny step.
WIDE_APART, TINY_STEP = 2e-2, 1e-7
# Changes of the mean objective that are rounding errors.
ROUNDING = 1e-15
# Calibrated logits of this size are beyond all that any row can ask for.
FAR_BEYOND = 1e9
# Of scanned rates, changes of it that make no dip, and none lower than another.
LEVEL, NO_LOWER = 1e-12, 1e-14
MAX_STEPS = 60
# Rows that are all but separable leave no quadratic to go by: then enough is enough.
MAX_SETBACKS, MOST_PASSES = 5, 300
# Rounds of rate, strengths, rate; and the change of the log rate at which they are settled.
MAX_ROUNDS = 8
SETTLED = 1e-3
# The last step of a search may promise this much less than that of a fit, for rates are less well
# determined than coefficients; on rows that stand for others it may promise more.
LAST_STEP_OF_RATES, LAST_STEP_OF_FEW = 1e-2 * LAST_STEP, 1e2 * LAST_STEP


@dataclass(frozen=True)
class Profiled:
    """The best rates, and the fit at them."""

    log_rates: tuple[float, ...]
    shrunk: Shrunk


def fit_profile_by_evidence(
    make: MakeProblem, n_rates: int, groups: Groups | None, wanted: Wanted
) -> Profiled:
    """Fit rates and coefficients, with strengths from the data where none are given."""
    # On their way to no end, coefficients may come to what a double cannot hold.
    with np.errstate(over="ignore", invalid="ignore"):
        found = _fit_by_evidence(make, n_rates, groups, wanted)
        solution = _within_reason(make(found.log_rates), found.shrunk.solution)
    return replace(found, shrunk=replace(found.shrunk, solution=solution))


def _within_reason(problem: Problem, solution: Solution) -> Solution:
    """Tell slopes that leave no doubt about any row at some time, and have no end to go to.

    A fast rate can let a curve run away where no row objects, and hold it where one does.
    """
    at_keys = problem.at_keys(solution.theta)
    is_slope = problem.at_keys(problem.identity) != 0.0
    far = ~(np.abs(at_keys) <= FAR_BEYOND) & is_slope
    if solution.unbounded or not far.any():
        return solution
    # Logits may be tiny, and their slopes large.
    far &= ~(np.abs(at_keys) * np.sqrt(problem.rows.squares) <= FAR_BEYOND)
    where = far.any(axis=1)
    return replace(solution, unbounded=bool(where.any()), where_unbounded=where)


def _fit_by_evidence(
    make: MakeProblem, n_rates: int, groups: Groups | None, wanted: Wanted
) -> Profiled:
    strengths = tuple(1.0 if one is None else one for one in wanted)
    are_given = None not in wanted
    place = fit_profile(make, n_rates, strengths, polish=are_given)
    passes, effect = place.solution.passes, None
    for _ in range(0 if are_given else MAX_ROUNDS):
        problem = make(place.log_rates)
        chosen = fit_by_evidence(
            problem, groups, wanted, first=strengths, start=place.solution.theta
        )
        strengths, effect, before = chosen.strengths, chosen.design_effect, place.log_rates
        place = fit_profile(make, n_rates, strengths, Place(before, chosen.solution, seen=True))
        passes += chosen.solution.passes + place.solution.passes
        if np.abs(np.subtract(place.log_rates, before)).max() < SETTLED:
            break
    if not are_given and not place.solution.unbounded:
        place = _polished(make, n_rates, strengths, place)
        passes += place.solution.passes
    solution = replace(place.solution, passes=passes)
    return Profiled(place.log_rates, Shrunk(solution, strengths, effect))


@dataclass(frozen=True)
class Place:
    """Rates and the solution there; ``seen`` if its sums are those of the rows as they are now."""

    log_rates: tuple[float, ...]
    solution: Solution
    seen: bool = False

    @property
    def theta(self) -> Array:
        """The coefficients."""
        return self.solution.theta


def _polished(make: MakeProblem, n_rates: int, strengths: Strengths, place: Place) -> Place:
    """Settle the last digits of the rates, where a search has ended."""
    search = _Search(make, n_rates, strengths)
    here, quadratic = search.begin(place)
    best = search.polish(quadratic, here)
    if best.log_rates == place.log_rates:
        return replace(place, solution=replace(place.solution, passes=search.passes))
    return search.end(best, quadratic)


def fit_profile(
    make: MakeProblem,
    n_rates: int,
    strengths: Strengths,
    start: Place | None = None,
    *,
    polish: bool = False,
) -> Place:
    """Find the rates and the coefficients of least objective; ``polish`` settles the last digits.

    Only at the very end: where strengths follow from the rates, the least change of these may lead
    to others on few rows.
    """
    near = False
    if start is None:
        start, near = _start(make, n_rates, strengths)
        if start.solution.unbounded:
            # All rows at one rate leave no finite optimum: none is looked for at others.
            return start
    place = _Search(make, n_rates, strengths).place(start, near=near, polish=polish)
    while _sharpen(make(place.log_rates), place):
        place = replace(place, seen=False)
        again = _Search(make, n_rates, strengths).place(place, polish=polish)
        passes = place.solution.passes + again.solution.passes
        place = replace(again, solution=replace(again.solution, passes=passes))
    return place


def _sharpen(problem: Problem, place: Place) -> bool:
    """Look closer at the rows where the search has ended."""
    solution = place.solution
    return not solution.unbounded and problem.rows.sharpen(problem.at_keys(solution.theta))


def _start(make: MakeProblem, n_rates: int, strengths: Strengths) -> tuple[Place, bool]:
    """Fit few rows that stand for all, or a sample of them; else all of them at a middling rate.

    Also tell if the place is the best of all rates already, but for its last digits: rows that
    stand for all have the same dips.
    """
    middle = (1.0,) * n_rates
    problem = make(middle)
    few = problem.condensed()
    if few is not None:
        place = _fit_few(make, n_rates, strengths, few)
        if not place.solution.unbounded:
            return place, True
    small, share = problem.thinned(SAMPLE_ROWS)
    if share <= LARGEST_SHARE:

        def make_small(log_rates: LogRates) -> Problem:
            return replace(make(log_rates), rows=small.rows, steady=small.steady)

        place = fit_profile(make_small, n_rates, tuple(share * s for s in strengths))
        if not place.solution.unbounded:
            return replace(place, seen=False), False
    return Place(middle, fit(problem, strengths), seen=True), False


def _fit_few(make: MakeProblem, n_rates: int, strengths: Strengths, few: Problem) -> Place:
    """Fit few rows that stand for many: to the last digit but one, for a search is to follow."""

    def make_few(log_rates: LogRates) -> Problem:
        return replace(make(log_rates), rows=few.rows)

    near = identity_or_zero(few)
    known, last_step = known_at(few, near), LAST_STEP_OF_FEW
    solution = descend_newton(few, strengths, near, known, last_step=last_step)
    start = Place((1.0,) * n_rates, solution, seen=True)
    if solution.unbounded:
        return start
    best, _ = _Search(make_few, n_rates, strengths, last_step).lowest(start)
    return Place(best.log_rates, replace(solution, theta=best.theta))


@dataclass(frozen=True)
class _At:
    """Rates and coefficients, with the objective there."""

    log_rates: tuple[float, ...]
    theta: Array
    value: float


class _Search:
    """A search over all rates, at given strengths."""

    def __init__(
        self,
        make: MakeProblem,
        n_rates: int,
        strengths: Strengths,
        last_step: float = LAST_STEP_OF_RATES,
    ) -> None:
        self.make = make
        self.n_rates = n_rates
        self.strengths = strengths
        self.last_step = last_step
        self.passes = 0

    def place(self, start: Place, *, near: bool = False, polish: bool = False) -> Place:
        """Return the place of least objective."""
        best, quadratic = self.lowest(start, near=near)
        best = self._closest(quadratic, best)
        return self.end(self.polish(quadratic, best) if polish else best, quadratic)

    def lowest(self, start: Place, *, near: bool = False) -> tuple[_At, KeyQuadratic]:
        """Search from a place, and, unless it is ``near``, from every other that may be as good.

        Also return the quadratic there.
        """
        best, quadratic = self._descend(start, near=near)
        dips = [] if near or self.passes >= MOST_PASSES else self._dips(quadratic, best)
        for log_rates, theta in dips:
            # A rival is fitted at its own rate first: the quadratic is not to be trusted so far.
            at = descend_newton(self.make(log_rates), self.strengths, theta)
            self.passes += at.passes
            rival, its_quadratic = self._descend(Place(log_rates, at, seen=True), near=True)
            if rival.value < best.value:
                best, quadratic = rival, its_quadratic
        return best, quadratic

    def begin(self, place: Place) -> tuple[_At, KeyQuadratic]:
        """Return the quadratic at a place, or at the last point next to it that was seen."""
        solution = place.solution
        if not place.seen or solution.sums is None or solution.step is None:
            return self._look(place.log_rates, place.theta)
        return self._look(place.log_rates, solution.theta - solution.step, solution.sums)

    def _descend(self, place: Place, *, near: bool = False) -> tuple[_At, KeyQuadratic]:
        """Go down from a place; ``near`` keeps to the dip that it is in.

        Also return the last quadratic.
        """
        radius = SPACING if near else np.inf
        here, quadratic = self.begin(place)
        setbacks = 0
        for _ in range(MAX_STEPS):
            there = self._ahead(quadratic, here, radius)
            promised = here.value - there.value
            if promised <= self.last_step * quadratic.weight:
                return there if promised > ROUNDING * quadratic.weight else here, quadratic
            trial, its_quadratic = self._look(there.log_rates, there.theta)
            if trial.value <= here.value - 0.1 * promised:
                here, quadratic = trial, its_quadratic
                continue
            # The quadratic led too far: fit at its rate, and if that is no better keep closer.
            solution = descend_newton(self.make(there.log_rates), self.strengths, there.theta)
            self.passes += solution.passes
            trial, its_quadratic = self.begin(Place(there.log_rates, solution, seen=True))
            if trial.value < here.value:
                here, quadratic = trial, its_quadratic
            else:
                radius, setbacks = 0.25 * min(radius, FASTEST - SLOWEST), setbacks + 1
            if setbacks == MAX_SETBACKS or self.passes > MOST_PASSES:
                break
        return here, quadratic

    def end(self, best: _At, quadratic: KeyQuadratic) -> Place:
        """Fit at the rates that were found."""
        problem = self.make(best.log_rates)
        # So close by, the quadratic is as good as another pass.
        known = quadratic.sums_at(problem.at_keys(best.theta))
        solution = descend_newton(problem, self.strengths, best.theta, known)
        passes = self.passes + solution.passes
        return Place(best.log_rates, replace(solution, passes=passes), seen=True)

    def _look(
        self, log_rates: tuple[float, ...], theta: Array, sums: Sums | None = None
    ) -> tuple[_At, KeyQuadratic]:
        """Make a pass over the rows, unless the sums over them are known."""
        problem = self.make(log_rates)
        at_keys = problem.at_keys(theta)
        if sums is None:
            sums, self.passes = problem.rows.sums(at_keys), self.passes + 1
        assert sums.hessian is not None
        loss = float(sums.loss.sum())
        offset = theta - problem.identity
        # As in the quadratic, to the last digit.
        penalty = 0.5 * float(offset @ as_matrix(problem.pull(self.strengths)) @ offset)
        return _At(log_rates, theta, loss + penalty), KeyQuadratic(
            center=at_keys,
            loss=loss,
            sums=sums,
            identity=problem.identity,
            lower=problem.lower,
            weight=problem.rows.total_weight,
        )

    def _ahead(self, quadratic: KeyQuadratic, here: _At, radius: float) -> _At:
        """Lowest place of the quadratic, going over the rates one after the other."""
        best = here
        for _ in range(self.n_rates):
            for k in range(self.n_rates):
                best = self._ahead_along(quadratic, best, k, here.log_rates[k], radius)
        return best

    def _ahead_along(
        self, quadratic: KeyQuadratic, best: _At, k: int, center: float, radius: float
    ) -> _At:
        low, high = max(SLOWEST, center - radius), min(FASTEST, center + radius)
        points = np.unique(np.concatenate([GRID, best.log_rates[k] + NEARBY]).clip(low, high))
        best, around = self._best_of(quadratic, best, k, points)
        if around.right - around.left > CLOSE:
            best, around = self._best_of(quadratic, best, k, around.closer())
        if around.promised <= ROUNDING * quadratic.weight:
            return best
        return self._best_of(quadratic, best, k, np.array([around.center, around.vertex]))[0]

    def _closest(self, quadratic: KeyQuadratic, best: _At) -> _At:
        """Rates of the lowest place of the quadratic, to as many digits as there are."""
        for k in [*range(self.n_rates)] * self.n_rates:
            best = self._step(quadratic, best, k, apart=APART, most=APART)
        return best

    def polish(self, quadratic: KeyQuadratic, best: _At) -> _At:
        """Take tiny steps by points that are far apart."""
        for k in [*range(self.n_rates)] * self.n_rates:
            best = self._step(quadratic, best, k, apart=WIDE_APART, most=TINY_STEP)
        return best

    def _step(
        self, quadratic: KeyQuadratic, best: _At, k: int, *, apart: float, most: float
    ) -> _At:
        """Go to the lowest place along a rate, by derivatives from five points."""
        center = best.log_rates[k]
        points = center + apart * np.arange(-2.0, 3.0)
        if points[0] < SLOWEST or points[-1] > FASTEST:
            return best
        _, values = self._along(quadratic, best, k, points)
        slope = values @ [1.0, -8.0, 0.0, 8.0, -1.0] / (12.0 * apart)
        bend = values @ [-1.0, 16.0, -30.0, 16.0, -1.0] / (12.0 * apart**2)
        turn = values @ [-1.0, 2.0, 0.0, -2.0, 1.0] / (2.0 * apart**3)
        # Where all rates are as good, one is as good as the next.
        if bend * APART**2 > ROUNDING * quadratic.weight and abs(slope) < most * bend:
            further = center - slope / max(bend - 0.5 * turn * slope / bend, 0.5 * bend)
            best, _ = self._best_of(quadratic, best, k, np.array([further]))
        return best

    def _best_of(
        self, quadratic: KeyQuadratic, best: _At, k: int, points: Array
    ) -> tuple[_At, Bracket]:
        thetas, values = self._along(quadratic, best, k, points)
        # Of rates that are as good but for rounding, the first: so it is the same for all engines.
        lowest = int(np.argmax(values <= values.min() + NO_LOWER * quadratic.weight))
        found = _At(_with(best.log_rates, k, points[lowest]), thetas[lowest], values[lowest])
        return found, Bracket.around(lowest, points, values)

    def _dips(self, quadratic: KeyQuadratic, here: _At) -> list[tuple[tuple[float, ...], Array]]:
        """Other local minima over the scanned rates."""
        found = []
        for k in range(self.n_rates):
            thetas, values = self._along(quadratic, here, k, GRID)
            spots = _lows(values, LEVEL * quadratic.weight)
            found += [
                (_with(here.log_rates, k, GRID[spot]), thetas[spot])
                for spot in spots[np.abs(GRID[spots] - here.log_rates[k]) > SPACING]
            ]
        return found

    def _along(
        self, quadratic: KeyQuadratic, at: _At, k: int, points: Array
    ) -> tuple[Array, Array]:
        """Coefficients of least objective at several values of a rate, and these."""
        problem = self.make([*at.log_rates[:k], points, *at.log_rates[k + 1 :]])
        pulls = as_matrix(problem.pull(self.strengths))
        return quadratic.best(np.asarray(problem.basis, np.float64), pulls, at.theta)


def _with(log_rates: tuple[float, ...], k: int, value: float) -> tuple[float, ...]:
    return (*log_rates[:k], float(value), *log_rates[k + 1 :])


def _lows(values: Array, rounding: float) -> NDArray[np.intp]:
    """Positions of local minima, and the first of those that are level but for rounding errors.

    Fast rates are all but the same curve, and so are slow ones.
    """
    steps = np.diff(values)
    starts = np.concatenate([[0], np.flatnonzero(np.abs(steps) > rounding) + 1])
    level = np.concatenate([[np.inf], values[starts], [np.inf]])
    return starts[(level[1:-1] < level[:-2]) & (level[1:-1] < level[2:])]
