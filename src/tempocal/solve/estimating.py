"""Fits whose targets move with the coefficients: Jacobian and information.

The coefficients of `tempocal.rows.sequence_rows.SequenceRows` are the root of an estimating
function Psi(theta). Minus its derivative, the Jacobian A, is not symmetric, and smaller than the
Hessian H of the loss at fixed targets: a forecast that changes takes its target with it. With M the
variance of Psi over groups, coefficients have the covariance ``A^-1 M A^-T``.

Penalty strengths are chosen on a quadratic loss, which needs a symmetric matrix. It is the Hessian
times the share ``trace(V A) / trace(V H)`` with ``V = (H + S)^-1``, the average of A relative to H
in the directions that the data determine. Each coefficient of a key has a share of its own, over
all keys: forecasts say much about a slope, but next to nothing about a bias that is the same at all
times, for what a forecast and the next one have in common cancels. Where forecasts are right and
steps of a sequence are learned from one by one, ``M = A`` up to the noise: each step is then as
good as an independent row, however long the sequence.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import block_diag

from tempocal.links import Array
from tempocal.rows import Directions, SequenceRows
from tempocal.solve.linear_systems import invert_blocks
from tempocal.solve.moving_targets import FAR, CenterSearch, Tangent
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem, Solution

# The share is not below this, for coefficients that no forecast tells from the next.
MIN_SHARE = 1e-3


def with_information(problem: Problem, strengths: Strengths, solution: Solution) -> Solution:
    """Scale the Hessian of a solution by the shares of it that moving targets leave."""
    rows = problem.rows
    if not isinstance(rows, SequenceRows) or solution.hessian is None or solution.unbounded:
        return solution
    earlier = np.zeros_like(solution.hessian)
    if problem.earlier_loss is not None:
        earlier = problem.earlier_loss.curvature
    hessian = solution.hessian - earlier
    shares = information_shares(problem, strengths, solution, hessian)
    return replace(
        solution,
        hessian=scaled_by(shares, hessian) + earlier,
        converged=solution.converged and rows.converged,
    )


def information_shares(
    problem: Problem, strengths: Strengths, solution: Solution, hessian: Array
) -> Array:
    """Jacobian relative to the Hessian, for each coefficient of a key."""
    assert solution.hessian is not None
    penalized = solution.hessian + problem.penalty_blocks(strengths)
    free = (solution.theta > problem.lower).reshape(penalized.shape[:2])
    inverse = invert_blocks(penalized, free, bandwidth=problem.bandwidth)
    assert isinstance(problem.rows, SequenceRows)
    at_keys = problem.at_keys(solution.theta)
    jacobian = in_blocks(problem, problem.rows.jacobian_near(at_keys, directions_of(problem)))
    return average_shares(inverse, jacobian, hessian, problem.rows.n_coefficients)


def average_shares(inverse: Array, jacobian: Array, hessian: Array, width: int) -> Array:
    """Average of the Jacobian relative to the Hessian, for each of ``width`` coefficients."""
    own = [np.s_[:, p::width, p::width] for p in range(width)]
    return np.array([average_share(inverse[at], jacobian[at], hessian[at]) for at in own])


def scaled_by(shares: Array, hessian: Array) -> Array:
    """Hessian in blocks, times the shares of its coefficients, which repeat."""
    roots = np.sqrt(np.tile(shares, hessian.shape[1] // len(shares)))
    return np.asarray(hessian * roots[:, None] * roots)


def average_share(inverse: Array, jacobian: Array, hessian: Array) -> float:
    """Average of the Jacobian relative to the Hessian, both in blocks, weighted by an inverse."""
    total = float(np.einsum("tpq,tqp->", inverse, hessian))
    share = float(np.einsum("tpq,tqp->", inverse, jacobian)) / total if total > 0.0 else 1.0
    return max(share, MIN_SHARE)


def directions_of(problem: Problem) -> Directions:
    """Coefficients of every key by each coefficient of the problem."""
    return Directions(problem.basis, problem.n_coefficients, partial(_directions, problem))


def _directions(problem: Problem) -> Array:
    basis, width = problem.basis, problem.rows.n_coefficients
    count = problem.n_coefficients // width
    if basis.ndim == 1:
        basis = (basis[:, None] == np.arange(count)).astype(np.float64)
    by_key = basis[:, None, :, None] * np.eye(width)[:, None, :]
    return np.asarray(by_key.reshape(len(basis), width, count * width))


def search_coefficients(problem: Problem) -> CenterSearch:
    """Return a search for the root of the estimating function, in the coefficients."""
    rows = problem.rows
    assert isinstance(rows, SequenceRows)
    directions, earlier = directions_of(problem), problem.earlier_loss

    def jacobian(theta: Array, within: float) -> Array:
        own = rows.jacobian_near(problem.at_keys(theta), directions, within=within)
        return own if earlier is None or earlier.jacobian is None else own + earlier.jacobian

    # With earlier rows each step needs the Jacobian, which is not near their curvature.
    far = FAR if earlier is None else np.inf
    return CenterSearch(rows, lambda step: rows.scaled(problem.at_keys(step)), jacobian, far)


def tangent_of(problem: Problem, strengths: Strengths, solution: Solution) -> Tangent:
    """Return the estimating function near a solution at fixed targets."""
    assert solution.hessian is not None
    return Tangent(
        as_matrix(problem.penalty_matrix(strengths)),
        from_blocks(solution.hessian),
        solution.theta > problem.lower,
    )


def from_blocks(blocks: Array) -> Array:
    """Return the matrix that has these blocks on its diagonal."""
    return blocks[0] if len(blocks) == 1 else block_diag(*blocks)


def in_blocks(problem: Problem, matrix: Array) -> Array:
    """Diagonal blocks of a matrix of all coefficients, as those of the Hessian."""
    if not problem.is_separate:
        return matrix[None]
    width = problem.rows.n_coefficients
    n = len(matrix) // width
    blocks = matrix.reshape(n, width, n, width)
    return np.ascontiguousarray(np.einsum("tptq->tpq", blocks))
