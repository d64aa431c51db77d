"""How strongly to shrink, taken from the data: the strength under which they are most likely.

With a normal prior of precision s around the identity, the log evidence of the data, by Laplace's
approximation, has its maximum where::

    s * |offset|^2  =  gamma  +  2 / (1 + s)

``gamma`` is the number of coefficients that the data determine (MacKay 1992); the second term comes
from a half-Cauchy prior of scale 1 on the prior's standard deviation, without which separable data
would ask for no shrinkage at all. Where the coefficients stray from the identity by less than their
own error, s grows without limit and the identity is what is left.

Rows of one group say less than as many independent rows. The likelihood is divided by the design
effect: the inflation of the variance of the coefficients, on average over them.
"""

from dataclasses import dataclass, replace

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.fitting import fit
from tempocal.solve.newton import solve_flat
from tempocal.solve.problem import Problem, Solution, Strength

# Change of the logarithm of a strength at which it is settled.
SETTLED = 1e-3
MAX_ROUNDS = 30
MAX_UPDATES = 500
# Strengths beyond this multiple of the curvature are the identity.
STRONGEST = 1e6


@dataclass(frozen=True)
class Shrunk:
    """A fit, and the strength that the data chose for it."""

    solution: Solution
    strength: Strength
    design_effect: float | None = None


def fit_by_evidence(problem: Problem, groups: Groups | None) -> Shrunk:
    """Fit with the strengths under which the data are most likely.

    Each round fits exactly at the current strengths and then updates them on the quadratic
    approximation of the loss around that fit, which takes no pass over the rows.
    """
    strength = Strength(1.0, 1.0)
    solution = fit(problem, strength)
    passes = solution.passes
    effect = design_effect(problem, solution, groups)
    for _ in range(MAX_ROUNDS):
        chosen = _most_evidence(problem, solution, strength, effect)
        change = np.abs(np.log(chosen) - np.log(strength)).max()
        strength = chosen
        solution = fit(problem, strength, start=solution.theta)
        passes += solution.passes
        if change < SETTLED:
            break
    return Shrunk(replace(solution, passes=passes), strength, effect)


def design_effect(problem: Problem, solution: Solution, groups: Groups | None) -> float:
    """How many rows of these groups say as much as one independent row; at least 1."""
    if groups is None or solution.hessian is None:
        return 1.0
    if groups.count == 1:
        # All rows hang together: they are one observation.
        return max(1.0, problem.rows.total_weight)
    theta = np.tile(solution.theta, (problem.rows.n_keys, 1))
    gradients = problem.rows.group_gradients(theta, groups.codes, groups.count)
    variance = gradients.T @ gradients * (groups.count / (groups.count - 1))
    inflation = [solve_flat(solution.hessian, column)[j] for j, column in enumerate(variance)]
    return max(1.0, float(np.mean(inflation)))


def _most_evidence(
    problem: Problem, solution: Solution, strength: Strength, effect: float
) -> Strength:
    """Strengths of most evidence where the loss is quadratic around the solution."""
    assert solution.hessian is not None
    hessian = solution.hessian / effect
    offset = solution.theta - problem.identity
    # At the optimum the gradient of the loss is minus the pull.
    target = hessian @ offset + problem.pull(strength) / effect * offset
    strongest = STRONGEST * (1.0 + float(np.diag(hessian).max()))
    prior = Strength(*(s / effect for s in strength))
    for _ in range(MAX_UPDATES):
        updated = _fixed_point(problem, hessian, target, prior)
        updated = Strength(*(min(s, strongest) for s in updated))
        change = np.abs(np.log(updated) - np.log(prior)).max()
        prior = updated
        if change < SETTLED / 10:
            break
    return Strength(*(s * effect for s in prior))


def _fixed_point(problem: Problem, hessian: Array, target: Array, prior: Strength) -> Strength:
    """Apply the formula at the top of this file once, to slopes and to biases."""
    covariance = np.linalg.pinv(hessian + np.diag(problem.pull(prior)), hermitian=True)
    offset = covariance @ target
    updated = []
    for s, block in zip(prior, (problem.slopes, problem.biases), strict=True):
        determined = float(block.sum() - s * np.diag(covariance)[block].sum())
        spread = float(offset[block] @ offset[block])
        wanted = (max(determined, 0.0) + 2.0 / (1.0 + s)) / max(spread, 1e-300)
        updated.append(wanted if block.any() else s)
    return Strength(*updated)
