"""Fit curves that are linear only once a rate is given, such as exponentials.

The objective can have several optima in the rate, so that all rates must be looked at, and a fit at
every one of them would take hundreds of passes over the rows. Instead, one pass gives the loss at
the keys up to second order in their coefficients. On that quadratic the best curve at every rate is
small linear algebra, without a look at the rows; the best of all rates is where the next pass goes.
This is Newton's method in the coefficients of the keys. Once it has settled, every rate at which
the quadratic has another dip is fitted as well, and the lowest of them all is the answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.evidence import Shrunk, fit_by_evidence
from tempocal.solve.fitting import SAMPLE_ROWS, fit
from tempocal.solve.newton import TOLERANCE, minimize_newton
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.quadratic import Wanted
from tempocal.solve.separate import bounded_steps

# From logarithms of rates, relative to the range of time, to the problem at them.
MakeProblem = Callable[[tuple[float, ...]], Problem]

SLOWEST, FASTEST = float(np.log(1e-2)), float(np.log(1e3))
# Rates that are looked at; and then, each time closer around the best.
SCAN = 41
CLOSER, TIMES_CLOSER = 9, 3
MAX_STEPS = 60
# Rows that are all but separable leave no quadratic to go by: then enough is enough.
MAX_SETBACKS, MOST_PASSES = 5, 300
# Rounds of rate, strengths, rate; and the change of the log rate at which they are settled.
MAX_ROUNDS = 8
SETTLED = 1e-3


@dataclass(frozen=True)
class Profiled:
    """The best rates, and the fit at them."""

    log_rates: tuple[float, ...]
    shrunk: Shrunk


def fit_profile_by_evidence(
    make: MakeProblem, n_rates: int, groups: Groups | None, wanted: Wanted
) -> Profiled:
    """Fit rates and coefficients, with strengths from the data where none are given."""
    strengths = tuple(1.0 if one is None else one for one in wanted)
    place = fit_profile(make, n_rates, strengths)
    passes, effect = place.solution.passes, None
    for _ in range(MAX_ROUNDS if None in wanted else 0):
        problem = make(place.log_rates)
        chosen = fit_by_evidence(
            problem, groups, wanted, first=strengths, start=place.solution.theta
        )
        strengths, effect, before = chosen.strengths, chosen.design_effect, place.log_rates
        place = fit_profile(
            make, n_rates, strengths, Place(before, chosen.solution.theta, chosen.solution)
        )
        passes += chosen.solution.passes + place.solution.passes
        if np.abs(np.subtract(place.log_rates, before)).max() < SETTLED:
            break
    solution = replace(place.solution, passes=passes)
    return Profiled(place.log_rates, Shrunk(solution, strengths, effect))


@dataclass(frozen=True)
class Place:
    """Rates, coefficients, and the solution there."""

    log_rates: tuple[float, ...]
    theta: Array
    solution: Solution


def fit_profile(
    make: MakeProblem, n_rates: int, strengths: Strengths, start: Place | None = None
) -> Place:
    """Find the rates and the coefficients of least objective."""
    if start is None:
        start = _start(make, n_rates, strengths)
        if start.solution.unbounded:
            # All rows at one rate leave no finite optimum: none is looked for at others.
            return start
    search = _Search(make, n_rates, strengths)
    best, dips = search.descend(start.log_rates, start.theta)
    for log_rates, theta in dips if search.passes < MOST_PASSES else ():
        # A rival is fitted at its own rate first, for the quadratic is not to be trusted so far.
        at = minimize_newton(search.make(log_rates), strengths, theta)
        search.passes += at.passes
        rival, _ = search.descend(log_rates, at.theta, near=True)
        if rival.value < best.value:
            best = rival
    solution = minimize_newton(search.make(best.log_rates), strengths, best.theta)
    total = search.passes + solution.passes
    return Place(best.log_rates, solution.theta, replace(solution, passes=total))


def _start(make: MakeProblem, n_rates: int, strengths: Strengths) -> Place:
    """Fit a sample of the rows; where that is no help, all of them at a middling rate."""
    middle = (1.0,) * n_rates
    small, share = make(middle).thinned(SAMPLE_ROWS)
    if share <= 0.25:

        def make_small(log_rates: tuple[float, ...]) -> Problem:
            return replace(make(log_rates), rows=small.rows, steady=small.steady)

        place = fit_profile(make_small, n_rates, tuple(share * s for s in strengths))
        if not place.solution.unbounded:
            return place
    solution = fit(make(middle), strengths)
    return Place(middle, solution.theta, solution)


@dataclass(frozen=True)
class _At:
    """Rates and coefficients, with the objective there."""

    log_rates: tuple[float, ...]
    theta: Array
    value: float


@dataclass(frozen=True)
class _Quadratic:
    """The loss at the keys up to second order around coefficients at every key."""

    center: Array  # (keys, width)
    loss: float
    gradient: Array  # (keys, width)
    hessian: Array  # (keys, width, width)

    def best(self, problems: list[Problem], pulls: Array, theta: Array) -> tuple[Array, Array]:
        """Coefficients of least objective for several bases, from ``theta``, and its value."""
        first = problems[0]
        # (bases, keys, functions)
        bases = np.stack([problem.basis for problem in problems]).astype(np.float64)
        offset = theta - first.identity
        at_keys = np.einsum("rtm,mp->rtp", bases, theta.reshape(bases.shape[2], -1))
        away = at_keys - self.center
        curved = np.einsum("tpq,rtq->rtp", self.hessian, away)
        value = self.loss + np.einsum("rtp,tp->r", away, self.gradient)
        value += 0.5 * np.einsum("rtp,rtp->r", away, curved)
        pulled = pulls @ offset
        value += 0.5 * pulled @ offset
        gradient = np.einsum("rtm,rtp->rmp", bases, self.gradient + curved)
        gradient = gradient.reshape(len(bases), -1) + pulled
        hessian = _gather(bases, self.hessian) + pulls
        start = np.broadcast_to(theta, gradient.shape)
        step = bounded_steps(start, gradient, hessian, first.lower, np.zeros(len(bases)))
        value += np.einsum("rn,rn->r", gradient, step)
        value += 0.5 * np.einsum("rn,rnk,rk->r", step, hessian, step)
        return theta + step, value


def _gather(bases: Array, hessian: Array) -> Array:
    """Hessians in the coefficients of several bases, from those at the keys."""
    n_bases, keys, count = bases.shape
    width = hessian.shape[1]
    pairs = (bases[:, :, :, None] * bases[:, :, None, :]).transpose(0, 2, 3, 1)
    square = pairs.reshape(-1, keys) @ hessian.reshape(keys, -1)
    blocks = square.reshape(n_bases, count, count, width, width).transpose(0, 1, 3, 2, 4)
    return blocks.reshape(n_bases, count * width, count * width)


class _Search:
    """A search over all rates, at given strengths."""

    def __init__(self, make: MakeProblem, n_rates: int, strengths: Strengths) -> None:
        self.make = make
        self.n_rates = n_rates
        self.strengths = strengths
        self.passes = 0
        self._pulls: dict[tuple[float, ...], Array] = {}
        self.grid = np.linspace(SLOWEST, FASTEST, SCAN)

    def descend(
        self, log_rates: tuple[float, ...], theta: Array, *, near: bool = False
    ) -> tuple[_At, list[tuple[tuple[float, ...], Array]]]:
        """Go down from a place; ``near`` keeps to the dip that it is in.

        Also return the other dips of the last quadratic.
        """
        radius = self.grid[1] - self.grid[0] if near else np.inf
        here, quadratic = self._look(log_rates, theta)
        setbacks = 0
        for _ in range(MAX_STEPS):
            there = self._lowest(quadratic, here, radius)
            promised = here.value - there.value
            if promised <= TOLERANCE * self.make(here.log_rates).rows.total_weight:
                break
            trial, its_quadratic = self._look(there.log_rates, there.theta)
            if trial.value <= here.value - 0.1 * promised:
                here, quadratic = trial, its_quadratic
                continue
            # The quadratic led too far: fit at its rate, and if that is no better keep closer.
            solution = minimize_newton(self.make(there.log_rates), self.strengths, there.theta)
            self.passes += solution.passes
            trial, its_quadratic = self._look(there.log_rates, solution.theta)
            if trial.value < here.value:
                here, quadratic = trial, its_quadratic
            else:
                radius, setbacks = 0.25 * min(radius, FASTEST - SLOWEST), setbacks + 1
            if setbacks == MAX_SETBACKS or self.passes > MOST_PASSES:
                break
        return here, [] if near else self._dips(quadratic, here)

    def _look(self, log_rates: tuple[float, ...], theta: Array) -> tuple[_At, _Quadratic]:
        """Make a pass over the rows."""
        problem = self.make(log_rates)
        at_keys = problem.at_keys(theta)
        sums = problem.rows.sums(at_keys)
        assert sums.hessian is not None
        self.passes += 1
        loss = float(sums.loss.sum())
        offset = theta - problem.identity
        penalty = 0.5 * float(offset @ self._pull(log_rates) @ offset)
        here = _At(log_rates, theta, loss + penalty)
        return here, _Quadratic(at_keys, loss, sums.gradient, sums.hessian)

    def _lowest(self, quadratic: _Quadratic, here: _At, radius: float) -> _At:
        """Lowest place of the quadratic, going over the rates one after the other."""
        best = here
        for _ in range(self.n_rates):
            for k in range(self.n_rates):
                best = self._lowest_along(quadratic, best, k, here.log_rates[k], radius)
        return best

    def _lowest_along(
        self, quadratic: _Quadratic, best: _At, k: int, center: float, radius: float
    ) -> _At:
        low, high = max(SLOWEST, center - radius), min(FASTEST, center + radius)
        points = self.grid[(self.grid >= low) & (self.grid <= high)]
        points = np.unique(np.concatenate([points, [low, high, best.log_rates[k]]]))
        for _ in range(TIMES_CLOSER + 1):
            best = self._best_of(quadratic, best, k, points)
            spot = int(np.searchsorted(points, best.log_rates[k]))
            left, right = points[max(spot - 1, 0)], points[min(spot + 1, len(points) - 1)]
            points = np.linspace(left, right, CLOSER)
            points[CLOSER // 2] = best.log_rates[k]
            points.sort()
        return best

    def _best_of(self, quadratic: _Quadratic, best: _At, k: int, points: Array) -> _At:
        thetas, values = self._along(quadratic, best, k, points)
        lowest = int(np.argmin(values))
        return _At(_with(best.log_rates, k, points[lowest]), thetas[lowest], values[lowest])

    def _dips(self, quadratic: _Quadratic, here: _At) -> list[tuple[tuple[float, ...], Array]]:
        """Other local minima over the scanned rates."""
        found = []
        spacing = self.grid[1] - self.grid[0]
        for k in range(self.n_rates):
            thetas, values = self._along(quadratic, here, k, self.grid)
            padded = np.concatenate([[np.inf], values, [np.inf]])
            is_dip = (values <= padded[:-2]) & (values <= padded[2:])
            is_dip &= np.abs(self.grid - here.log_rates[k]) > spacing
            found += [
                (_with(here.log_rates, k, self.grid[spot]), thetas[spot])
                for spot in np.flatnonzero(is_dip)
            ]
        return found

    def _along(self, quadratic: _Quadratic, at: _At, k: int, points: Array) -> tuple[Array, Array]:
        places = [_with(at.log_rates, k, point) for point in points]
        pulls = np.stack([self._pull(place) for place in places])
        return quadratic.best([self.make(place) for place in places], pulls, at.theta)

    def _pull(self, log_rates: tuple[float, ...]) -> Array:
        if log_rates not in self._pulls:
            self._pulls[log_rates] = as_matrix(self.make(log_rates).pull(self.strengths))
        return self._pulls[log_rates]


def _with(log_rates: tuple[float, ...], k: int, value: float) -> tuple[float, ...]:
    return (*log_rates[:k], float(value), *log_rates[k + 1 :])
