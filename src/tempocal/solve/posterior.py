"""What a fit remembers of its rows: enough to go on without them."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.blockwise_newton import fit_separately
from tempocal.solve.evidence import Shrunk, settle, weakest_prior
from tempocal.solve.group_gradients import groups_in_blocks, score_squares, variance_of
from tempocal.solve.linear_systems import as_blocks, invert_blocks, like_blocks
from tempocal.solve.newton import minimize_newton
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.quadratic import Wanted, derivatives_of
from tempocal.solve.quadratic_loss import Past

# Strengths go on in the next call: there is no need to settle to the last digit in this one.
ROUNDS_A_CALL, UPDATES_A_ROUND = 2, 30


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
        squares = score_squares(problem, solution, groups)
        return cls(squares, groups_in_blocks(problem, solution, groups))

    @property
    def variance(self) -> Array:
        """Variance of the gradient over groups, in blocks."""
        return variance_of(self.squares, self.counts)

    def __add__(self, other: "Scatter") -> "Scatter":
        return Scatter(self.squares + other.squares, self.counts + other.counts)

    def faded(self, keep: float) -> Self:
        """Let groups count less; a variance is made of squares."""
        return replace(self, squares=keep**2 * self.squares, counts=keep * self.counts)


@dataclass(frozen=True)
class Memory:
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
    wanted: Wanted
    weakest: Strengths
    log_rates: tuple[float, ...] = ()
    scatter: Scatter | None = None
    effect: float = 1.0
    noise: Array | None = None

    def __post_init__(self) -> None:
        # Sums go the same way over arrays that are laid out alike, as those of a file are.
        for name in ("theta", "gradient", "curvature"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def past(self) -> Past:
        """The loss of all rows as a quadratic of the coefficients."""
        n = len(self.theta) // len(self.curvature)
        return Past(self.theta, self.gradient, self.curvature[:, :n, :n])

    def faded(self, keep: float) -> Self:
        """Let everything count less."""
        if keep == 1.0:
            return self
        noise = self.curvature if self.noise is None else self.noise
        return replace(
            self,
            gradient=keep * self.gradient,
            curvature=keep * self.curvature,
            scatter=None if self.scatter is None else self.scatter.faded(keep),
            noise=keep**2 * noise,
        )

    def more_noise(self, curvature: Array) -> Array | None:
        """Noise of independent rows once there are more of them, and so more curvature."""
        if self.noise is None:
            return None
        n = curvature.shape[1]
        return self.noise[:, :n, :n] + curvature - self.curvature[:, :n, :n]

    def among(self, places: NDArray[np.intp], count: int) -> Self:
        """Put the steps at some places among ``count`` of them; of the others nothing is known."""
        width = self.curvature.shape[1]

        def spread(values: Array) -> Array:
            onto = np.zeros((count, *values.shape[1:]))
            onto[places] = values
            return onto

        known = self.theta.reshape(-1, width)
        # Others start in the midst of those that are known.
        theta = np.tile(known.mean(axis=0), (count, 1))
        theta[places] = known
        scatter = self.scatter
        if scatter is not None:
            scatter = Scatter(spread(scatter.squares), spread(scatter.counts))
        noise = None if self.noise is None else spread(self.noise)
        return replace(
            self,
            theta=theta.ravel(),
            gradient=spread(self.gradient.reshape(-1, width)).ravel(),
            curvature=spread(self.curvature),
            scatter=scatter,
            noise=noise,
        )


def go_on(
    problem: Problem, before: Memory, groups: Groups | None, *, separate: bool = False
) -> Shrunk:
    """Fit to rows that came later, beside the past of the problem, which is that of ``before``.

    Strengths that come from the data follow: those of most evidence, on all that is known.
    """
    fit = fit_separately if separate else _fit
    solution = fit(problem, before.strengths, before.theta)
    shrunk = Shrunk(solution, before.strengths, _effect(problem, solution, before, groups))
    if None not in before.wanted or solution.unbounded:
        return shrunk
    return settle(
        problem,
        shrunk,
        wanted=before.wanted,
        weakest=before.weakest,
        fit=fit,
        max_rounds=ROUNDS_A_CALL,
        max_updates=UPDATES_A_ROUND,
    )


def _effect(problem: Problem, solution: Solution, before: Memory, groups: Groups | None) -> float:
    """How many rows say as much as one independent row, judged by those that came before and now.

    It is the ratio of `design_effect`, with the squares of the groups that are there now added to
    what was known: each counts by how much its rows say.
    """
    if groups is None or solution.hessian is None:
        return before.effect
    blocks = as_blocks(solution.hessian)
    n = blocks.shape[1]
    pull = like_blocks(problem.pull(before.strengths), blocks)
    inverse = invert_blocks(blocks + pull, np.ones(blocks.shape[:2], dtype=bool))
    squares = score_squares(problem, solution, groups)
    known = before.effect * before.curvature[:, :n, :n]
    varied = float(np.einsum("tpq,tqp->", inverse, known + squares))
    alone = float(np.einsum("tpq,tqp->", inverse, blocks))
    return max(1.0, varied / alone) if alone > 0.0 else before.effect


def _fit(problem: Problem, strengths: Strengths, start: Array | None) -> Solution:
    # L-BFGS would leave no curvature to go on from.
    return minimize_newton(problem, strengths, problem.identity if start is None else start)


def remember(
    problem: Problem, shrunk: Shrunk, wanted: Wanted, effect: float, before: Memory | None = None
) -> Memory:
    """Return what a fit knows beside what was known ``before``."""
    solution, weakest = shrunk.solution, shrunk.strengths
    curvature, gradient = derivatives_of(solution)
    if before is not None:
        weakest = before.weakest
    elif None in wanted:
        weakest = weakest_prior(problem)
    pulled = problem.pulled(shrunk.strengths, solution.theta - problem.identity)
    return Memory(
        solution.theta,
        gradient - pulled,
        curvature,
        strengths=shrunk.strengths,
        wanted=wanted,
        weakest=weakest,
        effect=effect,
        noise=None if before is None else before.more_noise(curvature),
    )
