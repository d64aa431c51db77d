"""From coefficients to the map they stand for.

Coefficients come as one array for each model, with those of one map along the last axis. Axes
before it are kept, so that every row can have coefficients of its own: the same formula, then,
gives a map whose numbers are arrays.
"""

from collections.abc import Callable, Sequence

import numpy as np

from tempocal.links import Array
from tempocal.maps.binary import Beta, Line
from tempocal.maps.multiclass import Affine, FittedMap, OneVsRest, Scale

Coefficients = Sequence[Array]


def to_scale(coefficients: Coefficients) -> Scale:
    """Make one scale of the inverse temperature."""
    return Scale(_number(coefficients[0][..., 0]))


def to_lines(coefficients: Coefficients) -> OneVsRest:
    """Make a line of the slope and the bias of each model."""
    return OneVsRest(tuple(Line(*_numbers(each)) for each in coefficients))


def to_betas(coefficients: Coefficients) -> OneVsRest:
    """Make a beta map of the a, b and c of each model."""
    return OneVsRest(tuple(Beta(*_numbers(each)) for each in coefficients))


def to_diagonal(coefficients: Coefficients) -> Affine:
    """Make one map of a weight and a bias for each class, one class after the other."""
    pairs = coefficients[0].reshape(*coefficients[0].shape[:-1], -1, 2)
    return Affine(pairs[..., 0].copy(), _centered(pairs[..., 1]), of_log_proba=False)


def to_full(coefficients: Coefficients) -> Affine:
    """Make one map of the weights and the bias of each class, one class after the other."""
    return _matrix(coefficients[0], of_log_proba=False)


def to_full_of_log_proba(coefficients: Coefficients) -> Affine:
    """Make the same map on log-probabilities."""
    return _matrix(coefficients[0], of_log_proba=True)


FORMS: dict[str, Callable[[Coefficients], FittedMap]] = {
    "scale": to_scale,
    "lines": to_lines,
    "betas": to_betas,
    "diagonal": to_diagonal,
    "full": to_full,
    "full_of_log_proba": to_full_of_log_proba,
}


def numbers_by_name(form: str, numbers: Coefficients) -> dict[str, Array]:
    """Names of the numbers that make a map; those of several models along the last axis."""
    if form == "diagonal":
        pairs = numbers[0].reshape(*numbers[0].shape[:-1], -1, 2)
        return {"weights": pairs[..., 0], "bias": pairs[..., 1]}
    if form in ("full", "full_of_log_proba"):
        table = _square(numbers[0])
        return {"weights": table[..., :-1], "bias": table[..., -1]}
    names = _NAMES[form]
    if len(numbers) == 1:
        return {name: numbers[0][..., k] for k, name in enumerate(names)}
    return {
        name: np.stack([each[..., k] for each in numbers], axis=-1) for k, name in enumerate(names)
    }


_NAMES = {"scale": ("inverse_temperature",), "lines": ("slope", "bias"), "betas": ("a", "b", "c")}


def _square(numbers: Array) -> Array:
    """Weights and bias of each class as a table; K classes have K * (K + 1) of them."""
    n_classes = int(np.sqrt(numbers.shape[-1]))
    return numbers.reshape(*numbers.shape[:-1], n_classes, n_classes + 1)


def _matrix(coefficients: Array, *, of_log_proba: bool) -> Affine:
    table = _square(coefficients)
    return Affine(table[..., :-1].copy(), _centered(table[..., -1]), of_log_proba=of_log_proba)


def _centered(bias: Array) -> Array:
    return np.asarray(bias - bias.mean(axis=-1, keepdims=True), dtype=np.float64)


def _numbers(coefficients: Array) -> list[float]:
    return [_number(part) for part in np.moveaxis(coefficients, -1, 0)]


def _number(value: Array) -> float:
    """Return a Python float; or the array that stands for one, where every row has its own."""
    array: float = value.item() if value.ndim == 0 else value  # type: ignore[assignment]
    return array
