"""Newton's method for a block-diagonal Hessian: one small problem per key, all solved at once.

Every key has its own damping and its own stopping, as if it were fitted alone, but each pass over
the rows serves all keys. The rules for accepting a step, for stopping and for detecting unbounded
fits are those of `newton.py`.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.solve.linear_systems import solve_blocks
from tempocal.solve.minimize import (
    MAX_SAMPLE_SHARE,
    SAMPLE_ROWS,
    fit,
    is_better_start,
    radial_derivatives,
)
from tempocal.solve.newton import (
    DECREASE_TOLERANCE,
    DIVERGENCE,
    FAR_FACTOR,
    MAX_PASSES,
    MIN_DAMPING,
    NEGLIGIBLE,
    TINY,
    may_diverge,
)
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

Mask = NDArray[np.bool_]
# Rows per key that a sample needs to give each key its own start.
MIN_ROWS_PER_KEY = 100


def fit_blockwise(problem: Problem, strengths: Strengths, start: Array | None = None) -> Solution:
    """Minimize the penalized loss of each key separately; all penalties must be diagonal."""
    start = _start(problem, strengths) if start is None else start
    solution = _minimize_once(problem, strengths, start, start)
    while not solution.unbounded and problem.rows.refine(problem.at_keys(solution.theta)):
        again = _minimize_once(problem, strengths, solution.theta, start)
        solution = replace(again, passes=solution.passes + again.passes)
    return solution


def _minimize_once(
    problem: Problem, strengths: Strengths, start: Array, first_start: Array
) -> Solution:
    """Minimize without refining the rows; ``first_start`` is the start before any refinement."""
    newton = _BlockwiseNewton(problem, problem.penalty_matrix(strengths))
    theta = start.reshape(newton.shape)
    start_norms = np.linalg.norm(
        np.maximum(first_start.reshape(newton.shape), newton.lower), axis=1
    )
    last = newton.minimize(np.maximum(theta, newton.lower), start_norms)
    theta = np.maximum(last.point.theta + last.step, newton.lower)
    hessian = last.point.hessian - newton.penalty_diagonal[:, :, None] * np.eye(newton.shape[1])
    offset = theta - newton.identity
    predicted = newton.predict_decrease(last.point, last.step)
    unbounded = last.unbounded | newton.decrease_forever(theta, hessian)
    unbounded &= ~(
        newton.have_finite_optimum(theta, unbounded)
        & (predicted <= DECREASE_TOLERANCE * newton.weights)
    )
    penalty = 0.5 * (newton.penalty_diagonal * offset**2).sum()
    gradient = last.point.gradient + np.einsum("tpq,tq->tp", last.point.hessian, last.step)
    return Solution(
        theta=theta.ravel(),
        loss=float(last.point.value.sum() - predicted.sum() - penalty),
        hessian=hessian,
        gradient=gradient.ravel(),
        passes=last.passes,
        converged=bool(last.stopped.all()),
        unbounded=bool(unbounded.any()),
        where_unbounded=unbounded,
    )


def _start(problem: Problem, strengths: Strengths) -> Array:
    """Start from the fit of fewer rows if there are many, else from the identity or zero."""
    condensed = problem.condensed()
    if condensed is not None:
        start = _identity_or_zero(condensed)
        return _where_bounded(fit_blockwise(condensed, strengths, start), start, condensed)
    sample, share = problem.subsampled(SAMPLE_ROWS)
    sample_strengths = tuple(share * s for s in strengths)
    shared = (
        fit(_shared_across_keys(sample), sample_strengths) if share <= MAX_SAMPLE_SHARE else None
    )
    if shared is None or shared.unbounded:
        return _identity_or_zero(problem)
    has_rows = np.repeat(problem.rows.key_weights > 0, problem.rows.n_coefficients)
    theta = np.where(has_rows, np.tile(shared.theta, problem.rows.n_keys), problem.identity)
    if MIN_ROWS_PER_KEY * problem.rows.n_keys > SAMPLE_ROWS:
        return theta
    return _where_bounded(fit_blockwise(sample, sample_strengths, theta), theta, sample)


def _where_bounded(solution: Solution, theta: Array, problem: Problem) -> Array:
    """Take the solution at the keys where it is finite, and ``theta`` at the others."""
    if solution.where_unbounded is None or not solution.unbounded:
        return solution.theta
    is_unbounded = np.repeat(solution.where_unbounded, problem.rows.n_coefficients)
    return np.where(is_unbounded, theta, solution.theta)


def _identity_or_zero(problem: Problem) -> Array:
    """Start from the identity, or from zero at the keys where zero is the better start."""
    shape = (problem.rows.n_keys, problem.rows.n_coefficients)
    identity = problem.identity.reshape(shape)
    at_identity = radial_derivatives(problem.rows.sums(identity), identity)
    better = is_better_start(at_identity, problem.rows.losses(np.zeros(shape)))
    return np.where(np.repeat(better, shape[1]), problem.identity, 0.0)


def _shared_across_keys(problem: Problem) -> Problem:
    """Return the problem with the same coefficients at all keys."""
    width = problem.rows.n_coefficients
    return replace(
        problem,
        basis=np.zeros(problem.rows.n_keys, dtype=np.intp),
        identity=problem.identity[:width],
        lower=problem.lower[:width],
        baseline_penalty=problem.baseline_penalty[:width],
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
class _BlockwiseResult:
    """The last points that were evaluated, and the step from there to the minimum, per key."""

    point: _Points
    step: Array
    passes: int
    stopped: Mask
    unbounded: Mask


class _BlockwiseNewton:
    """Newton iterations for all keys; the arrays have a first axis for keys."""

    def __init__(self, problem: Problem, penalty_matrix: Array) -> None:
        self.rows = problem.rows
        self.shape = (problem.rows.n_keys, problem.rows.n_coefficients)
        self.penalty_diagonal = penalty_matrix.reshape(self.shape)
        self.identity = problem.identity.reshape(self.shape)
        self.lower = problem.lower.reshape(self.shape)
        self.earlier_loss = problem.earlier_loss
        self.weights = np.maximum(problem.rows.key_weights, TINY)
        if self.earlier_loss is not None:
            # Keys without rows now may have had earlier ones.
            self.weights = self.weights + np.einsum("tpp->t", self.earlier_loss.curvature)

    def evaluate(self, theta: Array) -> _Points:
        """Sum over the rows of each key and add the penalty."""
        sums = self.rows.sums(theta)
        assert sums.hessian is not None
        offset = theta - self.identity
        value = sums.loss + 0.5 * (self.penalty_diagonal * offset**2).sum(axis=1)
        gradient = sums.gradient + self.penalty_diagonal * offset
        hessian = sums.hessian + self.penalty_diagonal[:, :, None] * np.eye(self.shape[1])
        if self.earlier_loss is not None:
            earlier_value, earlier_gradient = self.earlier_loss.at(theta.ravel())
            value, gradient = value + earlier_value, gradient + earlier_gradient
            hessian = hessian + self.earlier_loss.curvature
        return _Points(theta, value, gradient, hessian)

    def predict_decrease(self, point: _Points, step: Array) -> Array:
        """Decrease of the objective that the quadratic model predicts at each key."""
        linear = np.einsum("tp,tp->t", point.gradient, step)
        quadratic = np.einsum("tp,tpq,tq->t", step, point.hessian, step)
        return np.asarray(-linear - 0.5 * quadratic, dtype=np.float64)

    def minimize(self, theta: Array, start_norms: Array) -> _BlockwiseResult:
        """Iterate until every key has stopped."""
        point = self.evaluate(theta)
        start_hessian = point.hessian.copy()
        passes, n = 1, self.shape[0]
        damping = np.zeros(n)
        while True:
            step = bounded_steps(point.theta, point.gradient, point.hessian, self.lower, damping)
            predicted = self.predict_decrease(point, step)
            stopped, unbounded = self._stopping(
                point,
                step,
                predicted,
                damping=damping,
                start_hessian=start_hessian,
                start_norms=start_norms,
            )
            if stopped.all() or passes == MAX_PASSES:
                return _BlockwiseResult(
                    point, np.where(stopped[:, None], step, 0.0), passes, stopped, unbounded
                )
            # A key that has stopped stays at the point before its last step.
            trial = self.evaluate(point.theta + np.where(stopped[:, None], 0.0, step))
            passes += 1
            noise = NEGLIGIBLE * (np.abs(point.value) + self.weights)
            better = trial.value <= point.value - 0.1 * predicted + noise
            moved = better & ~stopped
            reduced = np.where(damping < 1e-6, 0.0, damping / 100)
            damping = np.where(stopped, damping, np.where(better, reduced, _increased(damping)))
            point.take(trial, moved)

    def decrease_forever(self, theta: Array, hessian: Array) -> Mask:
        """At which keys the loss never rises as the suspect coefficients grow."""
        curvature = np.einsum("tpp->tp", hessian)
        weights = self.weights[:, None]
        suspect = may_diverge(self.rows, theta, self.identity, curvature, weights)
        suspect &= (self.penalty_diagonal == 0.0) & (self.rows.key_weights > 0.0)[:, None]
        if self.earlier_loss is not None or not suspect.any():
            return np.zeros(len(theta), dtype=bool)
        return ~self.rows.has_finite_optimum(np.where(suspect, theta, 0.0))

    def have_finite_optimum(self, theta: Array, which: Mask) -> Mask:
        """Which of some keys have a finite optimum; known only for one coefficient per key."""
        if self.shape[1] > 1 or self.earlier_loss is not None or not self.rows.detects_separation:
            return np.zeros_like(which)
        candidates = which & (self.rows.key_weights > 0.0)
        return candidates & self.rows.has_finite_optimum(np.where(candidates[:, None], theta, 0.0))

    def _stopping(
        self,
        point: _Points,
        step: Array,
        predicted: Array,
        *,
        damping: Array,
        start_hessian: Array,
        start_norms: Array,
    ) -> tuple[Mask, Mask]:
        """Which keys stop, and which of them have no finite optimum."""
        converged = (damping == 0.0) & (predicted <= DECREASE_TOLERANCE * self.weights)
        # With the quadratic for earlier rows a loss of zero means nothing.
        loss_vanished = (point.value <= NEGLIGIBLE * self.weights) & (self.earlier_loss is None)
        unpenalized = np.where(self.penalty_diagonal == 0.0, step, 0.0)
        step_size = np.sqrt(
            np.einsum("tp,tpq,tq->t", unpenalized, start_hessian, unpenalized) / self.weights
        )
        unbounded = converged & (step_size > DIVERGENCE)
        if loss_vanished.any():
            size = np.linalg.norm(point.theta, axis=1)
            share = np.linalg.norm(unpenalized, axis=1) / np.maximum(size, TINY)
            unbounded |= converged & loss_vanished & (share > DIVERGENCE)
            # Far from its start and without loss, a key has diverged whatever the step.
            diverged = (self.penalty_diagonal == 0.0).any(axis=1) & (
                size > FAR_FACTOR * np.maximum(start_norms, 1.0)
            )
            unbounded |= loss_vanished & diverged
        return converged | unbounded, unbounded


def bounded_steps(
    theta: Array, gradient: Array, hessian: Array, lower: Array, damping: Array
) -> Array:
    """Newton step of each problem over its free coefficients, by an active set for the bounds.

    Problems are along the first axis; ``lower`` may be shared.
    """
    free = (theta > lower) | (gradient < 0)
    if free.all():
        step = -solve_blocks(hessian, gradient, free, damping)
        if (theta + step >= lower).all():
            return step
    to_bound = np.where(np.isfinite(lower), lower - theta, 0.0)
    released_before = np.zeros_like(free)
    while True:
        at_bound = np.where(free, 0.0, to_bound)
        reduced_gradient = gradient + np.einsum("tpq,tq->tp", hessian, at_bound)
        step = at_bound - solve_blocks(hessian, reduced_gradient, free, damping)
        violated = free & (theta + step < lower)
        # As in `newton.py`: release each coefficient at most once.
        new_gradient = gradient + np.einsum("tpq,tq->tp", hessian, step)
        converged = ~violated.any(axis=1, keepdims=True)
        released = converged & ~free & ~released_before & (new_gradient < 0)
        if not violated.any() and not released.any():
            return np.maximum(theta + step, lower) - theta
        released_before |= released
        free = (free & ~violated) | released


def _increased(damping: Array) -> Array:
    return np.maximum(10 * damping, MIN_DAMPING)
