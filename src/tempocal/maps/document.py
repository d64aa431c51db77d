"""A fitted map as a plain dictionary of names and numbers, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from tempocal.errors import DamagedModelFileError
from tempocal.links import Array
from tempocal.maps.binary import Beta, Knots, Line, Steps
from tempocal.maps.multiclass import Affine, FittedMap, OneVsRest, Scale

_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (Affine, Beta, Knots, Line, OneVsRest, Scale, Steps)
}


def to_dict(fitted: FittedMap) -> dict[str, Any]:
    """Return ``{"kind": name, field: number or nested list, ...}``."""
    content: dict[str, Any] = {"kind": type(fitted).__name__}
    for field in fields(fitted):  # type: ignore[arg-type]  # every map is a dataclass
        content[field.name] = _plain(getattr(fitted, field.name))
    return content


def from_dict(content: Any) -> Any:
    """Return the map that `to_dict` described; anything else is refused."""
    if not isinstance(content, Mapping) or content.get("kind") not in _KINDS:
        raise DamagedModelFileError(f"the model's map is of no known kind: {content!r:.80}")
    kind = _KINDS[content["kind"]]
    expected = {field.name: field.type for field in fields(kind)}
    if set(content) != {"kind", *expected}:
        raise DamagedModelFileError(
            f"a {kind.__name__} map needs {sorted(expected)}, but the file has {sorted(content)}"
        )
    values = {name: _typed(content[name], wanted, name) for name, wanted in expected.items()}
    return kind(**values)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [to_dict(part) for part in value]
    return value


def _typed(value: Any, wanted: Any, name: str) -> Any:
    if wanted is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if wanted is bool and isinstance(value, bool):
        return value
    if wanted is Array:
        return _array(value, name)
    if isinstance(value, list) and value and wanted not in (float, bool):
        return tuple(from_dict(part) for part in value)
    raise DamagedModelFileError(f"the map's {name} is not of the right kind: {value!r:.80}")


def _array(value: Any, name: str) -> Array:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DamagedModelFileError(f"the map's {name} is not an array of numbers") from error
    if not isinstance(value, list) or not np.isfinite(array).all():
        raise DamagedModelFileError(f"the map's {name} is not an array of finite numbers")
    return array
