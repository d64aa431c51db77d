"""How sure the coefficients along time are: robust to rows of one group saying the same.

With A the curvature of the penalized loss, J the variance of its gradient over groups and S the
penalty matrix, the covariance of the coefficients is::

    V  =  A^-1 (J + d S) A^-1

J carries the noise. d S, with the design effect d, carries the bias of the penalty, as
large as the prior expects it to be: bands around shrunken curves then cover as often as they say,
on average over time (Nychka 1988). Without groups J is the curvature of the loss: rows are taken
as independent. A curve with a rate has a row and a column more for it.

Strengths from the data are not certain. Where they leave little but the identity, a band that took
them at their word would be a line: of fifty sequences such bands held the truth in 63 % of the
cases. So S has the weaker strengths that the data would allow as well, and the distance to the
coefficients under these is added to the variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import TooManyCoefficientsError
from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.maps import Band, Basis, StepBand
from tempocal.solve import (
    Posterior,
    Scatter,
    Strengths,
    alternative_fit,
    design_effect,
    posterior_of,
    projected_squares,
)
from tempocal.solve.evidence import AlternativeFit
from tempocal.solve.linear_systems import invert_blocks
from tempocal.solve.penalties import as_matrix
from tempocal.solve.profile import FASTEST, SLOWEST
from tempocal.temporal.curve_models import CurveFit

# Change of a log rate by which derivatives are taken.
RATE_STEP = 1e-4
# Share of the coefficients that one group can determine by itself, at most.
LARGEST_LEVERAGE = 0.5
# A variance as good as infinite, which can be multiplied by zero.
UNKNOWN = 1e30
SMALLEST_GRADIENT = 1e-15


@dataclass(frozen=True)
class Inference:
    """What is known about the certainty of a fit.

    Attributes
    ----------
    band : Band or StepBand
        Variances along time.
    optimism : float
        How much lower the summed loss is on the rows of the fit than it would be on new rows.
    design_effect : float
        How many rows say as much as one independent row.
    n_determined : float
        Effective number of coefficients.
    posterior : Posterior
        Posterior of the model, which further rows can update.
    """

    band: Band | StepBand
    optimism: float
    design_effect: float
    n_effective: float
    posterior: Posterior


def infer(fitted: CurveFit, groups: Groups | None, previous: Posterior | None = None) -> Inference:
    """Work out how sure a fit is; ``previous`` is the posterior without its rows."""
    tangent = _Tangent(fitted)
    posterior, alternative = _posterior_and_alternative(tangent, groups, previous)
    hessian = fitted.result.solution.hessian
    if hessian is not None and hessian.ndim == 3:
        return _of_steps(fitted, posterior, alternative)
    return _of_curve(tangent, posterior, alternative)


def _posterior_and_alternative(
    tangent: "_Tangent", groups: Groups | None, previous: Posterior | None
) -> tuple[Posterior, AlternativeFit]:
    """Return the posterior, and the fit at the weaker strengths that the data also support."""
    fitted, hessian = tangent.fitted, tangent.fitted.result.solution.hessian
    if hessian is None:
        raise TooManyCoefficientsError(
            f"with {len(fitted.result.solution.theta)} coefficients a band is too much to ask: "
            "take Spline() or fewer classes"
        )
    problem, result = fitted.problem, fitted.result
    (curvature, scatter), effect = tangent.curvatures(groups), result.design_effect
    if effect is None:
        n = hessian.shape[-1]
        variance = None if scatter is None else scatter.variance[:, :n, :n]
        effect = design_effect(
            problem, result.solution, groups, result.strengths, variance=variance
        )
    posterior = posterior_of(problem, result, fitted.fixed_strengths, effect, previous)
    alternative = AlternativeFit(result.strengths, posterior.theta)
    if None in fitted.fixed_strengths:
        alternative = alternative_fit(
            problem,
            result.solution,
            result.strengths,
            effect,
            fixed_strengths=fitted.fixed_strengths,
            min_strengths=posterior.min_strengths,
        )
    if curvature is None:
        curvature = posterior.curvature
    elif previous is not None:
        curvature = curvature + previous.curvature
    if scatter is not None and previous is not None and previous.scatter is not None:
        scatter = scatter + previous.scatter
    noise = None if previous is None else previous.updated_noise(curvature)
    known = replace(
        posterior, curvature=curvature, scatter=scatter, log_rates=fitted.log_rates, noise=noise
    )
    return known, alternative


def _of_steps(fitted: CurveFit, posterior: Posterior, alternative: AlternativeFit) -> Inference:
    hessian, effect, strengths = posterior.curvature, posterior.effect, fitted.result.strengths
    free = (posterior.theta > fitted.problem.lower).reshape(hessian.shape[:2])
    penalty_blocks = _diagonal_blocks(fitted, strengths)
    sure = inverse = invert_blocks(hessian + penalty_blocks, free)
    determined = np.einsum("tpq,tqp->t", sure, hessian)
    noise = _noise(posterior, determined)
    # Strengths that were given leave no doubt.
    if alternative.strengths != strengths:
        penalty_blocks = _diagonal_blocks(fitted, alternative.strengths)
        inverse = invert_blocks(hessian + penalty_blocks, free)
    shift = (alternative.theta - posterior.theta).reshape(free.shape)
    covariance = inverse @ (noise + effect * penalty_blocks) @ inverse
    covariance += shift[:, :, None] * shift[:, None, :]
    diagonal = np.einsum("tpp->tp", covariance)
    diagonal += _nothing_known(np.einsum("tpp->tp", hessian + penalty_blocks), free)
    diagonal += _held(fitted, free, effect)
    readout = _readout(fitted)
    variances = np.einsum("qp,tpr,qr->tq", readout, covariance, readout)
    return Inference(
        StepBand(fitted.basis, np.sqrt(np.maximum(variances, 0.0))),
        optimism=float(np.einsum("tpq,tqp->", sure, noise)),
        design_effect=effect,
        n_effective=float(determined.sum()),
        posterior=posterior,
    )


def _diagonal_blocks(fitted: CurveFit, strengths: Strengths) -> Array:
    width = fitted.problem.rows.n_coefficients
    penalty_matrix = fitted.problem.penalty_matrix(strengths).reshape(-1, width)
    return np.asarray(penalty_matrix[:, :, None] * np.eye(width), dtype=np.float64)


def _of_curve(tangent: "_Tangent", posterior: Posterior, alternative: AlternativeFit) -> Inference:
    fitted, loss, effect = tangent.fitted, posterior.curvature[0], posterior.effect
    free, strengths = tangent.free, fitted.result.strengths
    penalty_matrix = tangent.penalty_matrix(strengths, effect)
    sure = inverse = invert_blocks((loss + penalty_matrix)[None], free[None])[0]
    n_effective = float(np.einsum("pq,qp->", sure, loss))
    noise = _noise(posterior, np.array([n_effective]))[0]
    if alternative.strengths != strengths:
        penalty_matrix = tangent.penalty_matrix(alternative.strengths, effect)
        inverse = invert_blocks((loss + penalty_matrix)[None], free[None])[0]
    shift = np.zeros(len(free))
    shift[: len(alternative.theta)] = alternative.theta - posterior.theta
    covariance = inverse @ (noise + effect * penalty_matrix) @ inverse + np.outer(shift, shift)
    diagonal = np.einsum("pp->p", covariance)
    diagonal += _nothing_known(np.einsum("pp->p", loss + penalty_matrix), free)
    diagonal += _held(fitted, free, effect)
    return Inference(
        Band(
            fitted.basis,
            fitted.table,
            _by_number(covariance, fitted),
            tangent.faster,
            tangent.slower,
            2 * RATE_STEP,
        ),
        optimism=float(np.einsum("pq,qp->", sure, noise)),
        design_effect=effect,
        n_effective=n_effective,
        posterior=posterior,
    )


def _noise(posterior: Posterior, n_effective: Array) -> Array:
    """Variance of the gradient, in blocks."""
    if posterior.scatter is None:
        return posterior.curvature if posterior.noise is None else posterior.noise
    more = _few_groups(n_effective, posterior.scatter.counts)[:, None, None]
    return np.asarray(more * posterior.scatter.variance, dtype=np.float64)


def _few_groups(n_effective: Array, counts: Array) -> Array:
    """How much more the gradient varies than it shows at the optimum, which leans towards it.

    As if each group were left out in turn, with all of them of the same leverage.
    """
    leverage = np.minimum(n_effective / np.maximum(counts, 1), LARGEST_LEVERAGE)
    return np.asarray(1.0 / (1.0 - leverage) ** 2, dtype=np.float64)


def _nothing_known(curvature: Array, free: NDArray[np.bool_]) -> Array:
    """Variance of coefficients that neither the rows nor a penalty determine."""
    return np.where(free & (curvature <= 0.0), UNKNOWN, 0.0)


def _held(fitted: CurveFit, free: NDArray[np.bool_], effect: float) -> Array:
    """Variance of coefficients that a bound holds back: exponential, by their gradient."""
    gradient = fitted.result.solution.gradient
    assert gradient is not None
    variances = np.zeros(free.size)
    # Rates beyond the gradient are held at an end of their range, with nothing to be said.
    held = np.flatnonzero(~free.ravel()[: len(gradient)])
    variances[held] = (effect / np.maximum(gradient[held], SMALLEST_GRADIENT)) ** 2
    return variances.reshape(free.shape)


def _by_number(covariance: Array, fitted: CurveFit) -> Array:
    """Covariance of the coefficients of each number of the map, and of the rates."""
    readout, count = _readout(fitted), len(fitted.table)
    n_numbers, width = readout.shape
    # The rates come after the coefficients, and are those of every number.
    picks = np.zeros((n_numbers, len(covariance) - count * (width - 1), len(covariance)))
    for k in range(count):
        picks[:, k, k * width : (k + 1) * width] = readout
    rates = np.arange(count, picks.shape[1])
    picks[:, rates, rates + count * (width - 1)] = 1.0
    return np.asarray(picks @ covariance @ picks.swapaxes(1, 2))


def _readout(fitted: CurveFit) -> Array:
    readout = fitted.model.readout
    return np.eye(len(fitted.model.identity)) if readout is None else readout


class _Tangent:
    """A curve near its optimum, in its coefficients and its rates."""

    def __init__(self, fitted: CurveFit) -> None:
        self.fitted, self.problem = fitted, fitted.problem
        theta = fitted.result.solution.theta
        rates = fitted.log_rates if fitted.problem.basis.ndim == 2 else ()
        self.n_rates = len(rates)
        # The basis at rates a little higher and a little lower, for each rate.
        self.faster = tuple(_moved(fitted, k, RATE_STEP) for k in range(len(rates)))
        self.slower = tuple(_moved(fitted, k, -RATE_STEP) for k in range(len(rates)))
        self.table = theta.reshape(-1, fitted.problem.rows.n_coefficients)
        # At an end of its range a rate is held there.
        usable = np.array([SLOWEST < rate < FASTEST for rate in rates], dtype=bool)
        self.free = np.append(theta > fitted.problem.lower, usable)

    def curvatures(self, groups: Groups | None) -> tuple[Array | None, Scatter | None]:
        """Curvature of the loss and scatter of its gradient over groups, rates included.

        Without rates the curvature is that of the solution, and is not worked out here.
        """
        problem, solution = self.problem, self.fitted.result.solution
        if not self.n_rates:
            return None, None if groups is None else Scatter.of(problem, solution, groups)
        at_keys = problem.at_keys(solution.theta)
        sums = solution.sums or problem.rows.sums(at_keys)
        assert sums.hessian is not None
        jacobian = self._jacobian()  # (keys, width, coefficients and rates)
        # Not the bend of the curve itself, times a gradient that is noise at the optimum: where a
        # curve is nearly flat, that made the curvature in the rate negative.
        size = jacobian.shape[2]
        loss = jacobian.reshape(-1, size).T @ (sums.hessian @ jacobian).reshape(-1, size)
        if groups is None:
            return loss[None], None

        def project(tables: Sequence[Any]) -> Array:
            parts = [table @ jacobian[:, p] for p, table in enumerate(tables)]
            return np.asarray(np.sum(parts, axis=0))

        squares = projected_squares(problem, at_keys, groups, project)
        return loss[None], Scatter(squares[None], np.array([float(groups.count)]))

    def penalty_matrix(self, strengths: Strengths, effect: float) -> Array:
        """Penalty matrix; for a log rate, the precision of a uniform prior over its range."""
        n = len(self.problem.identity)
        penalty_matrix = (effect * 12.0 / (FASTEST - SLOWEST) ** 2) * np.eye(n + self.n_rates)
        penalty_matrix[:n, :n] = as_matrix(self.problem.penalty_matrix(strengths))
        return penalty_matrix

    def _jacobian(self) -> Array:
        """Differentiate the coefficients at every key by those of the curve and by the rates."""
        basis, (count, width) = self._basis_at_keys(), self.table.shape
        by_table = basis[:, None, :, None] * np.eye(width)[:, None, :]
        by_table = by_table.reshape(len(basis), width, count * width)
        by_rate = [(slope @ self.table)[:, :, None] for slope in self._slopes()]
        return np.concatenate([by_table, *by_rate], axis=2)

    def _slopes(self) -> list[Array]:
        """Differentiate the basis by each rate, at the keys."""
        times = self.fitted.track.grid.times
        return [
            (up(times) - down(times)) / (2 * RATE_STEP)
            for up, down in zip(self.faster, self.slower, strict=True)
        ]

    def _basis_at_keys(self) -> Array:
        basis = self.problem.basis
        if basis.ndim == 2:
            return np.asarray(basis, dtype=np.float64)
        return np.asarray(basis[:, None] == np.arange(len(self.table)), dtype=np.float64)


def _moved(fitted: CurveFit, k: int, by: float) -> Basis:
    """Return the basis at another rate."""
    rates = fitted.log_rates
    return fitted.shape_at((*rates[:k], rates[k] + by, *rates[k + 1 :])).basis
