"""The settings of a curve as a plain dictionary, and back."""

from collections.abc import Mapping
from dataclasses import fields
from reprlib import repr as shown
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tempocal.curves.curve import CURVES, Curve
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.registry import kind_of


def curve_to_dict(curve: Curve) -> dict[str, Any]:
    """Return ``{"kind": name, field: setting, ...}``; the curves of a surface are nested."""
    content: dict[str, Any] = {"kind": kind_of(type(curve))}
    for name, wanted in _settings_of(type(curve)).items():
        value = _plain(getattr(curve, name))
        content[name] = curve_to_dict(value) if wanted is Curve else value
        if wanted is not Curve and not _is_a(value, wanted):
            raise InputError(
                f"{curve!r} cannot be saved: {name} is {shown(value)}; it must be {_text(wanted)}"
            )
    return content


def curve_from_dict(content: Any, *, clocks: tuple[int, ...] = (1, 2)) -> Curve:
    """Return the curve that `curve_to_dict` described; anything else is refused."""
    kind: Any = CURVES.find(content.get("kind")) if isinstance(content, Mapping) else None
    if kind not in CURVES:
        raise DamagedModelFileError(f"there is no such curve: {shown(content)}")
    name, wanted = kind.__name__, _settings_of(kind)
    if set(content) != {"kind", *wanted}:
        raise DamagedModelFileError(
            f"a {name} needs {sorted(wanted)}, but the file has {sorted(map(str, content))}"
        )
    values = {setting: _read(content[setting], kinds) for setting, kinds in wanted.items()}
    curve: Curve = kind(**values)
    if curve.n_clocks not in clocks:
        raise DamagedModelFileError(f"a {name} along two clocks cannot be part of another curve")
    return curve


def _text(wanted: Any) -> str:
    return wanted.__name__ if isinstance(wanted, type) else str(wanted).replace("typing.", "")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0 else value


def _read(value: Any, wanted: Any) -> Any:
    if wanted is Curve:
        return curve_from_dict(value, clocks=(1,))
    if not _is_a(value, wanted):
        raise DamagedModelFileError(f"a setting of the curve is not of its kind: {shown(value)}")
    return tuple(value) if get_origin(wanted) is tuple else value


def _settings_of(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _is_a(value: Any, wanted: Any) -> bool:
    """Tell whether a setting is what its annotation says; a bool is no number."""
    if get_origin(wanted) is Literal:
        return isinstance(value, str) and value in get_args(wanted)
    if get_origin(wanted) is tuple:
        return isinstance(value, list) and all(_is_a(one, get_args(wanted)[0]) for one in value)
    if get_args(wanted):
        return any(_is_a(value, one) for one in get_args(wanted))
    return type(value) is wanted or (wanted is float and type(value) is int)
