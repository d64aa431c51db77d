"""Cluster-robust bands around the coefficients along time.

With A the Hessian of the penalized loss, J the variance of its gradient over groups and S the
penalty matrix, the sandwich covariance of the coefficients is::

    V  =  A^-1 (J + d S) A^-1

J carries the noise. d S, with the design effect d, carries the bias of shrinkage, as large as the
prior expects it to be: bands around shrunken curves then have their nominal coverage on average
over time (Nychka 1988). Without groups J is the Hessian of the loss: rows are taken as
independent. Each rate of a curve adds a row and a column.

Strengths estimated from the data are uncertain. If they shrink almost to the identity, a band that
ignored this would have nearly no width: with fifty sequences such bands covered the truth in 63 %
of the cases. So S uses the weaker strengths that are also compatible with the data, and the
squared distance to the coefficients under these is added to the variance.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import TooManyCoefficientsError
from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.maps import Band, StepBand
from tempocal.rows import SequenceRows
from tempocal.solve import (
    Posterior,
    alternative_fit,
    design_effect,
    posterior_of,
)
from tempocal.solve.estimating import in_blocks
from tempocal.solve.evidence import AlternativeFit
from tempocal.solve.linear_systems import invert_blocks
from tempocal.temporal.linearization import RATE_STEP, Linearization, readout_of
from tempocal.temporal.optimism import (
    Optimism,
    StrengthResponse,
    optimism_of,
    optimism_of_steps,
)
from tempocal.temporal.sequence_bands import MAX_LEVERAGE, sequence_parts, sequence_sandwich

if TYPE_CHECKING:
    from tempocal.temporal.fit_along_time import CurveFit

# Coefficients of fits that learn from forecasts, whose matrices are dense.
MAX_DENSE = 2000
# A practically infinite variance, finite so that it can be multiplied by zero.
UNINFORMATIVE = 1e30
MIN_GRADIENT = 1e-15


@dataclass(frozen=True)
class Inference:
    """Uncertainty of a fit.

    Attributes
    ----------
    band : Band or StepBand
        Variances along time.
    optimism : Optimism or None
        Difference of the summed loss between new rows and the rows of the fit; None for an update.
    design_effect : float
        Number of rows with the information of one independent row.
    n_effective : float
        Effective number of coefficients.
    posterior : Posterior
        Posterior of the model, to be updated with further rows.
    """

    band: Band | StepBand
    optimism: Optimism | None
    design_effect: float
    n_effective: float
    posterior: Posterior


def infer(
    fitted: "CurveFit", groups: Groups | None, previous: Posterior | None = None
) -> Inference:
    """Return the uncertainty of a fit; ``previous`` is the posterior without its rows."""
    linearized = Linearization(fitted)
    posterior, alternative = _posterior_and_alternative(linearized, groups, previous)
    if isinstance(fitted.problem.rows, SequenceRows):
        assert groups is not None
        return _infer_sequences(linearized, posterior, alternative, groups, previous)
    strengths = None if previous is not None else StrengthResponse.of(fitted, posterior)
    if fitted.shape_at(fitted.log_rates).separate:
        return _infer_steps(fitted, posterior, alternative, groups, strengths)
    return _infer_curve(linearized, posterior, alternative, strengths)


def effective_coefficients(fitted: "CurveFit", groups: Groups | None) -> float:
    """Effective number of coefficients of a fit, without its band: trace of ``A^-1 H``."""
    linearized, result = Linearization(fitted), fitted.result
    hessian = _require_hessian(fitted)
    penalty_matrix = fitted.problem.penalty_blocks(result.strengths)
    free = (result.solution.theta > fitted.problem.lower).reshape(hessian.shape[:2])
    if linearized.n_rates:
        effect = result.design_effect
        if effect is None:
            effect = design_effect(fitted.problem, result.solution, groups, result.strengths).mean
        with_rates, _ = linearized.hessian_and_scatter(None)
        assert with_rates is not None
        hessian = with_rates
        penalty_matrix = linearized.penalty_matrix(result.strengths, effect)[None]
        free = linearized.free[None]
    bandwidth = None if linearized.n_rates else fitted.problem.bandwidth
    inverse = invert_blocks(hessian + penalty_matrix, free, bandwidth=bandwidth)
    return float(np.einsum("tpq,tqp->", inverse, hessian))


def _require_hessian(fitted: "CurveFit") -> Array:
    solution = fitted.result.solution
    if solution.hessian is None:
        raise TooManyCoefficientsError(
            f"with {len(solution.theta)} coefficients a band is too much to ask: "
            "take Spline() or fewer classes"
        )
    return solution.hessian


def _posterior_and_alternative(
    linearized: "Linearization", groups: Groups | None, previous: Posterior | None
) -> tuple[Posterior, AlternativeFit]:
    """Return the posterior, and the fit at weaker strengths that the data also allow."""
    fitted, hessian = linearized.fitted, _require_hessian(linearized.fitted)
    problem, result = fitted.problem, fitted.result
    (curvature, scatter), effects = linearized.hessian_and_scatter(groups), result.effects
    if effects is None:
        n = hessian.shape[-1]
        variance = None if scatter is None else scatter.variance[:, :n, :n]
        effects = design_effect(
            problem, result.solution, groups, result.strengths, variance=variance
        )
    posterior = posterior_of(problem, result, fitted.fixed_strengths, effects, previous)
    alternative = AlternativeFit(result.strengths, posterior.theta)
    if None in fitted.fixed_strengths:
        alternative = alternative_fit(
            problem,
            result.solution,
            result.strengths,
            effects,
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


def _infer_steps(
    fitted: "CurveFit",
    posterior: Posterior,
    alternative: AlternativeFit,
    groups: Groups | None,
    response: StrengthResponse | None,
) -> Inference:
    hessian, effect, strengths = posterior.curvature, posterior.effect, fitted.result.strengths
    free = (posterior.theta > fitted.problem.lower).reshape(hessian.shape[:2])
    penalty_blocks = fitted.problem.penalty_blocks(strengths)
    inverse_at_fit = inverse = invert_blocks(hessian + penalty_blocks, free)
    n_effective = np.einsum("tpq,tqp->t", inverse_at_fit, hessian)
    noise = _gradient_variance(posterior, n_effective)
    optimism = None
    if response is not None:
        optimism = optimism_of_steps(fitted, groups, inverse_at_fit, noise, response)
    # Strengths given by the user have no uncertainty.
    if alternative.strengths != strengths:
        penalty_blocks = fitted.problem.penalty_blocks(alternative.strengths)
        inverse = invert_blocks(hessian + penalty_blocks, free)
    shift = (alternative.theta - posterior.theta).reshape(free.shape)
    covariance = inverse @ (noise + effect * penalty_blocks) @ inverse
    covariance += shift[:, :, None] * shift[:, None, :]
    diagonal = np.einsum("tpp->tp", covariance)
    diagonal += _variance_without_information(np.einsum("tpp->tp", hessian + penalty_blocks), free)
    diagonal += _variance_at_bounds(fitted, free, effect)
    return Inference(
        _step_band(fitted, covariance),
        optimism=optimism,
        design_effect=effect,
        n_effective=float(n_effective.sum()),
        posterior=posterior,
    )


def _infer_curve(
    linearized: "Linearization",
    posterior: Posterior,
    alternative: AlternativeFit,
    response: StrengthResponse | None,
) -> Inference:
    fitted, hessian, effect = linearized.fitted, posterior.curvature[0], posterior.effect
    free, strengths = linearized.free, fitted.result.strengths
    penalty_matrix = linearized.penalty_matrix(strengths, effect)
    inverse_at_fit = inverse = linearized.inverse(hessian + penalty_matrix)
    n_effective = float(np.einsum("pq,qp->", inverse_at_fit, hessian))
    noise = _gradient_variance(posterior, np.array([n_effective]))[0]
    optimism = None
    if response is not None:
        optimism = optimism_of(inverse_at_fit, noise, response.with_rates(linearized.n_rates))
    if alternative.strengths != strengths:
        penalty_matrix = linearized.penalty_matrix(alternative.strengths, effect)
        inverse = linearized.inverse(hessian + penalty_matrix)
    scaled = posterior.effects.relative(fitted.problem, alternative.strengths)
    bias = effect * linearized.penalty_matrix(scaled, effect)
    shift = np.zeros(len(free))
    shift[: len(alternative.theta)] = alternative.theta - posterior.theta
    covariance = inverse @ (noise + bias) @ inverse + np.outer(shift, shift)
    diagonal = np.einsum("pp->p", covariance)
    diagonal += _variance_without_information(np.einsum("pp->p", hessian + penalty_matrix), free)
    diagonal += _variance_at_bounds(fitted, free, effect)
    return Inference(
        _band_of(linearized, covariance),
        optimism=optimism,
        design_effect=effect,
        n_effective=n_effective,
        posterior=posterior,
    )


def _infer_sequences(
    linearized: Linearization,
    posterior: Posterior,
    alternative: AlternativeFit,
    groups: Groups,
    previous: Posterior | None,
) -> Inference:
    fitted, free = linearized.fitted, linearized.free
    if len(free) > MAX_DENSE:
        raise TooManyCoefficientsError(
            f"with {len(free)} coefficients a fit cannot learn from the forecasts in between: take "
            "Spline(), PerStep(bins=20), a simpler calibrator, or td_horizon=float('inf')"
        )
    parts = sequence_parts(linearized, groups, previous)
    optimism = None
    if previous is None:
        response = StrengthResponse.of(fitted, posterior).with_rates(linearized.n_rates)
        optimism = optimism_of(parts.jacobian_inverse, parts.noise, response)
    found = sequence_sandwich(linearized, parts, alternative.strengths, posterior.effect)
    shift = np.zeros(len(free))
    shift[: len(alternative.theta)] = alternative.theta - posterior.theta
    covariance = found.covariance + np.outer(shift, shift)
    diagonal = np.einsum("pp->p", covariance)
    penalty_matrix = linearized.penalty_matrix(alternative.strengths, posterior.effect)
    curvature = np.diag(parts.jacobian + penalty_matrix)
    diagonal += _variance_without_information(curvature, free)
    diagonal += _variance_at_bounds(fitted, free, posterior.effect)
    band: Band | StepBand
    if fitted.shape_at(fitted.log_rates).separate:
        band = _step_band(fitted, in_blocks(fitted.problem, covariance))
    else:
        band = _band_of(linearized, covariance)
    return Inference(
        band,
        optimism=optimism,
        # That of the posterior is relative to the information, a share of the Hessian.
        design_effect=posterior.effect / linearized.share,
        n_effective=found.n_effective,
        posterior=replace(posterior, moving=parts.moving),
    )


def _step_band(fitted: "CurveFit", covariances: Array) -> StepBand:
    """Make a band of the covariances of each step."""
    readout = readout_of(fitted)
    variances = np.einsum("qp,tpr,qr->tq", readout, covariances, readout)
    return StepBand(fitted.basis, np.sqrt(np.maximum(variances, 0.0)))


def _band_of(linearized: Linearization, covariance: Array) -> Band:
    """Make a band of the covariance of all coefficients and rates."""
    fitted = linearized.fitted
    return Band(
        fitted.basis,
        fitted.table,
        _covariance_by_parameter(covariance, fitted),
        linearized.basis_up,
        linearized.basis_down,
        2 * RATE_STEP,
    )


def _gradient_variance(posterior: Posterior, n_effective: Array) -> Array:
    """Variance J of the gradient, in blocks."""
    if posterior.scatter is None:
        return posterior.curvature if posterior.noise is None else posterior.noise
    # Corrected by ``1 / (1 - h)^2`` for overfitting at the optimum, which is the jackknife over
    # groups if all have the same leverage h.
    leverage = np.minimum(n_effective / np.maximum(posterior.scatter.counts, 1), MAX_LEVERAGE)
    inflation = (1.0 / (1.0 - leverage) ** 2)[:, None, None]
    return np.asarray(inflation * posterior.scatter.variance, dtype=np.float64)


def _variance_without_information(curvature: Array, free: NDArray[np.bool_]) -> Array:
    """Variance of coefficients that neither the rows nor a penalty determine."""
    return np.where(free & (curvature <= 0.0), UNINFORMATIVE, 0.0)


def _variance_at_bounds(fitted: "CurveFit", free: NDArray[np.bool_], effect: float) -> Array:
    """Variance of coefficients at a bound: exponential posterior with the gradient as its rate."""
    gradient = fitted.result.solution.gradient
    assert gradient is not None
    variances = np.zeros(free.size)
    # The gradient has no entries for the rates: a rate at a bound gets no variance.
    at_bound = np.flatnonzero(~free.ravel()[: len(gradient)])
    variances[at_bound] = (effect / np.maximum(gradient[at_bound], MIN_GRADIENT)) ** 2
    return variances.reshape(free.shape)


def _covariance_by_parameter(covariance: Array, fitted: "CurveFit") -> Array:
    """Covariance of the coefficients of each parameter of the map, and of the rates."""
    readout, count = readout_of(fitted), len(fitted.table)
    n_parameters, width = readout.shape
    if fitted.model.readout is None:
        rates = np.arange(count * width, len(covariance))
        own = (np.append(np.arange(p, count * width, width), rates) for p in range(width))
        return np.stack([covariance[np.ix_(one, one)] for one in own])
    # The rates come after the coefficients and are shared by all parameters.
    selection = np.zeros((n_parameters, len(covariance) - count * (width - 1), len(covariance)))
    for k in range(count):
        selection[:, k, k * width : (k + 1) * width] = readout
    rates = np.arange(count, selection.shape[1])
    selection[:, rates, rates + count * (width - 1)] = 1.0
    return np.asarray(selection @ covariance @ selection.swapaxes(1, 2))
