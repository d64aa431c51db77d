"""Penalty strengths by cross-validation over groups.

The fit without a fold is approximated by one Newton step from the fit to all rows, with the
gradient and Hessian of the other folds. One exact pass with the coefficients of each fold then
gives the loss of the held-out rows. Models too large for a Hessian hold out a single fold and are
refitted without it.
"""

from dataclasses import dataclass, replace

import numpy as np

from tempocal.inputs import Codes, Groups
from tempocal.links import Array
from tempocal.solve.evidence import RegularizedFit
from tempocal.solve.linear_systems import solve_semidefinite
from tempocal.solve.minimize import fit
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem, Solution

N_FOLDS = 5
# From almost the identity to a prior as wide as the coefficients are large. Weaker ones would win
# on separable data, held-out rows included, and give overconfident fits.
STRENGTHS = tuple(10.0**power for power in range(5, -1, -1))
# Stop after this many strengths in a row that were worse than the best.
PATIENCE = 2


def fold_codes(n_rows: int, groups: Groups | None, n_folds: int = N_FOLDS, seed: int = 0) -> Codes:
    """Assign groups, or rows if there are none, to folds of equal size at random."""
    count = n_rows if groups is None else groups.count
    fold_of_group = np.random.default_rng(seed).permutation(count) % n_folds
    return fold_of_group if groups is None else fold_of_group[groups.codes]


def fit_by_folds(problem: Problem) -> RegularizedFit:
    """Fit at the strength with the lowest held-out loss; ``problem.rows`` is keyed by fold."""
    evaluate_strengths = (
        _hold_out_one_fold if problem.n_coefficients > problem.max_newton else _hold_out_each_fold
    )
    candidates: list[_Candidate] = []
    start: Array | None = None
    for value in STRENGTHS:
        candidates.append(evaluate_strengths(problem, (value,) * len(problem.penalties), start))
        start = candidates[-1].solution.theta
        losses = [one.loss for one in candidates]
        if len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE:
            break
    best = candidates[int(np.argmin(losses))]
    solution = fit(problem, best.strengths, start=best.solution.theta)
    passes = solution.passes + sum(one.passes for one in candidates)
    return RegularizedFit(replace(solution, passes=passes), best.strengths)


@dataclass(frozen=True)
class _Candidate:
    """A strength, the fit at it and its held-out loss."""

    strengths: Strengths
    solution: Solution
    loss: float
    passes: int


def _hold_out_one_fold(problem: Problem, strengths: Strengths, start: Array | None) -> _Candidate:
    solution = fit(replace(problem, held_out_fold=0), strengths, start)
    theta = np.tile(solution.theta, (problem.rows.n_keys, 1))
    loss = float(problem.rows.all_rows.losses(theta)[0])
    return _Candidate(strengths, solution, loss, solution.passes + 1)


def _hold_out_each_fold(problem: Problem, strengths: Strengths, start: Array | None) -> _Candidate:
    solution = fit(problem, strengths, start)
    theta = fold_coefficients(problem, solution, strengths)
    loss = float(problem.rows.losses(theta).sum())
    return _Candidate(strengths, solution, loss, solution.passes + 2)


def fold_coefficients(problem: Problem, solution: Solution, strengths: Strengths) -> Array:
    """Coefficients without each fold by one Newton step, of shape (folds, coefficients)."""
    sums = problem.rows.sums(np.tile(solution.theta, (problem.rows.n_keys, 1)))
    assert sums.hessian is not None
    curvature = sums.hessian.sum(axis=0) + as_matrix(problem.penalty_matrix(strengths))
    # At the optimum the gradients of all folds and of the penalty sum to zero. Without a fold,
    # minus its own gradient remains.
    steps = [
        solve_semidefinite(curvature - own, gradient)
        for own, gradient in zip(sums.hessian, sums.gradient, strict=True)
    ]
    return np.maximum(solution.theta + np.array(steps), problem.lower)
