"""Posterior of a fit to second order, and its update with later rows (online Laplace).

After a fit the loss of its rows is replaced by its second-order expansion at the optimum. Later
rows are fitted with that quadratic added to their loss, and the sum is expanded again. Discounting
multiplies the quadratic by a factor below 1 (exponential forgetting).
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.evidence import RegularizedFit, StrengthChoice, min_strengths_of
from tempocal.solve.group_gradients import (
    cluster_variance,
    gradient_squares,
    groups_in_blocks,
    least_effect,
)
from tempocal.solve.laplace import FixedStrengths, hessian_and_gradient
from tempocal.solve.linear_systems import invert_blocks
from tempocal.solve.minimize import fit
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.quadratic_loss import QuadraticLoss

# The next call continues from these strengths: they need not converge fully in one call.
MAX_ROUNDS_PER_UPDATE = 2


@dataclass(frozen=True)
class Scatter:
    """Scatter of the gradients over groups, for the sandwich covariance.

    Attributes
    ----------
    squares : ndarray of shape (blocks, n, n)
        Sum over groups of the outer products of their gradients.
    counts : ndarray of shape (blocks,)
        Number of groups with rows in each block.
    """

    squares: Array
    counts: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "squares", np.ascontiguousarray(self.squares))

    @classmethod
    def of(cls, problem: Problem, solution: Solution, groups: Groups) -> Self:
        """Compute it from the rows of a fit."""
        squares = gradient_squares(problem, solution, groups)
        return cls(squares, groups_in_blocks(problem, solution, groups))

    @property
    def variance(self) -> Array:
        """Variance of the gradient over groups, in blocks."""
        return cluster_variance(self.squares, self.counts)

    def __add__(self, other: "Scatter") -> "Scatter":
        return Scatter(self.squares + other.squares, self.counts + other.counts)

    def discounted(self, keep: float) -> Self:
        """Multiply gradients and counts by ``keep``, and so outer products by its square."""
        return replace(self, squares=keep**2 * self.squares, counts=keep * self.counts)


@dataclass(frozen=True)
class MovingTargets:
    """The estimating function of rows that learned from forecasts, to first order.

    Attributes
    ----------
    jacobian : ndarray of shape (n, n)
        Minus its derivative in all coefficients and rates; not symmetric.
    squares : ndarray of shape (n, n)
        Sum over groups of its outer products.
    count : float
        Number of groups.
    """

    jacobian: Array
    squares: Array
    count: float

    def __add__(self, other: "MovingTargets") -> "MovingTargets":
        return MovingTargets(
            self.jacobian + other.jacobian, self.squares + other.squares, self.count + other.count
        )

    def discounted(self, keep: float) -> Self:
        """Multiply the function and the count by ``keep``, and so outer products by its square."""
        return replace(
            self,
            jacobian=keep * self.jacobian,
            squares=keep**2 * self.squares,
            count=keep * self.count,
        )

    def expanded(self, indices: NDArray[np.intp], count: int) -> Self:
        """Insert coefficients without rows: the known ones get these indices among ``count``."""
        at = np.ix_(indices, indices)

        def expand(matrix: Array) -> Array:
            expanded_matrix = np.zeros((count, count))
            expanded_matrix[at] = matrix
            return expanded_matrix

        return replace(self, jacobian=expand(self.jacobian), squares=expand(self.squares))


@dataclass(frozen=True)
class Posterior:
    """Posterior of one model, given all rows so far.

    Attributes
    ----------
    theta : ndarray of shape (coefficients,)
        The mode.
    gradient : ndarray of shape (coefficients,)
        Gradient of the summed loss at the mode, without penalties.
    curvature : ndarray of shape (blocks, n, n)
        Hessian of the summed loss: one block of all coefficients and rates, or one per time step.
    strengths, fixed_strengths, min_strengths : tuple
        Strengths of the penalties, those fixed by the user (None if chosen from the data), and the
        lower bounds of those that are chosen.
    log_rates : tuple of float
        Rates of the curve, which updates do not change.
    scatter : Scatter or None
        Scatter of the gradients over groups, in the same blocks; None if rows are independent.
    effect : float
        Design effect.
    noise : ndarray of shape (blocks, n, n) or None
        Variance of the gradient of independent rows, where discounting made it differ from
        ``curvature``.
    moving : MovingTargets or None
        Of rows that learned from forecasts. Then ``curvature`` is the symmetric information on
        which strengths are chosen, a share of the Hessian, and the gradient follows the Jacobian.
    """

    theta: Array
    gradient: Array
    curvature: Array
    strengths: Strengths
    fixed_strengths: FixedStrengths
    min_strengths: Strengths
    log_rates: tuple[float, ...] = ()
    scatter: Scatter | None = None
    effect: float = 1.0
    noise: Array | None = None
    moving: MovingTargets | None = None

    def __post_init__(self) -> None:
        # A loaded posterior has contiguous arrays: the same layout gives the same rounding.
        for name in ("theta", "gradient", "curvature"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def quadratic_loss(self) -> QuadraticLoss:
        """Loss of all rows as a quadratic of the coefficients, at fixed rates."""
        n = len(self.theta) // len(self.curvature)
        jacobian = None
        if self.moving is not None:
            jacobian = self.moving.jacobian[: len(self.theta), : len(self.theta)]
        return QuadraticLoss(self.theta, self.gradient, self.curvature[:, :n, :n], jacobian)

    def discounted(self, keep: float) -> Self:
        """Multiply the weight of all rows so far by ``keep``."""
        if keep == 1.0:
            return self
        noise = self.curvature if self.noise is None else self.noise
        return replace(
            self,
            gradient=keep * self.gradient,
            curvature=keep * self.curvature,
            scatter=None if self.scatter is None else self.scatter.discounted(keep),
            noise=keep**2 * noise,
            moving=None if self.moving is None else self.moving.discounted(keep),
        )

    def for_penalties(self, count: int) -> Self:
        """Have a strength for each penalty.

        Posteriors that were saved before slopes were pooled have one strength for all slopes. It is
        that of deviations and of the common slope as well; where it was fixed these slopes had a
        strength of 1.
        """
        if len(self.strengths) == count:
            return self
        is_chosen = self.fixed_strengths[0] is None

        def inserted(values: tuple[Any, ...]) -> tuple[Any, ...]:
            of_pooled = values[0] if is_chosen else 1.0
            return (*values[:2], of_pooled, of_pooled, *values[2:])

        return replace(
            self,
            strengths=inserted(self.strengths),
            fixed_strengths=inserted(self.fixed_strengths),
            min_strengths=inserted(self.min_strengths),
        )

    def updated_noise(self, curvature: Array) -> Array | None:
        """Add the variance of new independent rows: the increase of the curvature."""
        if self.noise is None:
            return None
        n = curvature.shape[1]
        return self.noise[:, :n, :n] + curvature - self.curvature[:, :n, :n]

    def expanded(self, indices: NDArray[np.intp], count: int) -> Self:
        """Insert time steps without rows: the known ones get these indices among ``count``."""
        width = self.curvature.shape[1]

        def expand(values: Array) -> Array:
            expanded_values = np.zeros((count, *values.shape[1:]))
            expanded_values[indices] = values
            return expanded_values

        known = self.theta.reshape(-1, width)
        # New steps start from the mean of the known ones.
        theta = np.tile(known.mean(axis=0), (count, 1))
        theta[indices] = known
        scatter = self.scatter
        if scatter is not None:
            scatter = Scatter(expand(scatter.squares), expand(scatter.counts))
        noise = None if self.noise is None else expand(self.noise)
        moving = self.moving
        if moving is not None:
            of_known = (indices[:, None] * width + np.arange(width)).ravel()
            moving = moving.expanded(of_known, count * width)
        return replace(
            self,
            theta=theta.ravel(),
            gradient=expand(self.gradient.reshape(-1, width)).ravel(),
            curvature=expand(self.curvature),
            scatter=scatter,
            noise=noise,
            moving=moving,
        )


def update_fit(problem: Problem, previous: Posterior, groups: Groups | None) -> RegularizedFit:
    """Fit later rows with the earlier loss of the problem, which is that of ``previous``.

    Strengths that are not fixed are updated to those of maximum evidence on all rows so far.
    """
    previous = previous.for_penalties(len(problem.penalties))
    # L-BFGS would give no Hessian for the posterior.
    problem = replace(problem, max_newton=max(problem.max_newton, problem.n_coefficients))
    solution = fit(problem, previous.strengths, previous.theta)
    result = RegularizedFit(
        solution, previous.strengths, _updated_design_effect(problem, solution, previous, groups)
    )
    if None not in previous.fixed_strengths or solution.unbounded:
        return result
    choice = StrengthChoice(problem, previous.fixed_strengths, previous.min_strengths)
    return choice.converge(result, MAX_ROUNDS_PER_UPDATE)


def _updated_design_effect(
    problem: Problem, solution: Solution, previous: Posterior, groups: Groups | None
) -> float:
    """Design effect of all rows so far.

    As in `design_effect`, with J the previous design effect times the previous Hessian, plus the
    outer products of the gradients of the new groups.
    """
    if groups is None or solution.hessian is None:
        return previous.effect
    blocks = solution.hessian
    n = blocks.shape[1]
    penalized = blocks + problem.penalty_blocks(previous.strengths)
    inverse = invert_blocks(penalized, np.ones(blocks.shape[:2], dtype=bool))
    squares = gradient_squares(problem, solution, groups)
    previous_variance = previous.effect * previous.curvature[:, :n, :n]
    clustered = float(np.einsum("tpq,tqp->", inverse, previous_variance + squares))
    independent = float(np.einsum("tpq,tqp->", inverse, blocks))
    if not independent > 0.0:
        return previous.effect
    return max(least_effect(problem), clustered / independent)


def posterior_of(
    problem: Problem,
    result: RegularizedFit,
    fixed_strengths: FixedStrengths,
    effect: float,
    previous: Posterior | None = None,
) -> Posterior:
    """Return the posterior of a fit, whose problem includes the ``previous`` one."""
    solution, min_strengths = result.solution, result.strengths
    curvature, gradient = hessian_and_gradient(solution)
    if previous is not None:
        min_strengths = previous.for_penalties(len(problem.penalties)).min_strengths
    elif None in fixed_strengths:
        min_strengths = min_strengths_of(problem)
    penalty_gradient = problem.penalty_gradient(result.strengths, solution.theta - problem.identity)
    return Posterior(
        solution.theta,
        gradient - penalty_gradient,
        curvature,
        strengths=result.strengths,
        fixed_strengths=fixed_strengths,
        min_strengths=min_strengths,
        effect=effect,
        noise=None if previous is None else previous.updated_noise(curvature),
    )
