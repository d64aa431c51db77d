"""How strongly to shrink, taken from the data: the strengths under which they are most likely.

With a normal prior of precision ``S = sum of s_k S_k`` around the identity, the log evidence of the
data, by Laplace's approximation, has its maximum where for every penalty::

    s * offset' S_k offset  =  s * trace(S^- S_k) - s * trace(V S_k)  +  2 / (1 + s)

V is the covariance of the coefficients, so that for S_k = 1 the first two terms are the number of
coefficients that the data determine (MacKay 1992; Wood and Fasiolo 2017 for several penalties on
the same coefficients); the last comes from a half-Cauchy prior of scale 1 on the prior's standard
deviation. Where the coefficients stray from the identity by less than their own error, s grows
without limit and the identity is what is left. In the other direction s has a floor, without which
separable data would ask for next to no shrinkage: the prior moves a coefficient by about one, or by
as much as moves the linear predictor of a typical row by one, where that is more.

A penalty that ties coefficients to each other, such as one on the roughness of a curve, is not to
grow without limit: a curve without any bend would be held with a certainty that the data do not
give, and its band would be too narrow (it covered 91 % where it says 95). There the mode is taken
in the logarithm of s, which adds 1 to the left side.

Rows of one group say less than as many independent rows. The likelihood is divided by the design
effect: the inflation of the variance of the coefficients, on average over them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.fitting import SAMPLE_ROWS, fit
from tempocal.solve.linear import invert_blocks
from tempocal.solve.penalties import Penalty, Strengths, log_determinant, total_pull
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.scores import score_variance

# What is asked for: a strength, or None for one from the data.
Wanted = tuple[float | None, ...]
Fit = Callable[[Problem, Strengths, Array | None], Solution]

# Change of the logarithm of a strength at which it is settled.
SETTLED = 1e-3
# Change of the logarithm of the design effect that is too small to matter.
SETTLED_EFFECT = 0.05
MAX_ROUNDS = 30
MAX_UPDATES = 500
# With this many coefficients an update takes time, and a new fit is the better next step.
MANY_COEFFICIENTS, FEW_UPDATES = 60, 5
# Groups that are taken to say no more than a row each, beside those that are there.
PRIOR_GROUPS = 4
# Pulls beyond this multiple of the curvature leave the identity, or a curve without a bend; where
# one coefficient pulls on another, a stronger one would drown the loss in rounding errors.
STRONGEST, STRONGEST_TIE = 1e6, 1e4
# Eigenvalues and gradients below this are as good as zero.
SMALLEST = 1e-300


@dataclass(frozen=True)
class Shrunk:
    """A fit, and the strengths that the data chose for it."""

    solution: Solution
    strengths: Strengths
    design_effect: float | None = None


def fit_by_evidence(
    problem: Problem,
    groups: Groups | None,
    wanted: Wanted | None = None,
    *,
    fit: Fit = fit,
    first: Strengths | None = None,
    start: Array | None = None,
) -> Shrunk:
    """Fit with the strengths under which the data are most likely, but for those ``wanted``.

    Each round fits exactly at the current strengths and then updates them on the quadratic
    approximation of the loss around that fit, which takes no pass over the rows. Updates need not
    settle where a bound comes and goes, so that of all rounds the one of most evidence is kept.
    The ``first`` strengths and the coefficients to ``start`` from save rounds and passes.
    """
    if wanted is None:
        wanted = (None,) * len(problem.penalties)
    strengths = first or tuple(1.0 if one is None else one for one in wanted)
    solution = fit(problem, strengths, start)
    effect = design_effect(problem, solution, groups, strengths)
    settled = _settle(problem, solution, strengths, effect, wanted=wanted, fit=fit)
    # The design effect depends a little on the strengths that it has chosen.
    again = design_effect(problem, settled.solution, groups, settled.strengths)
    if abs(np.log(again / effect)) < SETTLED_EFFECT:
        return settled
    return _settle(problem, settled.solution, settled.strengths, again, wanted=wanted, fit=fit)


def _settle(
    problem: Problem,
    solution: Solution,
    strengths: Strengths,
    effect: float,
    *,
    wanted: Wanted,
    fit: Fit,
) -> Shrunk:
    """Go on from some strengths until they no longer change."""
    weakest = weakest_prior(problem)
    rounds = [_Round(log_evidence(problem, solution, strengths, effect), solution, strengths)]
    for _ in range(MAX_ROUNDS):
        chosen = _most_evidence(
            problem, solution, strengths, effect, weakest=weakest, wanted=wanted
        )
        change = _largest_change(chosen, strengths)
        strengths = chosen
        solution = fit(problem, strengths, solution.theta)
        evidence = log_evidence(problem, solution, strengths, effect)
        rounds.append(_Round(evidence, solution, strengths))
        if change < SETTLED:
            break
    best = rounds[-1] if change < SETTLED else max(rounds, key=lambda one: one.log_evidence)
    passes = sum(one.solution.passes for one in rounds)
    return Shrunk(replace(best.solution, passes=passes), best.strengths, effect)


@dataclass(frozen=True)
class _Round:
    log_evidence: float
    solution: Solution
    strengths: Strengths


def design_effect(
    problem: Problem, solution: Solution, groups: Groups | None, strengths: Strengths
) -> float:
    """How many rows of these groups say as much as one independent row; at least 1.

    It is the variance of the coefficients over groups, beside what it were if rows were
    independent: ``trace(A^-1 J) / trace(A^-1 H)``, with the curvature A of the penalized loss. So
    directions count as far as the data determine them. A handful of groups cannot tell, so that
    some are added in which all rows are as one.
    """
    if groups is None or solution.hessian is None:
        return 1.0
    at_most = problem.rows.total_weight / groups.count
    if groups.count == 1:
        return max(1.0, at_most)
    blocks = _as_blocks(solution.hessian)
    pull = _like_blocks(problem.pull(strengths), blocks)
    inverse = invert_blocks(blocks + pull, np.ones(blocks.shape[:2], dtype=bool))
    variance = score_variance(problem, solution, groups)
    alone = float(np.einsum("tpq,tqp->", inverse, blocks))
    inflation = float(np.einsum("tpq,tqp->", inverse, variance)) / max(alone, SMALLEST)
    known = groups.count * inflation + PRIOR_GROUPS * at_most
    return max(1.0, known / (groups.count + PRIOR_GROUPS))


def weakest_prior(problem: Problem) -> Strengths:
    """Mean square of the features that each penalty pulls on, but at most 1.

    It is read off the curvature where p is 1/2.
    """
    sample = problem.rows.thin(SAMPLE_ROWS)
    sums = sample.sums(np.zeros((sample.n_keys, sample.n_coefficients)))
    assert sums.hessian is not None
    squares = 4.0 * np.diag(sums.hessian.sum(axis=0)) / sample.total_weight
    # All functions of a basis see the same features.
    everywhere = np.tile(squares, problem.n_coefficients // len(squares))
    means = [
        float(np.average(everywhere, weights=_diagonal(one))) if one.is_used else 1.0
        for one in problem.penalties
    ]
    return tuple(min(1.0, max(mean, SMALLEST)) for mean in means)


def log_evidence(
    problem: Problem, solution: Solution, strengths: Strengths, effect: float
) -> float:
    """Log of the likelihood averaged over the prior, times the prior of the strengths.

    A free coefficient is integrated as a normal one, by its curvature; one that a bound holds back
    as an exponential one, by its gradient.
    """
    hessian, gradient = _derivatives(solution)
    free = solution.theta > problem.lower
    prior = tuple(s / effect for s in strengths)
    pull = problem.pull(prior)
    fit_of_both = -solution.loss / effect - problem.cost(prior, solution.theta)
    curvature = hessian / effect + _like_blocks(pull, hessian)
    # What is not free is left out: ones on the diagonal have no logarithm.
    held = ~free.reshape(curvature.shape[:2])
    curvature[held] = 0.0
    curvature.transpose(0, 2, 1)[held] = 0.0
    np.einsum("tpp->tp", curvature)[held] = 1.0
    eigenvalues = np.linalg.eigvalsh(curvature)
    volume = -0.5 * float(np.log(np.maximum(eigenvalues, SMALLEST)).sum())
    volume -= float(np.log(np.maximum(gradient[~free] / effect, SMALLEST)).sum())
    volume -= 0.5 * np.log(2.0 * np.pi) * float((~free).sum())
    width = 0.5 * log_determinant(pull)
    used = [
        (s, one.is_tie)
        for s, one in zip(prior, problem.penalties, strict=True)
        if one.is_used and s > 0
    ]
    hyperprior = sum(np.log1p(1.0 / s) + 0.5 * np.log(s) * is_tie for s, is_tie in used)
    return float(fit_of_both + volume + width - hyperprior)


def _most_evidence(
    problem: Problem,
    solution: Solution,
    strengths: Strengths,
    effect: float,
    *,
    weakest: Strengths,
    wanted: Wanted,
) -> Strengths:
    """Strengths of most evidence where the loss is quadratic around the solution."""
    quadratic = _Quadratic.around(problem, solution, strengths, effect)
    return quadratic.settle(weakest, wanted)


@dataclass(frozen=True)
class Doubt:
    """Strengths that could be, and the coefficients at them.

    Where the data leave nothing but the identity, they do so for want of evidence, not because
    they are sure of it. Had the mode been taken in the logarithms of the strengths, these would
    have been chosen; what they leave open is what a band must hold.
    """

    strengths: Strengths
    theta: Array


def doubt(
    problem: Problem, solution: Solution, strengths: Strengths, effect: float, wanted: Wanted
) -> Doubt:
    """Return the weaker strengths that the data would allow, where they were not given."""
    quadratic = _Quadratic.around(problem, solution, strengths, effect, doubtful=True)
    weaker = quadratic.settle(weakest_prior(problem), wanted)
    prior = tuple(s / effect for s in weaker)
    return Doubt(weaker, problem.identity + quadratic.optimum(prior)[1])


@dataclass(frozen=True)
class _Quadratic:
    """The loss around an optimum at ``offset`` from the identity, under the ``prior`` there."""

    problem: Problem
    effect: float
    hessian: Array  # (blocks, n, n)
    offset: Array
    prior: Strengths
    free: NDArray[np.bool_]
    doubtful: bool

    @classmethod
    def around(
        cls,
        problem: Problem,
        solution: Solution,
        strengths: Strengths,
        effect: float,
        *,
        doubtful: bool = False,
    ) -> Self:
        """Expand the loss around a fit; the likelihood is divided by the design effect."""
        return cls(
            problem=problem,
            effect=effect,
            hessian=_derivatives(solution)[0] / effect,
            offset=solution.theta - problem.identity,
            prior=tuple(s / effect for s in strengths),
            free=solution.theta > problem.lower,
            doubtful=doubtful,
        )

    def settle(self, weakest: Strengths, wanted: Wanted) -> Strengths:
        """Apply the fixed point until strengths no longer change."""
        curvature = 1.0 + float(np.einsum("tpp->tp", self.hessian).max())
        strongest = [curvature * _strongest(one) for one in self.problem.penalties]
        prior = self.prior
        many = self.hessian.shape[1] > MANY_COEFFICIENTS
        for _ in range(FEW_UPDATES if many else MAX_UPDATES):
            updated = tuple(
                max(min(new, most), least) if one is None else old
                for new, most, least, one, old in zip(
                    self.fixed_point(prior), strongest, weakest, wanted, prior, strict=True
                )
            )
            change = _largest_change(updated, prior)
            prior = updated
            if change < SETTLED / 10:
                break
        return tuple(
            s * self.effect if one is None else one for s, one in zip(prior, wanted, strict=True)
        )

    def fixed_point(self, prior: Strengths) -> Strengths:
        """Apply the formula at the top of this file once."""
        covariance, offset = self.optimum(prior)
        inverse = invert_blocks(self._pull(prior), self._free_blocks)
        updated = []
        for s, penalty in zip(prior, self.problem.penalties, strict=True):
            own = _like_blocks(penalty.matrix, self.hessian)
            determined = s * float(np.einsum("tpq,tqp->", inverse - covariance, own))
            spread = penalty.cost(offset)
            if (penalty.is_tie or self.doubtful) and s > 0:
                spread += 1.0 / s
            wanted = (max(determined, 0.0) + 2.0 / (1.0 + s)) / max(spread, SMALLEST)
            updated.append(wanted if penalty.is_used else s)
        return tuple(updated)

    def optimum(self, prior: Strengths) -> tuple[Array, Array]:
        """Covariance and offset under another prior; bounds still hold."""
        covariance = invert_blocks(self.hessian + self._pull(prior), self._free_blocks)
        # At the optimum the gradient of the loss is minus the pull.
        change = np.zeros_like(self.offset)
        for before, now, penalty in zip(self.prior, prior, self.problem.penalties, strict=True):
            change += (before - now) * penalty.times(self.offset)
        return covariance, self.offset + _blockwise(covariance, change)

    def _pull(self, prior: Strengths) -> Array:
        """All pulls together, in blocks."""
        steady = self.problem.steady / self.effect
        return _like_blocks(total_pull(self.problem.penalties, prior, steady), self.hessian)

    @property
    def _free_blocks(self) -> NDArray[np.bool_]:
        return self.free.reshape(self.hessian.shape[:2])


def _blockwise(blocks: Array, vector: Array) -> Array:
    product = np.einsum("tpq,tq->tp", blocks, vector.reshape(blocks.shape[:2]))
    return np.asarray(product.ravel(), dtype=np.float64)


def _as_blocks(matrix: Array) -> Array:
    return matrix if matrix.ndim == 3 else matrix[None]


def _like_blocks(pull: Array, blocks: Array) -> Array:
    """Put a matrix, or the diagonal of one, in the blocks that the Hessian comes in."""
    if pull.ndim == 2:
        return pull[None]
    return pull.reshape(blocks.shape[:2])[:, :, None] * np.eye(blocks.shape[1])


def _strongest(penalty: Penalty) -> float:
    if not penalty.is_tie:
        return STRONGEST
    return STRONGEST_TIE / max(float(np.diag(penalty.matrix).max()), SMALLEST)


def _diagonal(penalty: Penalty) -> Array:
    return penalty.matrix if penalty.matrix.ndim == 1 else np.diag(penalty.matrix)


def _largest_change(strengths: Strengths, before: Strengths) -> float:
    pairs = [(a, b) for a, b in zip(strengths, before, strict=True) if a != b]
    return max((abs(float(np.log(a / b))) for a, b in pairs), default=0.0)


def _derivatives(solution: Solution) -> tuple[Array, Array]:
    if solution.hessian is None or solution.gradient is None:
        raise InputError(
            f'shrinkage="auto" has no curvature to go by with {len(solution.theta)} coefficients: '
            "give a number"
        )
    return _as_blocks(solution.hessian), solution.gradient
