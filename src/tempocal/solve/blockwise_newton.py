"""Newton's method for many small problems at once: one for each key, none tied to another.

Every key has its own damping and its own end, as if it were fitted alone; but a pass over the rows
serves all of them. What is accepted, when to stop and what has no limit is as in `newton.py`, whose
reasons hold here.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.solve.linear_systems import solve_blocks
from tempocal.solve.minimize import LARGEST_SHARE, SAMPLE_ROWS, as_scaled, fit, is_better
from tempocal.solve.newton import (
    FAR,
    LAST_STEP,
    LEAST_DAMPING,
    MAX_PASSES,
    NOTHING,
    RUNAWAY,
    TINY,
    may_run,
)
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

Mask = NDArray[np.bool_]
# Rows of a key in a sample that tell where to start.
ENOUGH_ROWS = 100


def fit_separately(problem: Problem, strengths: Strengths, start: Array | None = None) -> Solution:
    """Minimize the penalized loss of each key by itself; every pull must be a diagonal one."""
    start = _start(problem, strengths) if start is None else start
    solution = _descend(problem, strengths, start, start)
    while not solution.unbounded and problem.rows.sharpen(problem.at_keys(solution.theta)):
        again = _descend(problem, strengths, solution.theta, start)
        solution = replace(again, passes=solution.passes + again.passes)
    return solution


def _descend(problem: Problem, strengths: Strengths, start: Array, origin: Array) -> Solution:
    """Minimize by what is known of the rows; ``origin`` is where it all began."""
    newton = _Separate(problem, problem.pull(strengths))
    theta = start.reshape(newton.shape)
    beginning = np.linalg.norm(np.maximum(origin.reshape(newton.shape), newton.lower), axis=1)
    last = newton.descend(np.maximum(theta, newton.lower), beginning)
    theta = np.maximum(last.point.theta + last.step, newton.lower)
    hessian = last.point.hessian - newton.pull[:, :, None] * np.eye(newton.shape[1])
    offset = theta - newton.identity
    promised = newton.promise(last.point, last.step)
    gone = last.unbounded | newton.fall_for_ever(theta, hessian)
    gone &= ~(newton.have_end(theta, gone) & (promised <= LAST_STEP * newton.weights))
    penalty = 0.5 * (newton.pull * offset**2).sum()
    slope = last.point.gradient + np.einsum("tpq,tq->tp", last.point.hessian, last.step)
    return Solution(
        theta=theta.ravel(),
        loss=float(last.point.value.sum() - promised.sum() - penalty),
        hessian=hessian,
        gradient=slope.ravel(),
        passes=last.passes,
        converged=bool(last.ended.all()),
        unbounded=bool(gone.any()),
        where_unbounded=gone,
    )


def _start(problem: Problem, strengths: Strengths) -> Array:
    """Start from the identity or zero; of many rows, from a fit of few that stand for them."""
    close = problem.descend(strengths)
    if close is not None:
        return close
    few = problem.condensed()
    if few is not None:
        near = _identity_or_zero(few)
        return _where_bounded(fit_separately(few, strengths, near), near, few)
    small, share = problem.thinned(SAMPLE_ROWS)
    weaker = tuple(share * s for s in strengths)
    together = fit(_tied(small), weaker) if share <= LARGEST_SHARE else None
    if together is None or together.unbounded:
        return _identity_or_zero(problem)
    known = np.repeat(problem.rows.key_weights > 0, problem.rows.n_coefficients)
    theta = np.where(known, np.tile(together.theta, problem.rows.n_keys), problem.identity)
    if ENOUGH_ROWS * problem.rows.n_keys > SAMPLE_ROWS:
        return theta
    return _where_bounded(fit_separately(small, weaker, theta), theta, small)


def _where_bounded(alone: Solution, theta: Array, problem: Problem) -> Array:
    """Take the solution at the keys that have one, and ``theta`` at the others."""
    if alone.where_unbounded is None or not alone.unbounded:
        return alone.theta
    astray = np.repeat(alone.where_unbounded, problem.rows.n_coefficients)
    return np.where(astray, theta, alone.theta)


def _identity_or_zero(problem: Problem) -> Array:
    """Prefer zero at the keys where the identity is worse than not looking at the logits."""
    shape = (problem.rows.n_keys, problem.rows.n_coefficients)
    identity = problem.identity.reshape(shape)
    here = as_scaled(problem.rows.sums(identity), identity)
    better = is_better(here, problem.rows.losses(np.zeros(shape)))
    return np.where(np.repeat(better, shape[1]), problem.identity, 0.0)


def _tied(problem: Problem) -> Problem:
    """Make the problem whose coefficients are the same at all keys."""
    width = problem.rows.n_coefficients
    return replace(
        problem,
        basis=np.zeros(problem.rows.n_keys, dtype=np.intp),
        identity=problem.identity[:width],
        lower=problem.lower[:width],
        steady=problem.steady[:width],
        penalties=tuple(replace(one, matrix=one.matrix[:width]) for one in problem.penalties),
    )


@dataclass
class _Points:
    """Objective and derivatives at every key."""

    theta: Array  # (keys, width)
    value: Array  # (keys,)
    gradient: Array  # (keys, width)
    hessian: Array  # (keys, width, width)

    def take(self, other: "_Points", which: Mask) -> None:
        """Replace some keys by those of other points."""
        self.theta[which], self.value[which] = other.theta[which], other.value[which]
        self.gradient[which], self.hessian[which] = other.gradient[which], other.hessian[which]


@dataclass(frozen=True)
class _Last:
    """The last points that were evaluated, and the steps from there to the minima."""

    point: _Points
    step: Array
    passes: int
    ended: Mask
    unbounded: Mask


class _Separate:
    """The problems of all keys."""

    def __init__(self, problem: Problem, pull: Array) -> None:
        self.rows = problem.rows
        self.shape = (problem.rows.n_keys, problem.rows.n_coefficients)
        self.pull = pull.reshape(self.shape)
        self.identity = problem.identity.reshape(self.shape)
        self.lower = problem.lower.reshape(self.shape)
        self.past = problem.past
        self.weights = np.maximum(problem.rows.key_weights, TINY)
        if self.past is not None:
            # Keys may have no rows now, but a past.
            self.weights = self.weights + np.einsum("tpp->t", self.past.curvature)

    def evaluate(self, theta: Array) -> _Points:
        """Sum over the rows of each key and add the pull."""
        sums = self.rows.sums(theta)
        assert sums.hessian is not None
        offset = theta - self.identity
        value = sums.loss + 0.5 * (self.pull * offset**2).sum(axis=1)
        gradient = sums.gradient + self.pull * offset
        hessian = sums.hessian + self.pull[:, :, None] * np.eye(self.shape[1])
        if self.past is not None:
            before, slope = self.past.at(theta.ravel())
            value, gradient = value + before, gradient + slope
            hessian = hessian + self.past.curvature
        return _Points(theta, value, gradient, hessian)

    def promise(self, point: _Points, step: Array) -> Array:
        """Decrease that a step promises at each key."""
        slope = np.einsum("tp,tp->t", point.gradient, step)
        bend = np.einsum("tp,tpq,tq->t", step, point.hessian, step)
        return np.asarray(-slope - 0.5 * bend, dtype=np.float64)

    def descend(self, theta: Array, beginning: Array) -> _Last:
        """Go down until every key has ended."""
        point = self.evaluate(theta)
        first = point.hessian.copy()
        passes, n = 1, self.shape[0]
        damping = np.zeros(n)
        while True:
            step = bounded_steps(point.theta, point.gradient, point.hessian, self.lower, damping)
            promised = self.promise(point, step)
            ended, unbounded = self._ends(
                point,
                step,
                promised,
                damping=damping,
                first=first,
                beginning=beginning,
            )
            if ended.all() or passes == MAX_PASSES:
                return _Last(point, np.where(ended[:, None], step, 0.0), passes, ended, unbounded)
            # A key that has ended waits at the point from which its last step goes.
            trial = self.evaluate(point.theta + np.where(ended[:, None], 0.0, step))
            passes += 1
            noise = NOTHING * (np.abs(point.value) + self.weights)
            better = trial.value <= point.value - 0.1 * promised + noise
            moved = better & ~ended
            eased = np.where(damping < 1e-6, 0.0, damping / 100)
            damping = np.where(ended, damping, np.where(better, eased, _more(damping)))
            point.take(trial, moved)

    def fall_for_ever(self, theta: Array, hessian: Array) -> Mask:
        """At which keys no row objects to coefficients that may be on their way."""
        curvature = np.einsum("tpp->tp", hessian)
        weights = self.weights[:, None]
        doubtful = may_run(self.rows, theta, self.identity, curvature, weights)
        doubtful &= (self.pull == 0.0) & (self.rows.key_weights > 0.0)[:, None]
        if self.past is not None or not doubtful.any():
            return np.zeros(len(theta), dtype=bool)
        return ~self.rows.have_end(np.where(doubtful, theta, 0.0))

    def have_end(self, theta: Array, which: Mask) -> Mask:
        """Which of some keys have an optimum for sure, if one coefficient is all that each has."""
        if self.shape[1] > 1 or self.past is not None or not self.rows.know_ends:
            return np.zeros_like(which)
        asked = which & (self.rows.key_weights > 0.0)
        return asked & self.rows.have_end(np.where(asked[:, None], theta, 0.0))

    def _ends(
        self,
        point: _Points,
        step: Array,
        promised: Array,
        *,
        damping: Array,
        first: Array,
        beginning: Array,
    ) -> tuple[Mask, Mask]:
        """Which keys have ended, and which of them have no finite optimum."""
        settled = (damping == 0.0) & (promised <= LAST_STEP * self.weights)
        # What is known of earlier rows is a quadratic of any height.
        nothing_left = (point.value <= NOTHING * self.weights) & (self.past is None)
        loose = np.where(self.pull == 0.0, step, 0.0)
        far = np.sqrt(np.einsum("tp,tpq,tq->t", loose, first, loose) / self.weights)
        gone = settled & (far > RUNAWAY)
        if nothing_left.any():
            size = np.linalg.norm(point.theta, axis=1)
            share = np.linalg.norm(loose, axis=1) / np.maximum(size, TINY)
            gone |= settled & nothing_left & (share > RUNAWAY)
            # Far from its beginning with nothing left to lose, a key has no use for a last step.
            loosened = (self.pull == 0.0).any(axis=1) & (size > FAR * np.maximum(beginning, 1.0))
            gone |= nothing_left & loosened
        return settled | gone, gone


def bounded_steps(
    theta: Array, gradient: Array, hessian: Array, lower: Array, damping: Array
) -> Array:
    """Newton step of each problem over the coefficients that are free to move, cut at the bounds.

    Problems come along the first axis; ``lower`` may be the same for all.
    """
    free = (theta > lower) | (gradient < 0)
    if free.all():
        step = -solve_blocks(hessian, gradient, free, damping)
        if (theta + step >= lower).all():
            return step
    to_bound = np.where(np.isfinite(lower), lower - theta, 0.0)
    held_for_good = np.zeros_like(free)
    while True:
        held = np.where(free, 0.0, to_bound)
        rest = gradient + np.einsum("tpq,tq->tp", hessian, held)
        step = held - solve_blocks(hessian, rest, free, damping)
        beyond = free & (theta + step < lower)
        # As in `newton.py`: what a bound holds back may want to leave it, once.
        slope = gradient + np.einsum("tpq,tq->tp", hessian, step)
        settled = ~beyond.any(axis=1, keepdims=True)
        leaving = settled & ~free & ~held_for_good & (slope < 0)
        if not beyond.any() and not leaving.any():
            return np.maximum(theta + step, lower) - theta
        held_for_good |= leaving
        free = (free & ~beyond) | leaving


def _more(damping: Array) -> Array:
    return np.maximum(10 * damping, LEAST_DAMPING)
