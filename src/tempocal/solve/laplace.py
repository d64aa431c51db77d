"""Laplace approximation of the loss around a fit, on which strengths are updated without the rows.

The update is the fixed point derived in `evidence.py`. On the quadratic approximation of the loss,
the coefficients and their covariance at other strengths are small linear algebra.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.solve.linear_systems import as_blocks, blocks_like, invert_blocks
from tempocal.solve.penalties import Penalty, Strengths
from tempocal.solve.problem import Problem, Solution

# Strengths that are fixed by the user, None where one is chosen from the data.
FixedStrengths = tuple[float | None, ...]

# Change of the logarithm of a strength below which it has converged.
STRENGTH_TOLERANCE = 1e-8
MAX_UPDATES = 500
# With more coefficients than this an update is costly: refit after a few of them.
COSTLY_UPDATE, FEW_UPDATES = 60, 5
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
    effect : float
        Design effect, by which the likelihood is divided.
    hessian : ndarray of shape (blocks, n, n)
        Hessian of the loss, divided by the design effect.
    offset : ndarray of shape (coefficients,)
        The optimum, minus the identity.
    prior : tuple of float
        Strengths of the fit, divided by the design effect.
    free : ndarray of bool, shape (coefficients,)
        Which coefficients are not at a bound.
    mode_in_log : bool
        Whether the mode is taken in the logarithm of every strength, not only of smoothing ones.
    """

    problem: Problem
    effect: float
    hessian: Array
    offset: Array
    prior: Strengths
    free: NDArray[np.bool_]
    mode_in_log: bool

    @classmethod
    def at(
        cls,
        problem: Problem,
        solution: Solution,
        strengths: Strengths,
        effect: float,
        *,
        mode_in_log: bool = False,
    ) -> Self:
        """Expand the loss around a fit."""
        return cls(
            problem=problem,
            effect=effect,
            hessian=hessian_and_gradient(solution)[0] / effect,
            offset=solution.theta - problem.identity,
            prior=tuple(s / effect for s in strengths),
            free=solution.theta > problem.lower,
            mode_in_log=mode_in_log,
        )

    def converge(
        self,
        min_strengths: Strengths,
        fixed_strengths: FixedStrengths,
        max_updates: int = MAX_UPDATES,
    ) -> Strengths:
        """Iterate the fixed point until the strengths converge."""
        curvature = 1.0 + float(np.einsum("tpp->tp", self.hessian).max())
        max_strengths = [curvature * _max_strength(penalty) for penalty in self.problem.penalties]
        prior = self.prior
        is_costly = self.hessian.shape[1] > COSTLY_UPDATE
        for _ in range(FEW_UPDATES if is_costly else max_updates):
            updated = tuple(
                max(min(new, largest), smallest) if fixed is None else old
                for new, largest, smallest, fixed, old in zip(
                    self.fixed_point_update(prior),
                    max_strengths,
                    min_strengths,
                    fixed_strengths,
                    prior,
                    strict=True,
                )
            )
            change = max_log_change(updated, prior)
            prior = updated
            if change < STRENGTH_TOLERANCE / 10:
                break
        return tuple(
            s * self.effect if fixed is None else fixed
            for s, fixed in zip(prior, fixed_strengths, strict=True)
        )

    def fixed_point_update(self, prior: Strengths) -> Strengths:
        """Update the strengths once by the formula at the top of `evidence.py`."""
        covariance, offset = self.optimum(prior)
        variance_reduction = invert_blocks(self._penalty(prior), self._free_blocks) - covariance
        updated = list(prior)
        for k in self._used:
            s, penalty = prior[k], self.problem.penalties[k]
            n_determined = s * float(
                np.einsum("tpq,tqp->", variance_reduction, self._penalty_blocks[k])
            )
            squared_norm = penalty.quadratic_form(offset)
            if (penalty.is_smoothing or self.mode_in_log) and s > 0:
                squared_norm += 1.0 / s
            updated[k] = (max(n_determined, 0.0) + 2.0 / (1.0 + s)) / max(squared_norm, SMALLEST)
        return tuple(updated)

    def optimum(self, prior: Strengths) -> tuple[Array, Array]:
        """Covariance and offset at other strengths; coefficients at a bound stay there."""
        covariance = invert_blocks(self.hessian + self._penalty(prior), self._free_blocks)
        # At the optimum the gradient of the loss is minus that of the penalty.
        change = np.zeros_like(self.offset)
        for k in self._used:
            change += (self.prior[k] - prior[k]) * self._penalty_products[k]
        return covariance, self.offset + _blockwise(covariance, change)

    def _penalty(self, prior: Strengths) -> Array:
        total = self._baseline_blocks
        for k in self._used:
            total = total + prior[k] * self._penalty_blocks[k]
        return total

    @cached
    def _used(self) -> list[int]:
        """Indices of the penalties that penalize anything."""
        return [k for k, penalty in enumerate(self.problem.penalties) if penalty.is_used]

    @cached
    def _penalty_blocks(self) -> list[Array]:
        return [blocks_like(penalty.matrix, self.hessian) for penalty in self.problem.penalties]

    @cached
    def _penalty_products(self) -> list[Array]:
        return [penalty.dot(self.offset) for penalty in self.problem.penalties]

    @cached
    def _baseline_blocks(self) -> Array:
        return blocks_like(self.problem.baseline_penalty / self.effect, self.hessian)

    @cached
    def _free_blocks(self) -> NDArray[np.bool_]:
        return self.free.reshape(self.hessian.shape[:2])


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
    return as_blocks(solution.hessian), solution.gradient


def _blockwise(blocks: Array, vector: Array) -> Array:
    product = np.einsum("tpq,tq->tp", blocks, vector.reshape(blocks.shape[:2]))
    return np.asarray(product.ravel(), dtype=np.float64)


def _max_strength(penalty: Penalty) -> float:
    if not penalty.is_smoothing:
        return MAX_STRENGTH
    return MAX_SMOOTHING / max(float(np.diag(penalty.matrix).max()), SMALLEST)
