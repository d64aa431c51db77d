"""A fitted map as a plain dictionary of names and numbers, and back."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from reprlib import repr as shown
from typing import Any, get_args, get_origin

import numpy as np

from tempocal.errors import DamagedModelFileError
from tempocal.links import Array
from tempocal.maps.along_time import Curves, MapPerStep
from tempocal.maps.band import Band, StepBand
from tempocal.maps.bases import (
    BinBasis,
    ConstantBasis,
    ExponentialBasis,
    ProductBasis,
    SplineBasis,
    StepBasis,
)
from tempocal.maps.binary import Beta, Knots, Line, Steps
from tempocal.maps.multiclass import Affine, OneVsRest, Scale
from tempocal.maps.whole import is_whole

Kinds = tuple[type, ...]

_OF_ALL_CLASSES: Kinds = (Affine, OneVsRest, Scale)
_OF_ONE_CLASS: Kinds = (Beta, Knots, Line, Steps)
_ALONG_TIME: Kinds = (Curves, MapPerStep)
_BANDS: Kinds = (Band, StepBand)
_OF_STEPS: Kinds = (BinBasis, StepBasis)
_OF_ONE_CLOCK: Kinds = (*_OF_STEPS, ConstantBasis, ExponentialBasis, SplineBasis)
_BASES: Kinds = (*_OF_ONE_CLOCK, ProductBasis)

# What may stand in each place, none of which leads back to itself: nesting has an end.
_PARTS: dict[tuple[type, str], Kinds] = {
    (Band, "basis"): _BASES,
    (Band, "faster"): _BASES,
    (Band, "slower"): _BASES,
    (Curves, "bases"): _BASES,
    (MapPerStep, "basis"): _OF_STEPS,
    (MapPerStep, "maps"): _OF_ALL_CLASSES,
    (OneVsRest, "maps"): _OF_ONE_CLASS,
    (ProductBasis, "one"): _OF_ONE_CLOCK,
    (ProductBasis, "other"): _OF_ONE_CLOCK,
    (StepBand, "basis"): (*_OF_STEPS, ConstantBasis),
}


def to_dict(part: Any) -> dict[str, Any]:
    """Return ``{"kind": name, field: number or nested list, ...}`` of a map, a basis or a band."""
    content: dict[str, Any] = {"kind": type(part).__name__}
    for field in fields(part):
        content[field.name] = _plain(getattr(part, field.name))
    return content


def from_dict(content: Any) -> Any:
    """Return the map that `to_dict` described; anything else is refused."""
    return _read(content, _OF_ALL_CLASSES)


def along_time_from_dict(content: Any) -> Any:
    """Return the map along time that `to_dict` described; anything else is refused."""
    return _read(content, _ALONG_TIME)


def band_from_dict(content: Any) -> Any:
    """Return the band that `to_dict` described; anything else is refused."""
    return _read(content, _BANDS)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return to_dict(value) if is_dataclass(value) else value


def _read(content: Any, kinds: Kinds) -> Any:
    kind = _kind_of(content, kinds)
    name, expected = kind.__name__, {field.name: field.type for field in fields(kind)}
    if set(content) != {"kind", *expected}:
        raise DamagedModelFileError(
            f"a {name} needs {sorted(expected)}, but the file has {sorted(map(str, content))}"
        )
    values = {
        field: _typed(content[field], wanted, field, _PARTS.get((kind, field)))
        for field, wanted in expected.items()
    }
    part = kind(**values)
    if not is_whole(part):
        raise DamagedModelFileError(f"the parts of a {name} do not go together")
    return part


def _kind_of(content: Any, kinds: Kinds) -> Any:
    name = content.get("kind") if isinstance(content, Mapping) else None
    for kind in kinds:
        if name == kind.__name__:
            return kind
    names = sorted(kind.__name__ for kind in kinds)
    raise DamagedModelFileError(f"a part of it must be one of {names}, not {shown(content)}")


def _typed(value: Any, wanted: Any, name: str, kinds: Kinds | None) -> Any:
    """Return a value as the field that it is read for declares it."""
    if get_origin(wanted) is tuple:
        if isinstance(value, list):
            return tuple(_typed(part, get_args(wanted)[0], name, kinds) for part in value)
    elif kinds is not None:
        return _read(value, kinds)
    elif wanted is float and not isinstance(value, list):
        return float(_numbers(value, name))
    elif wanted == Array and isinstance(value, list):
        return _numbers(value, name)
    elif wanted in (bool, str) and isinstance(value, wanted):
        return value
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
