"""How strongly to shrink, taken from the data: the strength under which they are most likely.

With a normal prior of precision s around the identity, the log evidence of the data, by Laplace's
approximation, has its maximum where::

    s * |offset|^2  =  gamma  +  2 / (1 + s)

``gamma`` is the number of coefficients that the data determine (MacKay 1992); the second term comes
from a half-Cauchy prior of scale 1 on the prior's standard deviation. Where the coefficients stray
from the identity by less than their own error, s grows without limit and the identity is what is
left. In the other direction s has a floor, without which separable data would ask for next to no
shrinkage: the prior moves a coefficient by about one, or by as much as moves the linear predictor
of a typical row by one, where that is more.

Rows of one group say less than as many independent rows. The likelihood is divided by the design
effect: the inflation of the variance of the coefficients, on average over them.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import Sums
from tempocal.solve.fitting import SAMPLE_ROWS, fit
from tempocal.solve.newton import solve_flat
from tempocal.solve.problem import Problem, Solution, Strength

# Change of the logarithm of a strength at which it is settled.
SETTLED = 1e-3
MAX_ROUNDS = 30
MAX_UPDATES = 500
# Groups that are taken to say no more than a row each, beside those that are there.
PRIOR_GROUPS = 4
# Strengths beyond this multiple of the curvature are the identity.
STRONGEST = 1e6
# Eigenvalues and gradients below this are as good as zero.
SMALLEST = 1e-300


@dataclass(frozen=True)
class Shrunk:
    """A fit, and the strength that the data chose for it."""

    solution: Solution
    strength: Strength
    design_effect: float | None = None


def fit_by_evidence(problem: Problem, groups: Groups | None) -> Shrunk:
    """Fit with the strengths under which the data are most likely.

    Each round fits exactly at the current strengths and then updates them on the quadratic
    approximation of the loss around that fit, which takes no pass over the rows. Updates need not
    settle where a bound comes and goes, so that of all rounds the one of most evidence is kept.
    """
    strength = Strength(1.0, 1.0)
    solution = fit(problem, strength)
    effect = design_effect(problem, solution, groups)
    weakest = weakest_prior(problem)
    rounds = [_Round(log_evidence(problem, solution, strength, effect), solution, strength)]
    for _ in range(MAX_ROUNDS):
        chosen = _most_evidence(problem, solution, strength, effect, weakest)
        change = np.abs(np.log(chosen) - np.log(strength)).max()
        strength = chosen
        solution = fit(problem, strength, start=solution.theta)
        rounds.append(_Round(log_evidence(problem, solution, strength, effect), solution, strength))
        if change < SETTLED:
            break
    best = rounds[-1] if change < SETTLED else max(rounds, key=lambda one: one.log_evidence)
    passes = sum(one.solution.passes for one in rounds)
    return Shrunk(replace(best.solution, passes=passes), best.strength, effect)


@dataclass(frozen=True)
class _Round:
    log_evidence: float
    solution: Solution
    strength: Strength


def design_effect(problem: Problem, solution: Solution, groups: Groups | None) -> float:
    """How many rows of these groups say as much as one independent row; at least 1.

    A handful of groups cannot tell, so that some are added in which all rows are as one.
    """
    if groups is None or solution.hessian is None:
        return 1.0
    at_most = problem.rows.total_weight / groups.count
    if groups.count == 1:
        return max(1.0, at_most)
    theta = np.tile(solution.theta, (problem.rows.n_keys, 1))
    gradients = problem.rows.group_gradients(theta, groups.codes, groups.count)
    variance = gradients.T @ gradients * (groups.count / (groups.count - 1))
    inflation = [solve_flat(solution.hessian, column)[j] for j, column in enumerate(variance)]
    known = groups.count * float(np.mean(inflation)) + PRIOR_GROUPS * at_most
    return max(1.0, known / (groups.count + PRIOR_GROUPS))


def weakest_prior(problem: Problem) -> Strength:
    """Mean square of the features of slopes and of biases, but at most 1.

    It is read off the curvature where p is 1/2.
    """
    sample = problem.rows.sample(SAMPLE_ROWS)
    sums = sample.sums(np.zeros((1, sample.n_coefficients)))
    squares = 4.0 * np.diag(_curvature_of(sums)[0]) / sample.total_weight
    means = [float(squares[block].mean()) if block.any() else 1.0 for block in _blocks(problem)]
    return Strength(*(min(1.0, max(mean, SMALLEST)) for mean in means))


def log_evidence(problem: Problem, solution: Solution, strength: Strength, effect: float) -> float:
    """Log of the likelihood averaged over the prior, times the prior of the strength.

    A free coefficient is integrated as a normal one, by its curvature; one that a bound holds back
    as an exponential one, by its gradient.
    """
    hessian, gradient = _derivatives(solution)
    free = _free(problem, solution)
    prior = Strength(*(s / effect for s in strength))
    pull = problem.pull(prior)
    offset = solution.theta - problem.identity
    fit_of_both = -solution.loss / effect - 0.5 * float(pull @ (offset * offset))
    curvature = (hessian / effect + np.diag(pull))[np.ix_(free, free)]
    volume = -0.5 * float(np.log(np.maximum(np.linalg.eigvalsh(curvature), SMALLEST)).sum())
    volume -= float(np.log(np.maximum(gradient[~free] / effect, SMALLEST)).sum())
    volume -= 0.5 * np.log(2.0 * np.pi) * float((~free).sum())
    width = 0.5 * float(np.log(pull[pull > 0]).sum())
    used = [s for s, block in zip(prior, _blocks(problem), strict=True) if block.any()]
    return float(fit_of_both + volume + width - sum(np.log1p(1.0 / s) for s in used))


def _most_evidence(
    problem: Problem, solution: Solution, strength: Strength, effect: float, weakest: Strength
) -> Strength:
    """Strengths of most evidence where the loss is quadratic around the solution."""
    hessian = _derivatives(solution)[0] / effect
    strongest = STRONGEST * (1.0 + float(np.diag(hessian).max()))
    quadratic = _Quadratic(
        hessian=hessian,
        offset=solution.theta - problem.identity,
        pull=problem.pull(strength) / effect,
        free=_free(problem, solution),
    )
    prior = Strength(*(s / effect for s in strength))
    for _ in range(MAX_UPDATES):
        updated = _fixed_point(problem, quadratic, prior)
        updated = Strength(
            *(max(min(s, strongest), least) for s, least in zip(updated, weakest, strict=True))
        )
        change = np.abs(np.log(updated) - np.log(prior)).max()
        prior = updated
        if change < SETTLED / 10:
            break
    return Strength(*(s * effect for s in prior))


@dataclass(frozen=True)
class _Quadratic:
    """The loss around an optimum at ``offset`` from the identity, under the ``pull`` there."""

    hessian: Array
    offset: Array
    pull: Array
    free: NDArray[np.bool_]

    def optimum(self, pull: Array) -> tuple[Array, Array]:
        """Offset under another pull and variance of each coefficient; bounds still hold."""
        free = self.free
        curvature = (self.hessian + np.diag(pull))[np.ix_(free, free)]
        covariance = np.linalg.pinv(curvature, hermitian=True)
        # At the optimum the gradient of the loss is minus the pull.
        change = ((self.pull - pull) * self.offset)[free]
        offset, variance = self.offset.copy(), np.zeros(len(self.offset))
        offset[free] += covariance @ change
        variance[free] = np.diag(covariance)
        return offset, variance


def _fixed_point(problem: Problem, quadratic: _Quadratic, prior: Strength) -> Strength:
    """Apply the formula at the top of this file once, to slopes and to biases."""
    offset, variance = quadratic.optimum(problem.pull(prior))
    updated = []
    for s, block in zip(prior, _blocks(problem), strict=True):
        determined = float((block & quadratic.free).sum() - s * variance[block].sum())
        spread = float(offset[block] @ offset[block])
        wanted = (max(determined, 0.0) + 2.0 / (1.0 + s)) / max(spread, SMALLEST)
        updated.append(wanted if block.any() else s)
    return Strength(*updated)


def _blocks(problem: Problem) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return problem.slopes, problem.biases


def _free(problem: Problem, solution: Solution) -> NDArray[np.bool_]:
    """Which coefficients no bound holds back."""
    return np.asarray(solution.theta > problem.lower)


def _curvature_of(sums: Sums) -> Array:
    assert sums.hessian is not None
    return sums.hessian


def _derivatives(solution: Solution) -> tuple[Array, Array]:
    if solution.hessian is None or solution.gradient is None:
        raise InputError(
            f'shrinkage="auto" has no curvature to go by with {len(solution.theta)} coefficients: '
            "give a number"
        )
    return solution.hessian, solution.gradient
