"""A fitted map as a plain dictionary of names and numbers, and back."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from reprlib import repr as shown
from typing import Any

import numpy as np

from tempocal.errors import DamagedModelFileError
from tempocal.links import Array
from tempocal.maps.binary import Beta, Knots, Line, Steps
from tempocal.maps.multiclass import Affine, FittedMap, OneVsRest, Scale

_OF_ALL_CLASSES: dict[str, Any] = {kind.__name__: kind for kind in (Affine, OneVsRest, Scale)}
_OF_ONE_CLASS: dict[str, Any] = {kind.__name__: kind for kind in (Beta, Knots, Line, Steps)}


def to_dict(fitted: FittedMap) -> dict[str, Any]:
    """Return ``{"kind": name, field: number or nested list, ...}``."""
    content: dict[str, Any] = {"kind": type(fitted).__name__}
    for field in fields(fitted):  # type: ignore[arg-type]  # every map is a dataclass
        content[field.name] = _plain(getattr(fitted, field.name))
    return content


def from_dict(content: Any) -> Any:
    """Return the map that `to_dict` described; anything else is refused."""
    return _read(content, _OF_ALL_CLASSES)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [to_dict(part) for part in value]
    return value


def _read(content: Any, kinds: Mapping[str, Any]) -> Any:
    name = content.get("kind") if isinstance(content, Mapping) else None
    if not isinstance(name, str) or name not in kinds:
        raise DamagedModelFileError(f"a map must be one of {sorted(kinds)}, not {shown(content)}")
    expected = {field.name: field.type for field in fields(kinds[name])}
    if set(content) != {"kind", *expected}:
        raise DamagedModelFileError(
            f"a {name} map needs {sorted(expected)}, but the file has {sorted(map(str, content))}"
        )
    values = {field: _typed(content[field], wanted, field) for field, wanted in expected.items()}
    fitted = kinds[name](**values)
    if not _IS_WHOLE[name](fitted):
        raise DamagedModelFileError(f"the parts of a {name} map do not go together")
    return fitted


def _typed(value: Any, wanted: Any, name: str) -> Any:
    if wanted is bool and isinstance(value, bool):
        return value
    if wanted is float and not isinstance(value, list):
        return float(_numbers(value, name))
    if wanted is Array and isinstance(value, list):
        return _numbers(value, name)
    if wanted not in (bool, float, Array) and isinstance(value, list):
        return tuple(_read(part, _OF_ONE_CLASS) for part in value)
    raise DamagedModelFileError(f"the map's {name} is not of the right kind: {shown(value)}")


def _numbers(value: Any, name: str) -> Array:
    """Finite numbers, one or nested; text and booleans are not numbers, whatever NumPy says."""
    try:
        boxed = np.array(value, dtype=object)
        array = boxed.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DamagedModelFileError(f"the map's {name} cannot be read as numbers") from error
    if not all(type(leaf) in (int, float) for leaf in boxed.flat) or not np.isfinite(array).all():
        raise DamagedModelFileError(f"the map's {name} must be finite numbers: {shown(value)}")
    return array


def _is_curve(positions: Array, probabilities: Array) -> bool:
    ascends = positions.ndim == 1 and bool((np.diff(positions) >= 0).all())
    return ascends and bool(((probabilities >= 0) & (probabilities <= 1)).all())


def _is_affine(weights: Array, bias: Array) -> bool:
    return bias.ndim == 1 and len(bias) > 1 and weights.shape in (bias.shape, 2 * bias.shape)


# What makes a map one that can be applied: shapes agree, edges ascend, probabilities lie in [0, 1].
_IS_WHOLE: dict[str, Callable[[Any], bool]] = {
    "Affine": lambda fitted: _is_affine(fitted.weights, fitted.bias),
    "Beta": lambda fitted: min(fitted.a, fitted.b) >= 0,
    "Knots": lambda fitted: (
        fitted.odds.size > 0
        and fitted.probabilities.shape == fitted.odds.shape
        and _is_curve(fitted.odds, fitted.probabilities)
    ),
    "Line": lambda fitted: True,
    "OneVsRest": lambda fitted: len(fitted.maps) > 0,
    "Scale": lambda fitted: fitted.inverse_temperature > 0,
    "Steps": lambda fitted: (
        fitted.probabilities.shape == (fitted.edges.size + 1,)
        and _is_curve(fitted.edges, fitted.probabilities)
    ),
}
