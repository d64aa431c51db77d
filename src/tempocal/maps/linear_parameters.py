"""The numbers of maps that are linear in the logits, under the same names."""

from collections.abc import Sequence

import numpy as np

from tempocal.links import Array
from tempocal.maps.affine import DIAGONAL, FULL
from tempocal.maps.fitted_map import Coefficients, Form
from tempocal.maps.one_vs_rest import LINES
from tempocal.maps.scale import SCALE

Named = dict[str, Array]


def linear_parameters(form: Form, numbers: Coefficients) -> Named | None:
    """Return the numbers of a map by name; None if it is not linear in the logits.

    Of log-odds of one class against several others it is not.
    """
    is_linear = form in (SCALE, DIAGONAL, FULL) or (form is LINES and len(numbers) == 1)
    return form.parameters(numbers) if is_linear else None


def alike(each: Sequence[Named]) -> list[Named]:
    """Write the numbers of several linear maps under the names of the richest of them.

    What a map lacks is 0, of numbers and of their standard deviations alike: the bias of a
    temperature, say.
    """
    richest = max(each, key=lambda one: (len(one), _n_axes(one)))
    if "slope" in richest:
        return [_as_line(one) for one in each]
    return [_as_weights(one, richest) for one in each] if "weights" in richest else list(each)


def _n_axes(numbers: Named) -> int:
    return max(values.ndim for values in numbers.values())


def _as_line(numbers: Named) -> Named:
    if "slope" in numbers:
        return numbers
    scale = numbers["inverse_temperature"]
    return {"slope": scale, "bias": np.zeros_like(scale)}


def _as_weights(numbers: Named, richest: Named) -> Named:
    shape, n_classes = richest["weights"].shape, richest["bias"].shape[-1]
    weights, bias = numbers.get("weights"), numbers.get("bias")
    if weights is None or bias is None:
        scale = numbers["inverse_temperature"]
        weights = np.repeat(scale[..., None], n_classes, axis=-1)
        bias = np.zeros_like(weights)
    if weights.ndim < len(shape):
        weights = weights[..., None] * np.eye(n_classes)
    return {"weights": weights, "bias": bias}
