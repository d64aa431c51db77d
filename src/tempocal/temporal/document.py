"""A fitted calibrator along time as a document of names and numbers, and as a file."""

from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from reprlib import repr as shown
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from numpy.typing import NDArray

from tempocal import calibrators, curves
from tempocal.calibrators.document import plain, settings_to_dict
from tempocal.calibrators.document import to_content as common_content
from tempocal.curves import Curve
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.maps import to_dict
from tempocal.modelfile import write_document

if TYPE_CHECKING:
    from tempocal.temporal.calibrator import TemporalCalibrator


def save(calibrator: "TemporalCalibrator", path: str | PathLike[str]) -> None:
    """Write a fitted calibrator along time to a model file."""
    write_document(path, to_content(calibrator))


def to_content(calibrator: "TemporalCalibrator") -> dict[str, Any]:
    """Return what the file of a fitted calibrator along time holds."""
    return {
        **common_content(calibrator, parameters_to_dict(calibrator, calibrator.classes_)),
        "bands": [to_dict(band) for band in calibrator.bands_],
        "time_kinds": list(calibrator.time_kinds_),
    }


def parameters_to_dict(calibrator: "TemporalCalibrator", classes: NDArray[Any]) -> dict[str, Any]:
    """Return the constructor's arguments; ``classes`` are those of the fit."""
    inner, curve = calibrator.calibrator, calibrator.curve
    kind = None
    if inner is not None:
        settings = settings_to_dict(inner, classes)
        kind = {"kind": _own_name(inner, calibrators), "parameters": settings}
    return {
        "calibrator": kind,
        "curve": None if curve is None else curve_to_dict(curve),
        "shrinkage": plain(calibrator.shrinkage),
        "time_column": plain(calibrator.time_column),
    }


def curve_to_dict(curve: Curve) -> dict[str, Any]:
    """Return ``{"kind": name, field: setting, ...}``; the curves of a surface are nested."""
    content: dict[str, Any] = {"kind": _own_name(curve, curves)}
    for name, wanted in _settings_of(type(curve)).items():
        value = plain(getattr(curve, name))
        content[name] = curve_to_dict(value) if wanted is Curve else value
        if wanted is not Curve and not _is_a(value, wanted):
            raise InputError(f"{curve!r} cannot be saved: {name} is {shown(value)}")
    return content


def curve_from_dict(content: Any, *, clocks: tuple[int, ...] = (1, 2)) -> Curve:
    """Return the curve that `curve_to_dict` described; anything else is refused."""
    name = content.get("kind") if isinstance(content, Mapping) else None
    kind: Any = getattr(curves, name, None) if name in curves.__all__ else None
    # The base of the curves is no curve itself.
    if not (isinstance(kind, type) and issubclass(kind, Curve) and kind is not Curve):
        raise DamagedModelFileError(f"there is no such curve: {shown(content)}")
    wanted = _settings_of(kind)
    if set(content) != {"kind", *wanted}:
        raise DamagedModelFileError(
            f"a {name} needs {sorted(wanted)}, but the file has {sorted(map(str, content))}"
        )
    values = {setting: _read(content[setting], kinds) for setting, kinds in wanted.items()}
    curve: Curve = kind(**values)
    if curve.n_clocks not in clocks:
        raise DamagedModelFileError(f"a {name} along two clocks cannot be part of another curve")
    return curve


def _read(value: Any, wanted: Any) -> Any:
    if wanted is Curve:
        return curve_from_dict(value, clocks=(1,))
    if not _is_a(value, wanted):
        raise DamagedModelFileError(f"a setting of the curve is not of its kind: {shown(value)}")
    return value


def _settings_of(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _is_a(value: Any, wanted: Any) -> bool:
    """Tell whether a setting is what its annotation says; a bool is no number."""
    if get_origin(wanted) is Literal:
        return isinstance(value, str) and value in get_args(wanted)
    if get_args(wanted):
        return any(_is_a(value, one) for one in get_args(wanted))
    return type(value) is wanted or (wanted is float and type(value) is int)


def _own_name(part: Any, package: ModuleType) -> str:
    """Name of a class of this library; of another nothing could be read back."""
    name = type(part).__name__
    if getattr(package, name, None) is not type(part):
        raise InputError(f"{part!r} cannot be saved: {name} is not one of tempocal's own classes")
    return name
