"""What a fit remembers of its rows: enough to go on without them."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.blockwise_newton import fit_blockwise
from tempocal.solve.evidence import RegularizedFit, converge_strengths, min_strengths_of
from tempocal.solve.group_gradients import cluster_variance, gradient_squares, groups_in_blocks
from tempocal.solve.laplace import FixedStrengths, hessian_and_gradient
from tempocal.solve.linear_systems import as_blocks, blocks_like, invert_blocks
from tempocal.solve.newton import minimize_newton
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.quadratic_loss import QuadraticLoss

# Strengths go on in the next call: there is no need to settle to the last digit in this one.
MAX_ROUNDS_PER_UPDATE, MAX_UPDATES_PER_ROUND = 2, 30


@dataclass(frozen=True)
class Scatter:
    """How gradients differ between groups.

    Attributes
    ----------
    squares : ndarray of shape (blocks, n, n)
        Sum over groups of the squares of their gradients.
    counts : ndarray of shape (blocks,)
        How many groups had rows in each block.
    """

    squares: Array
    counts: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "squares", np.ascontiguousarray(self.squares))

    @classmethod
    def of(cls, problem: Problem, solution: Solution, groups: Groups) -> Self:
        """Look at the rows of a fit."""
        squares = gradient_squares(problem, solution, groups)
        return cls(squares, groups_in_blocks(problem, solution, groups))

    @property
    def variance(self) -> Array:
        """Variance of the gradient over groups, in blocks."""
        return cluster_variance(self.squares, self.counts)

    def __add__(self, other: "Scatter") -> "Scatter":
        return Scatter(self.squares + other.squares, self.counts + other.counts)

    def discounted(self, keep: float) -> Self:
        """Let groups count less; a variance is made of squares."""
        return replace(self, squares=keep**2 * self.squares, counts=keep * self.counts)


@dataclass(frozen=True)
class Posterior:
    """One model after all rows that it has seen.

    Attributes
    ----------
    theta : ndarray of shape (coefficients,)
        The coefficients.
    gradient : ndarray of shape (coefficients,)
        Gradient of the summed loss there, without pulls.
    curvature : ndarray of shape (blocks, n, n)
        Its Hessian: one block of all coefficients and rates, or one for each step.
    strengths, wanted, weakest : tuple
        The strengths of its penalties, those that the user gave, and the weakest that data may
        choose where they choose any.
    log_rates : tuple of float
        The rates of its curve, which stay as well.
    scatter : Scatter or None
        How gradients differ between groups, in the same blocks; None where rows are independent.
    effect : float
        How many rows say as much as one independent row.
    noise : ndarray of shape (blocks, n, n) or None
        Variance of the gradient of independent rows, where it is no longer their curvature.
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

    def __post_init__(self) -> None:
        # Sums go the same way over arrays that are laid out alike, as those of a file are.
        for name in ("theta", "gradient", "curvature"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def quadratic_loss(self) -> QuadraticLoss:
        """The loss of all rows as a quadratic of the coefficients."""
        n = len(self.theta) // len(self.curvature)
        return QuadraticLoss(self.theta, self.gradient, self.curvature[:, :n, :n])

    def discounted(self, keep: float) -> Self:
        """Let everything count less."""
        if keep == 1.0:
            return self
        noise = self.curvature if self.noise is None else self.noise
        return replace(
            self,
            gradient=keep * self.gradient,
            curvature=keep * self.curvature,
            scatter=None if self.scatter is None else self.scatter.discounted(keep),
            noise=keep**2 * noise,
        )

    def updated_noise(self, curvature: Array) -> Array | None:
        """Noise of independent rows once there are more of them, and so more curvature."""
        if self.noise is None:
            return None
        n = curvature.shape[1]
        return self.noise[:, :n, :n] + curvature - self.curvature[:, :n, :n]

    def expanded(self, indices: NDArray[np.intp], count: int) -> Self:
        """Put the steps at some places among ``count`` of them; of the others nothing is known."""
        width = self.curvature.shape[1]

        def expand(values: Array) -> Array:
            onto = np.zeros((count, *values.shape[1:]))
            onto[indices] = values
            return onto

        known = self.theta.reshape(-1, width)
        # Others start in the midst of those that are known.
        theta = np.tile(known.mean(axis=0), (count, 1))
        theta[indices] = known
        scatter = self.scatter
        if scatter is not None:
            scatter = Scatter(expand(scatter.squares), expand(scatter.counts))
        noise = None if self.noise is None else expand(self.noise)
        return replace(
            self,
            theta=theta.ravel(),
            gradient=expand(self.gradient.reshape(-1, width)).ravel(),
            curvature=expand(self.curvature),
            scatter=scatter,
            noise=noise,
        )


def update_fit(
    problem: Problem, previous: Posterior, groups: Groups | None, *, blockwise: bool = False
) -> RegularizedFit:
    """Fit to rows that came later, beside the past of the problem, which is that of ``before``.

    Strengths that come from the data follow: those of most evidence, on all that is known.
    """
    fit = fit_blockwise if blockwise else _fit
    solution = fit(problem, previous.strengths, previous.theta)
    result = RegularizedFit(
        solution, previous.strengths, _updated_design_effect(problem, solution, previous, groups)
    )
    if None not in previous.fixed_strengths or solution.unbounded:
        return result
    return converge_strengths(
        problem,
        result,
        fixed_strengths=previous.fixed_strengths,
        min_strengths=previous.min_strengths,
        fit=fit,
        max_rounds=MAX_ROUNDS_PER_UPDATE,
        max_updates=MAX_UPDATES_PER_ROUND,
    )


def _updated_design_effect(
    problem: Problem, solution: Solution, previous: Posterior, groups: Groups | None
) -> float:
    """How many rows say as much as one independent row, judged by those that came before and now.

    It is the ratio of `design_effect`, with the squares of the groups that are there now added to
    what was known: each counts by how much its rows say.
    """
    if groups is None or solution.hessian is None:
        return previous.effect
    blocks = as_blocks(solution.hessian)
    n = blocks.shape[1]
    penalty_matrix = blocks_like(problem.penalty_matrix(previous.strengths), blocks)
    inverse = invert_blocks(blocks + penalty_matrix, np.ones(blocks.shape[:2], dtype=bool))
    squares = gradient_squares(problem, solution, groups)
    known = previous.effect * previous.curvature[:, :n, :n]
    clustered = float(np.einsum("tpq,tqp->", inverse, known + squares))
    independent = float(np.einsum("tpq,tqp->", inverse, blocks))
    return max(1.0, clustered / independent) if independent > 0.0 else previous.effect


def _fit(problem: Problem, strengths: Strengths, start: Array | None) -> Solution:
    # L-BFGS would leave no curvature to go on from.
    return minimize_newton(problem, strengths, problem.identity if start is None else start)


def posterior_of(
    problem: Problem,
    result: RegularizedFit,
    fixed_strengths: FixedStrengths,
    effect: float,
    previous: Posterior | None = None,
) -> Posterior:
    """Return what a fit knows beside what was known ``before``."""
    solution, min_strengths = result.solution, result.strengths
    curvature, gradient = hessian_and_gradient(solution)
    if previous is not None:
        min_strengths = previous.min_strengths
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
