"""A part of a fitted model as a plain dictionary of names and numbers, and back.

Both go by the fields of its class: a number, text or truth value as it is, an array as nested
lists, a part as its own dictionary, a formula as its instructions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from reprlib import repr as shown
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from tempocal.errors import DamagedModelFileError, InputError
from tempocal.formula.nodes import Expression
from tempocal.formula.serialize import from_instructions, to_instructions
from tempocal.links import Array
from tempocal.maps.part import PARTS, Part, require
from tempocal.registry import kind_of

# What the formulas of a field are functions of.
COLUMNS = {"features": ("odds",), "functions": ("time",)}


def to_dict(part: Part) -> dict[str, Any]:
    """Return ``{"kind": name, field: number or nested list, ...}`` of a map, a basis or a band."""
    return {
        "kind": kind_of(type(part)),
        **{field.name: _plain(getattr(part, field.name)) for field in fields(part)},  # type: ignore[arg-type]
    }


def from_dict(content: Any, base: Any) -> Any:
    """Return the part that `to_dict` described, one of a base class; anything else is refused.

    Raises
    ------
    DamagedModelFileError
        If its numbers could not have come from a fit.
    MissingExtensionError
        If it is of a class that is defined elsewhere, and not imported.
    """
    kind = _kind_of(content, base)
    name, expected = kind.__name__, _field_types(kind)
    if set(content) != {"kind", *expected}:
        raise DamagedModelFileError(
            f"a {name} needs {sorted(expected)}, but the file has {sorted(map(str, content))}"
        )
    part = kind(**{field: _typed(content[field], t, field) for field, t in expected.items()})
    try:
        part.validate()
    except (ValueError, InputError) as error:
        raise DamagedModelFileError(f"the parts of a {name} do not go together: {error}") from error
    return part


def schema_of(part: Part) -> int:
    """Return the schema of a file that can hold a part and all that it is made of."""
    values = [getattr(part, field.name) for field in fields(part)]  # type: ignore[arg-type]
    inner = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    return max([part.schema, *(schema_of(one) for one in inner if isinstance(one, Part))])


def require_alike(parts: Sequence[Part]) -> None:
    """Refuse bases that are not of one kind: only their rates may differ."""
    first = _without_rates(to_dict(parts[0]))
    same = all(_without_rates(to_dict(part)) == first for part in parts[1:])
    require(same, "curves do not go along the same time")


def _without_rates(content: Any) -> Any:
    if not isinstance(content, dict):
        return content
    return {name: _without_rates(value) for name, value in content.items() if name != "rate"}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Expression):
        return to_instructions(value)
    return to_dict(value) if isinstance(value, Part) else value


def _field_types(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _kind_of(content: Any, base: Any) -> Any:
    kind = PARTS.find(content.get("kind")) if isinstance(content, Mapping) else None
    known = [one for one in PARTS if issubclass(one, base)]
    if kind in known:
        return kind
    names = sorted(one.__name__ for one in known)
    raise DamagedModelFileError(f"a part of it must be one of {names}, not {shown(content)}")


def _is_part(wanted: Any) -> bool:
    kinds = get_args(wanted) if isinstance(wanted, UnionType) else (wanted,)
    return all(isinstance(kind, type) and issubclass(kind, Part) for kind in kinds)


def _typed(value: Any, wanted: Any, name: str) -> Any:
    """Return a value as the field that it is read for declares it."""
    if get_origin(wanted) is tuple:
        if isinstance(value, list):
            return tuple(_typed(each, get_args(wanted)[0], name) for each in value)
    elif wanted == Array:
        if isinstance(value, list):
            return _numbers(value, name)
    elif wanted is Expression:
        try:
            return from_instructions(value, COLUMNS[name])
        except ValueError as error:
            raise DamagedModelFileError(f"the map's {name} cannot be read: {error}") from error
    elif _is_part(wanted):
        return from_dict(value, wanted)
    elif wanted is float and not isinstance(value, list):
        return float(_numbers(value, name))
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
