"""From a model file back to a fitted calibrator, along time or not."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, get_args

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.loading import (
    KEYS,
    construct,
    require_keys,
    restore,
    restore_facts,
)
from tempocal.calibrators.shrinkage import check_shrinkage
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.inputs import TimeKind
from tempocal.maps.document import along_time_from_dict, band_from_dict
from tempocal.modelfile import read_document
from tempocal.temporal.calibrator import TemporalCalibrator
from tempocal.temporal.clock import TimeColumn
from tempocal.temporal.document import curve_from_dict
from tempocal.temporal.whole import require_whole

_PARAMETERS = {"calibrator", "curve", "shrinkage", "time_column"}


def load(path: str | PathLike[str]) -> Calibrator:
    """Read a fitted calibrator from a model file.

    Parameters
    ----------
    path : path-like
        A file that ``save`` wrote.

    Returns
    -------
    calibrator
        It predicts as the one that was saved, to the bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or written by a later version.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import tempocal as tc
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0]).save(path)
    >>> tc.load(path).classes_
    array([0, 1])
    """
    content = read_document(path)
    try:
        name = content.get("calibrator")
        read = _READERS.get(name, restore) if isinstance(name, str) else restore
        return read(content)
    except DamagedModelFileError as error:
        raise DamagedModelFileError(f"{path}: {error}") from error


def from_content(content: Mapping[str, Any]) -> TemporalCalibrator:
    """Return the calibrator along time that `to_content` described."""
    require_keys(content, KEYS | {"bands", "time_kinds"})
    if content["calibrator"] != TemporalCalibrator.__name__:
        raise DamagedModelFileError(f"{content['calibrator']!r:.80} is no TemporalCalibrator")
    calibrator = _construct(content["parameters"])
    restore_facts(calibrator, content)
    calibrator.map_ = along_time_from_dict(content["map"])
    calibrator.bands_ = tuple(map(band_from_dict, _list(content["bands"], "bands")))
    calibrator.time_kinds_ = _time_kinds(content["time_kinds"])
    require_whole(calibrator)
    return calibrator


def restore_auto(content: Mapping[str, Any]) -> Calibrator:
    """Return the `AutoTemporalCalibrator` that a document describes."""
    raise DamagedModelFileError("an AutoTemporalCalibrator cannot be read by this version")


# Every other name is that of a calibrator which knows no time, or is refused.
_READERS: dict[str, Callable[[Mapping[str, Any]], Calibrator]] = {
    "AutoTemporalCalibrator": restore_auto,
    "TemporalCalibrator": from_content,
}


def _construct(parameters: Any) -> TemporalCalibrator:
    require_keys(parameters, _PARAMETERS)
    inner, curve = parameters["calibrator"], parameters["curve"]
    if inner is not None:
        require_keys(inner, {"kind", "parameters"})
    return TemporalCalibrator(
        None if inner is None else construct(inner["kind"], inner["parameters"]),
        None if curve is None else curve_from_dict(curve),
        shrinkage=_shrinkage(parameters["shrinkage"]),
        time_column=_time_column(parameters["time_column"]),
    )


def _shrinkage(value: Any) -> Any:
    try:
        if value is not None:
            check_shrinkage(value)
    except (InputError, OverflowError) as error:
        raise DamagedModelFileError(str(error)) from error
    return tuple(value) if isinstance(value, list) else value


def _time_column(value: Any) -> TimeColumn | None:
    columns = value if isinstance(value, list) else [value]
    known = len(columns) in (1, 2) and all(type(column) in (int, str) for column in columns)
    if value is not None and not known:
        raise DamagedModelFileError(f"time_column is {value!r:.80}")
    read: TimeColumn | None = tuple(value) if isinstance(value, list) else value
    return read


def _time_kinds(value: Any) -> Any:
    kinds = _list(value, "time_kinds")
    if len(kinds) not in (1, 2) or not all(kind in get_args(TimeKind) for kind in kinds):
        raise DamagedModelFileError(f"time_kinds are {value!r:.80}")
    return tuple(kinds)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise DamagedModelFileError(f"{name} must be a list, not {value!r:.80}")
    return value
