"""The loss around an optimum as a quadratic, on which strengths are chosen without the rows."""

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

# What is asked for: a strength, or None for one from the data.
FixedStrengths = tuple[float | None, ...]

# Change of the logarithm of a strength at which it is settled.
STRENGTH_TOLERANCE = 1e-8
MAX_UPDATES = 500
# With this many coefficients an update takes time, and a new fit is the better next step.
COSTLY_UPDATE, FEW_UPDATES = 60, 5
# Pulls beyond this multiple of the curvature leave the identity, or a curve without a bend; where
# one coefficient pulls on another, a stronger one would drown the loss in rounding errors.
MAX_STRENGTH, MAX_SMOOTHING = 1e6, 1e4
# Eigenvalues and gradients below this are as good as zero.
SMALLEST = 1e-300


@dataclass(frozen=True)
class LaplaceApproximation:
    """The loss around an optimum at ``offset`` from the identity, under the ``prior`` there."""

    problem: Problem
    effect: float
    hessian: Array  # (blocks, n, n)
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
        """Expand the loss around a fit; the likelihood is divided by the design effect."""
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
        """Apply the fixed point until strengths no longer change."""
        curvature = 1.0 + float(np.einsum("tpp->tp", self.hessian).max())
        max_strengths = [curvature * _max_strength(one) for one in self.problem.penalties]
        prior = self.prior
        many = self.hessian.shape[1] > COSTLY_UPDATE
        for _ in range(FEW_UPDATES if many else max_updates):
            updated = tuple(
                max(min(new, most), least) if one is None else old
                for new, most, least, one, old in zip(
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
            s * self.effect if one is None else one
            for s, one in zip(prior, fixed_strengths, strict=True)
        )

    def fixed_point_update(self, prior: Strengths) -> Strengths:
        """Apply the formula at the top of `evidence.py` once."""
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
        """Covariance and offset under another prior; bounds still hold."""
        covariance = invert_blocks(self.hessian + self._penalty(prior), self._free_blocks)
        # At the optimum the gradient of the loss is minus the pull.
        change = np.zeros_like(self.offset)
        for k in self._used:
            change += (self.prior[k] - prior[k]) * self._penalty_products[k]
        return covariance, self.offset + _blockwise(covariance, change)

    def _penalty(self, prior: Strengths) -> Array:
        """All pulls together, in blocks."""
        total = self._baseline_blocks
        for k in self._used:
            total = total + prior[k] * self._penalty_blocks[k]
        return total

    @cached
    def _used(self) -> list[int]:
        """Penalties that pull on anything."""
        return [k for k, one in enumerate(self.problem.penalties) if one.is_used]

    @cached
    def _penalty_blocks(self) -> list[Array]:
        """The matrix of each penalty, in blocks."""
        return [blocks_like(one.matrix, self.hessian) for one in self.problem.penalties]

    @cached
    def _penalty_products(self) -> list[Array]:
        """The matrix of each penalty times the offset."""
        return [one.dot(self.offset) for one in self.problem.penalties]

    @cached
    def _baseline_blocks(self) -> Array:
        """The pull that is there at any strength, in blocks."""
        return blocks_like(self.problem.baseline_penalty / self.effect, self.hessian)

    @cached
    def _free_blocks(self) -> NDArray[np.bool_]:
        return self.free.reshape(self.hessian.shape[:2])


def max_log_change(strengths: Strengths, before: Strengths) -> float:
    """Largest change of the logarithm of a strength."""
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
