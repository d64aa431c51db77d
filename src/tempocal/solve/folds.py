"""How strongly to shrink, by cross-validation over groups.

A fold's own fit is one Newton step away from the fit to all rows, taken with the sums of the other
folds; then one exact pass, with the coefficients of each fold, scores the rows that were left out.
Models too large for a Hessian leave out one fold only, and fit the rest anew.
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
# From almost the identity to a prior as wide as the coefficients are large. A weaker one would suit
# rows that are separable, left out or not, and be certain about them.
STRENGTHS = tuple(10.0**power for power in range(5, -1, -1))
# A weaker pull is not tried once this many in a row were worse than the best.
PATIENCE = 2


def fold_codes(n_rows: int, groups: Groups | None, n_folds: int = N_FOLDS, seed: int = 0) -> Codes:
    """Shuffle groups, or rows where there are none, and deal them to the folds in turn."""
    count = n_rows if groups is None else groups.count
    dealt = np.random.default_rng(seed).permutation(count) % n_folds
    return dealt if groups is None else dealt[groups.codes]


def fit_by_folds(problem: Problem) -> RegularizedFit:
    """Fit with the strength that does best on rows left out; ``problem.rows`` is keyed by fold."""
    score = (
        _hold_out_one_fold if problem.n_coefficients > problem.max_newton else _hold_out_each_fold
    )
    candidates: list[_Candidate] = []
    start: Array | None = None
    for value in STRENGTHS:
        candidates.append(score(problem, (value,) * len(problem.penalties), start))
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
    """A strength, a fit at it and the loss on rows left out."""

    strengths: Strengths
    solution: Solution
    loss: float
    passes: int


def _hold_out_one_fold(problem: Problem, strengths: Strengths, start: Array | None) -> _Candidate:
    """Fit without the first fold and score it."""
    solution = fit(replace(problem, held_out_fold=0), strengths, start)
    theta = np.tile(solution.theta, (problem.rows.n_keys, 1))
    loss = float(problem.rows.losses(theta)[0])
    return _Candidate(strengths, solution, loss, solution.passes + 1)


def _hold_out_each_fold(problem: Problem, strengths: Strengths, start: Array | None) -> _Candidate:
    """Fit all rows, step to the fit of each fold and score the rows it left out."""
    solution = fit(problem, strengths, start)
    theta = fold_coefficients(problem, solution, strengths)
    loss = float(problem.rows.losses(theta).sum())
    return _Candidate(strengths, solution, loss, solution.passes + 2)


def fold_coefficients(problem: Problem, solution: Solution, strengths: Strengths) -> Array:
    """Coefficients fitted without each fold, of shape (folds, coefficients), by a Newton step."""
    sums = problem.rows.sums(np.tile(solution.theta, (problem.rows.n_keys, 1)))
    assert sums.hessian is not None
    curvature = sums.hessian.sum(axis=0) + as_matrix(problem.penalty_matrix(strengths))
    # At the optimum the gradients of all folds and the pull cancel: without a fold, minus its own
    # gradient is left.
    steps = [
        solve_semidefinite(curvature - own, gradient)
        for own, gradient in zip(sums.hessian, sums.gradient, strict=True)
    ]
    return np.maximum(solution.theta + np.array(steps), problem.lower)
