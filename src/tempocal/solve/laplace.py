"""Laplace approximation of the loss around a fit, on which strengths are chosen without the rows.

On the quadratic approximation of the loss, the coefficients and their covariance at other strengths
are small linear algebra, and so are the log evidence of `evidence.py` and its gradient in the
logarithms of the strengths. These are few, so the evidence is maximized by Newton's method, with
second derivatives from differences of the exact gradient. Steps are judged by the evidence at
several lengths at once: where a strength grows without limit, the evidence rises towards a plateau,
and long steps reach it where short ones would creep.
"""

from collections.abc import Callable

import numpy as np

from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.solve.band_matrices import MIN_BLOCK, MIN_BLOCKS, Bands
from tempocal.solve.linear_systems import SeparateBlocks
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
# Another maximum must be higher by this much: the approximation is less exact far from the fit.
RIVAL_MARGIN = 1e-5
# Largest strengths, in multiples of the curvature. There the fit is the identity, or a curve
# without curvature; stronger smoothing penalties would lose the loss in rounding errors.
MAX_STRENGTH, MAX_SMOOTHING = 1e6, 1e4
# Eigenvalues and gradients are kept above this before a logarithm or a division.
SMALLEST = 1e-300
ONE = np.ones((1, 1))


class LaplaceApproximation:
    """Quadratic approximation of the loss around an optimum.

    Coefficients are in units of the square root of the diagonal of the penalized Hessian, measured
    from the identity. Penalties are those in use; the last is the one that does not depend on the
    strengths, of strength 1.

    Parameters
    ----------
    problem : Problem
        The problem that was fitted.
    solution : Solution
        The optimum, with the Hessian of the loss there.
    strengths : tuple of float
        Strengths of the fit.
    effect : float
        Design effect, by which the likelihood is divided, and with it the strengths.
    mode_in_log : bool
        Whether the mode is taken in the logarithm of every strength, not only of smoothing ones.
    """

    def __init__(
        self,
        problem: Problem,
        solution: Solution,
        strengths: Strengths,
        effect: float,
        *,
        mode_in_log: bool = False,
    ) -> None:
        hessian = hessian_and_gradient(solution)[0] / effect
        offset = solution.theta - problem.identity
        pairs = zip(strengths, problem.penalties, strict=True)
        self.used = [k for k, (strength, one) in enumerate(pairs) if strength and one.is_used]
        penalties = [problem.penalties[k] for k in self.used]
        self.prior = np.array([strengths[k] / effect for k in self.used])
        self._given, self._effect = strengths, effect
        penalties.append(Penalty("baseline", problem.baseline_penalty / effect))
        self._penalties, self._weights = penalties, np.append(self.prior, 1.0)
        # 1 where the mode is taken in the logarithm of a strength.
        in_log = [mode_in_log or one.is_smoothing for one in penalties[:-1]]
        self._in_log = np.array(in_log, dtype=np.float64)
        diagonals = np.stack([one.diagonal for one in penalties])
        curvature = np.einsum("tpp->tp", hessian).ravel()
        self._largest_curvature = float(curvature.max())
        total = curvature + self._weights @ diagonals
        scale = np.sqrt(np.where(total > 0.0, total, 1.0))
        self._layout = _layout_of(problem, strengths, len(hessian))
        matrices = [hessian, *(one.matrix for one in penalties)]
        self._matrices = np.stack([self._layout.store(one, scale) for one in matrices])
        is_diagonal = all(one.matrix.ndim == 1 for one in penalties)
        self._diagonals = diagonals / scale**2 if is_diagonal else None
        self._scale, self._offset = scale, scale * offset
        self._free = solution.theta > problem.lower
        # Matrices of the penalties times the offset of the fit.
        self._products = np.stack([one.dot(offset) for one in penalties]) / scale

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

    def _search(
        self, min_strengths: Strengths, fixed_strengths: FixedStrengths
    ) -> "_StrengthSearch":
        """Search those strengths that are not fixed."""
        varied = [k for k, one in enumerate(self.used) if fixed_strengths[one] is None]
        smallest = [min_strengths[self.used[k]] for k in varied]
        curvature = 1.0 + self._largest_curvature
        largest = [curvature * _max_strength(self._penalties[k]) for k in varied]
        return _StrengthSearch(self.evidence, self.prior, varied, np.array([smallest, largest]))

    def _rescaled(self, prior: Array, fixed_strengths: FixedStrengths) -> Strengths:
        """Undo the division of strengths by the design effect, where they were varied."""
        strengths = list(self._given)
        for k, before, after in zip(self.used, self.prior, prior.tolist(), strict=True):
            if after != before:
                strengths[k] = after * self._effect
        pairs = zip(strengths, fixed_strengths, strict=True)
        return tuple(one if fixed is None else fixed for one, fixed in pairs)

    def evidence(self, strengths: Array) -> tuple[Array, Array]:
        """Log evidence, up to a constant, and its gradient in the logarithms of the strengths.

        Strengths and gradient have the shape (points, penalties in use). The formulas are at the
        top of `evidence.py`.
        """
        weights = np.ones((len(strengths), len(self._weights)))
        weights[:, :-1] = strengths
        step, volume, traces = self._step_and_volume(weights)
        # What the matrices of loss and penalties are multiplied by from both sides.
        vectors = np.empty((len(self._matrices), *step.shape))
        vectors[0] = step
        vectors[1:] = self._offset + step
        for k, one in enumerate(self._penalties, start=1):
            if one.is_smoothing:
                vectors[k] = self._scale * one.centered(vectors[k] / self._scale)
        squares = np.einsum("kmp,kmp->mk", vectors, self._layout.dot(self._matrices, vectors))
        loss = squares[:, 0] + np.einsum("mk,mk->m", weights, squares[:, 1:])
        # At the optimum the gradient of the loss is minus that of the penalty.
        values = step @ (self._weights @ self._products) + 0.5 * (volume - loss)
        hyperprior = np.log1p(1.0 / strengths) + 0.5 * self._in_log * np.log(strengths)
        gradient = 0.5 * (strengths * (traces - squares[:, 1:-1]) - self._in_log)
        return values - hyperprior.sum(axis=1), gradient + 1.0 / (1.0 + strengths)

    def coefficients(self, strengths: Strengths) -> Array:
        """Coefficients at other strengths, minus the identity; those at a bound stay there."""
        weights = np.array([*(strengths[k] / self._effect for k in self.used), 1.0])
        step, _, _ = self._step_and_volume(weights[None])
        return np.asarray((self._offset + step[0]) / self._scale)

    def _step_and_volume(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return what strengths change, ``weights`` being these and a last one of 1 (points, all).

        These are the step to the new optimum (points, coefficients); the log determinant of the
        prior precision minus that of the posterior; and the traces of their inverses times each
        penalty, prior minus posterior.
        """
        hessian, matrices = self._matrices[0], self._matrices[1:]
        penalty = (weights @ matrices.reshape(len(matrices), -1)).reshape(-1, *hessian.shape)
        change = (self._weights - weights) @ self._products
        posterior = self._layout.invert(hessian + penalty, self._free, change)
        if self._diagonals is None:
            prior = self._layout.invert(penalty, self._free, np.zeros_like(change))
            logs, traces = prior.log_determinants, prior.traces(matrices[:-1])
        else:
            total = weights @ self._diagonals
            is_used = self._free & (total > 0.0)
            total = np.where(is_used, total, 1.0)
            logs = np.log(total).sum(axis=1)
            traces = (is_used / total) @ self._diagonals[:-1].T
        volume = logs - posterior.log_determinants
        return posterior.products, volume, traces - posterior.traces(matrices[:-1])


def _layout_of(problem: Problem, strengths: Strengths, n_blocks: int) -> SeparateBlocks | Bands:
    size, bandwidth = problem.n_coefficients, problem.bandwidth
    is_band = n_blocks == 1 and size >= MIN_BLOCKS * max(bandwidth, MIN_BLOCK)
    # Band matrices must be positive definite, those of the penalties alone as well.
    if is_band and problem.penalizes_all(strengths):
        return Bands.of(size, bandwidth)
    return SeparateBlocks(n_blocks, size // n_blocks)


class _StrengthSearch:
    """Newton's method for the logarithms of the strengths that are varied.

    ``evidence`` takes points of all strengths in use and returns values and gradients, as
    `LaplaceApproximation.evidence`. ``bounds`` are those of the varied ones, (2, varied).
    """

    def __init__(
        self,
        evidence: Callable[[Array], tuple[Array, Array]],
        prior: Array,
        varied: list[int],
        bounds: Array,
    ) -> None:
        self._evidence, self._prior, self._varied = evidence, prior, varied
        self._bounds = np.log(bounds)
        # Logarithms of the strengths of the fit.
        self.start = np.clip(np.log(prior[varied]), *self._bounds)

    def maximize(self, logs: Array) -> Array:
        """Return all strengths in use, the varied ones at a maximum of the evidence."""
        differences = np.eye(len(logs) + 1, len(logs), k=-1) * DIFFERENCE_STEP
        for _ in range(MAX_STEPS if len(logs) else 0):
            values, gradients = self._at(logs + differences)
            curvature = (gradients[1:] - gradients[0]) / DIFFERENCE_STEP
            step = self._ascent_step(logs, gradients[0], curvature)
            longest = float(np.abs(step).max())
            if longest > SHORT_STEP:
                trials = np.clip(logs + STEP_LENGTHS[:, None] * step, *self._bounds)
                trial_values = self._at(trials)[0]
                best = int(np.argmax(trial_values))
                if not trial_values[best] > values[0]:
                    break
                logs = trials[best]
            else:
                logs = np.clip(logs + step, *self._bounds)
            if longest <= LAST_STEP:
                break
        return np.asarray(self._all_strengths(logs[None])[0])

    def best_at_a_bound(self) -> Array | None:
        """Where one strength is at a bound and the evidence higher than at the start, if anywhere.

        The evidence can have several maxima: where one strength holds a coefficient at the
        identity, that of its smoothness no longer matters.
        """
        count = len(self._varied)
        points = np.tile(self.start, (1 + 2 * count, 1))
        for k in range(count):
            points[1 + 2 * k : 3 + 2 * k, k] = self._bounds[:, k]
        values = self._at(points)[0]
        best = int(np.argmax(values))
        return points[best] if values[best] > values[0] + RIVAL_MARGIN else None

    def _at(self, logs: Array) -> tuple[Array, Array]:
        values, gradients = self._evidence(self._all_strengths(logs))
        return values, gradients[:, self._varied]

    def _all_strengths(self, logs: Array) -> Array:
        strengths = np.empty((len(logs), len(self._prior)))
        strengths[:] = self._prior
        strengths[:, self._varied] = np.exp(logs)
        return strengths

    def _ascent_step(self, logs: Array, gradient: Array, curvature: Array) -> Array:
        """Newton step within the bounds, uphill also where the evidence is not concave."""
        # Up to rounding, for strengths were multiplied by the design effect and divided again.
        smallest, largest = self._bounds[0] + BOUND_ROUNDING, self._bounds[1] - BOUND_ROUNDING
        step = np.zeros_like(logs)
        at_bound = ((logs <= smallest) & (gradient <= 0)) | ((logs >= largest) & (gradient >= 0))
        inside = np.flatnonzero(~at_bound)
        if len(inside) == 0:
            return step
        own = curvature[inside[:, None], inside]
        # A single strength is its own direction.
        values, vectors = (own[0], ONE) if len(own) == 1 else np.linalg.eigh(0.5 * (own + own.T))
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
        return np.asarray(np.clip(logs + step, *self._bounds) - logs)


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
