"""Laplace approximation of the loss around a fit, on which strengths are chosen without the rows.

On the quadratic approximation of the loss, the coefficients and their covariance at other strengths
are small linear algebra, and so are the log evidence of `evidence.py` and its gradient in the
logarithms of the strengths. These are few, so the evidence is maximized by Newton's method, with
second derivatives from differences of the exact gradient. Steps are judged by the evidence at
several lengths at once: where a strength grows without limit, the evidence rises towards a plateau,
and long steps reach it where short ones would creep.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.solve.design_effect import Effects, TrendSplit
from tempocal.solve.matrix_layout import MatrixLayout
from tempocal.solve.penalties import Penalty, Strengths
from tempocal.solve.problem import Problem, Solution

# Strengths that are fixed by the user, None where one is chosen from the data.
FixedStrengths = tuple[float | None, ...]

# Change of the logarithm of a strength below which it has converged.
STRENGTH_TOLERANCE = 1e-9
MAX_STEPS = 50
# Step of the differences of the gradient. Newton's method then gains four digits with each step.
DIFFERENCE_STEP = 1e-4
# Multiples of a Newton step among which the evidence chooses, and the longest step: two decades.
STEP_LENGTHS = np.array([1.0, 4.0, 16.0, 0.25, 0.03])
MAX_LOG_STEP = float(np.log(100.0))
# Shorter steps are not judged by the evidence, and after one that is shorter still none is needed:
# what it leaves is less than another fit at the new strengths changes.
SHORT_STEP, LAST_STEP = 1.0, 1e-4
BOUND_ROUNDING = 1e-12
# Where a step of e-fold or more would raise the evidence by less than this, steps that are longer
# than rounding are not taken.
PLATEAU_STEP, PLATEAU_GAIN = 1e-3, 1e-9
# Curvatures of the evidence below this share of the largest are treated as that large.
MIN_CURVATURE = 1e-9
# Bands allow for smoothing so much weaker that the log evidence is lower by this, as it is two
# standard errors away: with one, those of 200 sequences covered 81 to 85 % at the top of a hump.
EVIDENCE_DROP = 2.0
# Multiples of a strength at which the evidence is looked up.
WEAKER = np.exp(-np.array([0.25, 0.5, 0.75, 1.0, 1.4, 1.8, 2.3, 2.8, 3.5, 4.5, 6.0, 8.0]))
# Another maximum must be higher by this much: the approximation is less exact far from the fit.
RIVAL_MARGIN = 1e-5
# Largest strengths, in multiples of the curvature. There the fit is the identity, or a curve
# without curvature; stronger smoothing penalties would lose the loss in rounding errors.
MAX_STRENGTH, MAX_SMOOTHING = 1e6, 1e4
# Eigenvalues and gradients are kept above this before a logarithm or a division.
SMALLEST = 1e-300


@dataclass(frozen=True)
class LaplaceApproximation:
    """Quadratic approximation of the loss around an optimum.

    Attributes
    ----------
    problem : Problem
        The problem that was fitted.
    effects : ndarray of shape (penalties,)
        Design effects, by which the likelihood is divided, in the directions of each penalty.
    effect : float
        Design effect on average.
    hessian : ndarray of shape (blocks, n, n)
        Hessian of the loss, divided by the design effects.
    offset : ndarray of shape (coefficients,)
        The optimum, minus the identity.
    prior : tuple of float
        Strengths of the fit, divided by the design effects.
    free : ndarray of bool, shape (coefficients,)
        Which coefficients are not at a bound.
    mode_in_log : bool
        Whether the mode is taken in the logarithm of every strength, not only of smoothing ones.
    unequal : ndarray of shape (coefficients,)
        Gradient of the loss and the prior at the optimum, both divided by design effects: zero
        where there is one for all directions.
    undivided : ndarray of shape (n, n) or None
        Hessian of the loss itself, where there is not.
    """

    problem: Problem
    effects: Array
    effect: float
    hessian: Array
    offset: Array
    prior: Strengths
    free: NDArray[np.bool_]
    mode_in_log: bool
    unequal: Array
    undivided: Array | None = None

    @classmethod
    def at(
        cls,
        problem: Problem,
        solution: Solution,
        strengths: Strengths,
        effects: Effects,
        *,
        mode_in_log: bool = False,
    ) -> Self:
        """Expand the loss around a fit."""
        hessian, offset = hessian_and_gradient(solution)[0], solution.theta - problem.identity
        of_penalties = effects.of_penalties(problem)
        prior = tuple(s / e for s, e in zip(strengths, of_penalties.tolist(), strict=True))
        found = cls(
            problem=problem,
            effects=of_penalties,
            effect=effects.mean,
            hessian=hessian / effects.mean,
            offset=offset,
            prior=prior,
            free=solution.theta > problem.lower,
            mode_in_log=mode_in_log,
            unequal=np.zeros(len(offset)),
        )
        split = None if effects.rough is None else TrendSplit.of(problem, hessian)
        if split is None:
            return found
        divided = split.scaled(hessian[0], effects)
        pull = problem.penalty_gradient(strengths, offset)
        baseline = problem.baseline_penalty / effects.mean * offset
        penalties = zip(prior, problem.penalties, strict=True)
        priors = sum((s * one.dot(offset) for s, one in penalties if s > 0.0), baseline)
        return replace(
            found,
            hessian=0.5 * (divided + divided.T)[None],
            unequal=priors - split.scaled(pull, effects),
            undivided=hessian[0],
        )

    def best_strengths(
        self, min_strengths: Strengths, fixed_strengths: FixedStrengths
    ) -> Strengths:
        """Strengths of maximum evidence within their bounds, except for the fixed ones."""
        search = self._search(min_strengths, fixed_strengths)
        return self._rescaled(search.maximize(search.start), fixed_strengths)

    def rival_strengths(
        self, min_strengths: Strengths, fixed_strengths: FixedStrengths
    ) -> Strengths | None:
        """Strengths of another maximum that is higher than the fit, with one of them at a bound."""
        search = self._search(min_strengths, fixed_strengths)
        rival = search.best_at_a_bound()
        return None if rival is None else self._rescaled(search.maximize(rival), fixed_strengths)

    def curvature_of_evidence(
        self, min_strengths: Strengths, fixed_strengths: FixedStrengths
    ) -> tuple[list[int], Array]:
        """Strengths that are chosen and inside their bounds, and the curvature in their logarithms.

        It is minus the second derivatives of the log evidence.
        """
        search = self._search(min_strengths, fixed_strengths)
        inside, curvature = search.curvature_inside()
        return search.varied[inside].tolist(), curvature

    def _search(
        self, min_strengths: Strengths, fixed_strengths: FixedStrengths
    ) -> "_StrengthSearch":
        curvature = 1.0 + float(np.einsum("tpp->tp", self.hessian).max())
        largest = [curvature * _max_strength(penalty) for penalty in self.problem.penalties]
        chosen = [one is None for one in fixed_strengths]
        bounds = np.where(chosen, [min_strengths, largest], self.prior)
        varied = np.array([k for k in self._used if chosen[k]], dtype=np.intp)
        return _StrengthSearch(self.evidence, np.clip(self.prior, *bounds), varied, bounds)

    def _rescaled(self, prior: Array, fixed_strengths: FixedStrengths) -> Strengths:
        """Undo the division of strengths by the design effects."""
        return tuple(
            float(s * effect) if fixed is None else fixed
            for s, effect, fixed in zip(prior, self.effects, fixed_strengths, strict=True)
        )

    def evidence(self, priors: Array) -> tuple[Array, Array]:
        """Log evidence, up to a constant, and its gradient in the logarithms of the strengths.

        ``priors`` and the gradient have the shape (points, penalties). The formulas are at the top
        of `evidence.py`.
        """
        layout, used = self._layout, self._used
        strengths = priors[:, used]
        penalty = self._penalty_at(strengths)
        # At the optimum the gradient of the loss is minus that of the penalty.
        change = (np.array(self.prior)[used] - strengths) @ self._penalty_products
        change = change - self.unequal / self._scale
        posterior = layout.invert(self._hessian + penalty, self.free, change)
        prior_log_determinants, prior_traces = self._prior_volume(strengths, penalty)
        step = posterior.products
        offset = self._scale * self.offset + step
        squares = self._squared_norms(offset)
        loss = step @ self._loss_gradient
        loss += 0.5 * np.einsum("mp,mp->m", step, layout.dot(self._hessian, step))
        baseline = np.einsum("mp,mp->m", offset, layout.dot(self._baseline, offset))
        loss += 0.5 * (baseline + np.einsum("mk,mk->m", strengths, squares))
        volume = 0.5 * (prior_log_determinants - posterior.log_determinants)
        in_log = self._mode_is_in_log
        hyperprior = (np.log1p(1.0 / strengths) + 0.5 * in_log * np.log(strengths)).sum(axis=1)
        traces = prior_traces - posterior.traces(self._penalties)
        gradient = np.zeros(priors.shape)
        gradient[:, used] = 0.5 * (strengths * (traces - squares) - in_log) + 1.0 / (1 + strengths)
        return -loss + volume - hyperprior, gradient

    def coefficients(self, strengths: Strengths) -> Array:
        """Coefficients at other strengths, minus the identity; those at a bound stay there."""
        own, others = (
            np.array(one)[self._used] / self.effect
            for one in (self.effects * self.prior, strengths)
        )
        penalty = self._penalty_at(others[None])
        change = (own - others) @ self._penalty_products
        hessian = self._hessian
        if self.undivided is not None:
            # A fit divides the whole loss by one number.
            hessian = self._store(self.undivided / self.effect)
        found = self._layout.invert(hessian + penalty, self.free, change[None])
        return np.asarray(self.offset + found.products[0] / self._scale)

    def less_smooth(
        self, strengths: Strengths, min_strengths: Strengths, fixed_strengths: FixedStrengths
    ) -> Strengths:
        """Weaken each smoothing penalty until the log evidence is lower by `EVIDENCE_DROP`."""
        search, prior = self._search(min_strengths, fixed_strengths), strengths / self.effects
        weaker = prior.copy()
        for k in search.varied:
            if self.problem.penalties[k].is_smoothing:
                weaker[k] = search.weakest(prior, int(k))
        return self._rescaled(weaker, fixed_strengths)

    def _penalty_at(self, strengths: Array) -> Array:
        """Total penalty matrices at strengths (points, penalties)."""
        flat = self._penalties.reshape(len(self._penalties), -1)
        return self._baseline + (strengths @ flat).reshape(-1, *self._baseline.shape)

    def _prior_volume(self, strengths: Array, penalty: Array) -> tuple[Array, Array]:
        """Log determinants of the total penalty, and traces of its inverse times each penalty."""
        if self._diagonals is None:
            prior = self._layout.invert(
                penalty, self.free, np.zeros((len(penalty), len(self.free)))
            )
            return prior.log_determinants, prior.traces(self._penalties)
        total = self.problem.baseline_penalty / (self.effect * self._scale**2)
        total = total + strengths @ self._diagonals
        is_used = self.free & (total > 0.0)
        total = np.where(is_used, total, 1.0)
        return np.log(total).sum(axis=1), (is_used / total) @ self._diagonals.T

    def _squared_norms(self, offset: Array) -> Array:
        """Each penalty at strength 1, doubled, of scaled offsets (points, coefficients)."""
        if self._diagonals is not None:
            return np.asarray(offset**2 @ self._diagonals.T)
        norms = []
        for k, stored in zip(self._used, self._penalties, strict=True):
            centered = self._scale * self.problem.penalties[k].centered(offset / self._scale)
            norms.append(np.einsum("mp,mp->m", centered, self._layout.dot(stored, centered)))
        return np.stack(norms, axis=1)

    @cached
    def _mode_is_in_log(self) -> Array:
        """For each penalty in use, 1 where the mode is taken in the logarithm of its strength."""
        penalties = [self.problem.penalties[k] for k in self._used]
        return np.array([self.mode_in_log or one.is_smoothing for one in penalties], np.float64)

    @cached
    def _layout(self) -> MatrixLayout:
        n_blocks, width, _ = self.hessian.shape
        if n_blocks > 1:
            return MatrixLayout(n_blocks * width, n_blocks, width)
        if self.undivided is not None:
            return MatrixLayout(width, 1, width)
        # Band matrices must be positive definite, those of the penalties alone as well.
        is_definite = self.problem.penalizes_all(self.prior)
        return MatrixLayout.of(width, self.problem.bandwidth if is_definite else width)

    @cached
    def _used(self) -> list[int]:
        """Indices of the penalties that penalize anything."""
        penalties = zip(self.prior, self.problem.penalties, strict=True)
        return [k for k, (strength, one) in enumerate(penalties) if strength > 0.0 and one.is_used]

    @cached
    def _scale(self) -> Array:
        """Square root of the diagonal of the penalized Hessian, the unit of each coefficient."""
        diagonal = np.einsum("tpp->tp", self.hessian).ravel() + self.problem.baseline_penalty
        for k in self._used:
            diagonal = diagonal + self.prior[k] * self.problem.penalties[k].diagonal
        return np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))

    def _store(self, matrix: Array) -> Array:
        """Store a matrix in units of the scale."""
        stored, scale = self._layout.store(matrix), self._layout.split(self._scale)
        scale = np.where(scale > 0.0, scale, 1.0)
        stored[0] /= scale[:, :, None] * scale[:, None, :]
        if self._layout.is_band:
            stored[1, 1:] /= scale[1:, :, None] * scale[:-1, None, :]
        return stored

    @cached
    def _hessian(self) -> Array:
        n_blocks = len(self.hessian)
        return self._store(self.hessian if n_blocks > 1 else self.hessian[0])

    @cached
    def _penalties(self) -> Array:
        """Matrices of the penalties in use: (penalties, parts, blocks, n, n)."""
        return np.stack([self._store(self.problem.penalties[k].matrix) for k in self._used])

    @cached
    def _diagonals(self) -> Array | None:
        """Diagonals of the penalties in use (penalties, coefficients), if all are diagonal."""
        matrices = [self.problem.penalties[k].matrix for k in self._used]
        if any(one.ndim > 1 for one in matrices):
            return None
        return np.stack(matrices) / self._scale**2

    @cached
    def _penalty_products(self) -> Array:
        """Matrices of the penalties in use, times the offset of the fit."""
        products = [self.problem.penalties[k].dot(self.offset) for k in self._used]
        return np.stack(products) / self._scale

    @cached
    def _baseline(self) -> Array:
        return self._store(self.problem.baseline_penalty / self.effect)

    @cached
    def _loss_gradient(self) -> Array:
        """Gradient of the loss at the fit: minus that of the penalties, of free coefficients."""
        baseline = self.problem.baseline_penalty / self.effect * self.offset
        priors = np.array(self.prior)[self._used] @ self._penalty_products
        return np.asarray((self.unequal - baseline) / self._scale - priors)


@dataclass(frozen=True)
class _StrengthSearch:
    """Newton's method for the logarithms of the strengths that are varied.

    ``evidence`` takes points of all strengths and returns values and gradients, as
    `LaplaceApproximation.evidence`. ``limits`` are the bounds of all strengths, of shape (2, all).
    """

    evidence: Callable[[Array], tuple[Array, Array]]
    prior: Array
    varied: NDArray[np.intp]
    limits: Array

    @cached
    def start(self) -> Array:
        """Logarithms of the strengths of the fit."""
        return np.asarray(np.log(self.prior[self.varied]))

    @cached
    def bounds(self) -> Array:
        """Bounds of the logarithms of the strengths that are varied."""
        return np.asarray(np.log(self.limits[:, self.varied]))

    def maximize(self, logs: Array) -> Array:
        """Return all strengths, the varied ones at a maximum of the evidence."""
        differences = DIFFERENCE_STEP * np.eye(len(logs))
        for _ in range(MAX_STEPS if len(logs) else 0):
            values, gradients = self._at(logs + np.vstack([0.0 * logs, differences]))
            curvature = (gradients[1:] - gradients[0]) / DIFFERENCE_STEP
            step = self._ascent_step(logs, gradients[0], curvature)
            longest = float(np.abs(step).max())
            if longest > SHORT_STEP:
                trials = np.clip(logs + STEP_LENGTHS[:, None] * step, *self.bounds)
                trial_values = self._at(trials)[0]
                best = int(np.argmax(trial_values))
                if not trial_values[best] > values[0]:
                    break
                logs = trials[best]
            else:
                logs = np.clip(logs + step, *self.bounds)
            if longest <= LAST_STEP:
                break
        return np.asarray(self._all_strengths(logs[None])[0])

    def weakest(self, prior: Array, k: int) -> float:
        """Return the least value of one strength that the data support, given the others."""
        points = np.tile(prior, (1 + len(WEAKER), 1))
        points[1:, k] = np.maximum(prior[k] * WEAKER, self.limits[0, k])
        lower = self.evidence(points)[0]
        drops = np.maximum.accumulate(lower[0] - lower)
        return float(np.exp(np.interp(EVIDENCE_DROP, drops, np.log(points[:, k]))))

    def curvature_inside(self) -> tuple[NDArray[np.bool_], Array]:
        """Which varied strengths are inside their bounds at the start, and the curvature there."""
        logs, (smallest, largest) = self.start, self.bounds
        inside = (logs > smallest + BOUND_ROUNDING) & (logs < largest - BOUND_ROUNDING)
        if not inside.any():
            return inside, np.zeros((0, 0))
        points = logs + np.vstack([0.0 * logs, DIFFERENCE_STEP * np.eye(len(logs))[inside]])
        gradients = self._at(points)[1][:, inside]
        curvature = (gradients[0] - gradients[1:]) / DIFFERENCE_STEP
        return inside, 0.5 * (curvature + curvature.T)

    def best_at_a_bound(self) -> Array | None:
        """Where one strength is at a bound and the evidence higher than at the start, if anywhere.

        The evidence can have several maxima: where one strength holds a coefficient at the
        identity, that of its smoothness no longer matters.
        """
        count = len(self.varied)
        points = np.tile(self.start, (1 + 2 * count, 1))
        for k in range(count):
            points[1 + 2 * k : 3 + 2 * k, k] = self.bounds[:, k]
        values = self._at(points)[0]
        best = int(np.argmax(values))
        return points[best] if values[best] > values[0] + RIVAL_MARGIN else None

    def _at(self, logs: Array) -> tuple[Array, Array]:
        values, gradients = self.evidence(self._all_strengths(logs))
        return values, gradients[:, self.varied]

    def _all_strengths(self, logs: Array) -> Array:
        strengths = np.tile(self.prior, (len(logs), 1))
        strengths[:, self.varied] = np.exp(logs)
        return strengths

    def _ascent_step(self, logs: Array, gradient: Array, curvature: Array) -> Array:
        """Newton step within the bounds, uphill also where the evidence is not concave."""
        # Up to rounding, for strengths were multiplied by the design effect and divided again.
        smallest, largest = self.bounds + np.array([[BOUND_ROUNDING], [-BOUND_ROUNDING]])
        step = np.zeros_like(logs)
        at_bound = ((logs <= smallest) & (gradient <= 0)) | ((logs >= largest) & (gradient >= 0))
        inside = np.flatnonzero(~at_bound)
        if len(inside) == 0:
            return step
        own = curvature[np.ix_(inside, inside)]
        values, vectors = np.linalg.eigh(0.5 * (own + own.T))
        sizes = np.abs(values)
        sizes = np.maximum(sizes, max(MIN_CURVATURE * float(sizes.max()), SMALLEST))
        along = (vectors.T @ gradient[inside]) / sizes
        # On a plateau a long step gains nothing, and would stop the others.
        with np.errstate(over="ignore"):  # rows that tell nothing have next to no curvature
            gains = 0.5 * sizes * np.maximum(along**2, 1.0)
        is_plateau = (np.abs(along) > PLATEAU_STEP) & (gains < PLATEAU_GAIN)
        step[inside] = vectors @ np.where(is_plateau, 0.0, along)
        longest = float(np.abs(step).max())
        step *= min(1.0, MAX_LOG_STEP / max(longest, SMALLEST))
        return np.asarray(np.clip(logs + step, *self.bounds) - logs)


def max_log_change(strengths: Strengths, before: Strengths) -> float:
    """Largest absolute change of the logarithm of a strength."""
    pairs = [(a, b) for a, b in zip(strengths, before, strict=True) if a != b]
    return max((abs(float(np.log(a / b))) for a, b in pairs), default=0.0)


def hessian_and_gradient(solution: Solution) -> tuple[Array, Array]:
    """Hessian of a fit in blocks, and its gradient."""
    if solution.hessian is None or solution.gradient is None:
        raise InputError(
            f'shrinkage="auto" has no curvature to go by with {len(solution.theta)} coefficients: '
            "give a number"
        )
    return solution.hessian, solution.gradient


def _max_strength(penalty: Penalty) -> float:
    if not penalty.is_smoothing:
        return MAX_STRENGTH
    return MAX_SMOOTHING / max(float(penalty.diagonal.max()), SMALLEST)
