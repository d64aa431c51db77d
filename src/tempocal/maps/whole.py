"""What makes each part of a fitted model one that can be applied, once its numbers are read.

Shapes agree, times ascend, probabilities lie in [0, 1], and what must be positive is. Every basis
is positive and sums to 1, so that a curve is positive where all its coefficients are.

Numbers are bounded, so that no logit (within 2**53) and no time (within 8e307) makes a product or a
difference overflow: what is read predicts finite probabilities. The bounds are far beyond any fit:
logits of 1e-100, the smallest that are taken, give slopes of about 1e100. `tempocal.scorer` has the
same ones.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tempocal.links import Array
from tempocal.maps.along_time import Curves, MapPerStep
from tempocal.maps.band import Band, StepBand
from tempocal.maps.bases import (
    Basis,
    BinBasis,
    ConstantBasis,
    ExponentialBasis,
    ProductBasis,
    SplineBasis,
    StepBasis,
)
from tempocal.maps.binary import Beta, Knots, Line, Steps
from tempocal.maps.multiclass import Affine, OneVsRest, Scale

LARGEST_COEFFICIENT = 1e200
LARGEST_TIME = 8.9e307  # differences of two are finite
LARGEST_DEVIATION = 1e150  # its square is finite
LARGEST_VARIANCE = 1e300
# By how much the logarithms of two rates may be apart.
NUDGES = (1e-9, 1.0)


def is_whole(part: Any) -> bool:
    """Tell whether the numbers of a map, a basis or a band go together."""
    return _IS_WHOLE[type(part)](part)


# Maps


def _is_affine(fitted: Affine) -> bool:
    shape = fitted.bias.shape
    is_shape = len(shape) == 1 and shape[0] > 1 and fitted.weights.shape in (shape, 2 * shape)
    if not is_shape or (fitted.of_log_proba and fitted.weights.ndim == 1):
        return False  # no calibrator has a diagonal of log-probabilities
    return _are_coefficients(fitted.weights) and _are_coefficients(fitted.bias)


def _are_coefficients(numbers: Array) -> bool:
    return bool((np.abs(numbers) <= LARGEST_COEFFICIENT).all())


def _is_beta(fitted: Beta) -> bool:
    numbers = np.array([fitted.a, fitted.b, fitted.c])
    return min(fitted.a, fitted.b) >= 0 and _are_coefficients(numbers)


def _are_steps(fitted: Steps) -> bool:
    return fitted.probabilities.shape == (fitted.edges.size + 1,) and _is_curve(
        fitted.edges, fitted.probabilities
    )


def _are_knots(fitted: Knots) -> bool:
    shape = fitted.odds.shape
    return (
        fitted.odds.size > 0
        and fitted.probabilities.shape == shape
        and _is_curve(fitted.odds, fitted.probabilities)
    )


def _is_curve(positions: Array, probabilities: Array) -> bool:
    # Compared, not subtracted: a difference can overflow.
    ascends = positions.ndim == 1 and bool((positions[1:] >= positions[:-1]).all())
    return ascends and bool(((probabilities >= 0) & (probabilities <= 1)).all())


# Bases


def _is_decay(basis: ExponentialBasis) -> bool:
    return basis.rate > 0.0 and _is_time(basis.first)


def _is_spline(basis: SplineBasis) -> bool:
    if not (_is_time(basis.first) and _is_time(basis.last)):
        return False
    length = basis.last - basis.first
    if not 0.0 < length < math.inf or basis.unit < 0.0:
        return False
    # The clock divides by this.
    on_clock = math.log1p(length / basis.unit) if basis.unit > 0.0 else length
    return 0.0 < on_clock < math.inf and basis.intervals >= 1.0 and basis.intervals.is_integer()


def _are_times(basis: StepBasis) -> bool:
    known = basis.unseen in ("nearest", "interpolate", "error")
    return known and basis.times.size > 0 and _ascends(basis.times)


def _ascends(times: Array) -> bool:
    ascends = times.ndim == 1 and bool((times[1:] > times[:-1]).all())
    return ascends and all(map(_is_time, times[[0, -1]] if len(times) else ()))


def _is_time(time: float) -> bool:
    return bool(abs(time) <= LARGEST_TIME)


# Maps along time


def _are_curves(fitted: Curves) -> bool:
    tables, has_width = fitted.tables, _HAS_WIDTH.get(fitted.form)
    one_model = fitted.form not in ("lines", "betas")
    if has_width is None or not tables or (one_model and len(tables) > 1):
        return False
    return (
        len(fitted.bases) == len(tables)
        and all(map(_is_table, tables, fitted.bases))
        and all(has_width(table.shape[1]) for table in tables)
        and _is_positive(fitted.form, tables)
        and _are_alike(fitted.bases)
    )


def _is_table(table: Array, basis: Basis) -> bool:
    is_shape = table.ndim == 2 and len(table) == basis.n_functions and table.shape[1] > 0
    return is_shape and _are_coefficients(table)


def _is_positive(form: str, tables: tuple[Array, ...]) -> bool:
    if form == "scale":
        return bool((tables[0] > 0).all())
    # The a and b of a beta map may stand at their bound, which is 0.
    return form != "betas" or all(bool((table[:, :2] >= 0).all()) for table in tables)


def _is_matrix(width: int) -> bool:
    n_classes = math.isqrt(width)
    return n_classes > 1 and width == n_classes * (n_classes + 1)


# How many numbers the map of one model is made of.
_HAS_WIDTH: dict[str, Callable[[int], bool]] = {
    "scale": lambda width: width == 1,
    "lines": lambda width: width == 2,
    "betas": lambda width: width == 3,
    "diagonal": lambda width: width > 2 and width % 2 == 0,
    "full": _is_matrix,
    "full_of_log_proba": _is_matrix,
}


def _is_map_per_step(fitted: MapPerStep) -> bool:
    # Between bare curves of the logits no line can be drawn.
    drawn = isinstance(fitted.basis, StepBasis) and fitted.basis.unseen == "interpolate"
    return not drawn and len(fitted.maps) == fitted.basis.n_functions


# Bands


def _is_band(band: Band) -> bool:
    if not _is_table(band.table, band.basis):
        return False
    size = band.basis.n_functions + len(band.faster)
    return (
        band.covariances.shape == (band.table.shape[1], size, size)
        and len(band.slower) == len(band.faster)
        and NUDGES[0] <= band.nudge <= NUDGES[1]
        and _are_alike((band.basis, *band.faster, *band.slower))
        and _has_finite_variances(band)
    )


def _has_finite_variances(band: Band) -> bool:
    """Bound the quadratic form of `Band.variance`, whose weights are functions and slopes."""
    steepest = 2.0 * float(np.abs(band.table).max()) / band.nudge
    weights = np.array([1.0] * band.basis.n_functions + [steepest] * len(band.faster))
    with np.errstate(over="ignore", invalid="ignore"):
        most = np.einsum("i,kij,j->k", weights, np.abs(band.covariances), weights)
    return bool((most <= LARGEST_VARIANCE).all())


def _is_step_band(band: StepBand) -> bool:
    deviations = band.deviations
    return _is_table(deviations, band.basis) and bool(
        ((deviations >= 0) & (deviations <= LARGEST_DEVIATION)).all()
    )


def _are_alike(bases: tuple[Basis, ...]) -> bool:
    """Tell whether bases are of one kind: only their rates may differ."""
    return all(_but_for_rates(basis) == _but_for_rates(bases[0]) for basis in bases)


def _but_for_rates(basis: Any) -> Any:
    if isinstance(basis, ProductBasis):
        return _but_for_rates(basis.one), _but_for_rates(basis.other)
    settings = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(basis).items()
        if name != "rate"
    }
    return type(basis), settings


def _always(part: Any) -> bool:
    return True


_IS_WHOLE: dict[type, Callable[[Any], bool]] = {
    Affine: _is_affine,
    Band: _is_band,
    Beta: _is_beta,
    BinBasis: lambda basis: _ascends(basis.edges),
    ConstantBasis: _always,
    Curves: _are_curves,
    ExponentialBasis: _is_decay,
    Knots: _are_knots,
    Line: lambda fitted: _are_coefficients(np.array([fitted.slope, fitted.bias])),
    MapPerStep: _is_map_per_step,
    OneVsRest: lambda fitted: len(fitted.maps) > 0,
    ProductBasis: _always,
    Scale: lambda fitted: 0 < fitted.inverse_temperature <= LARGEST_COEFFICIENT,
    SplineBasis: _is_spline,
    StepBand: _is_step_band,
    StepBasis: _are_times,
    Steps: _are_steps,
}
