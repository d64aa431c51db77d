"""From a document back to a fitted calibrator along time."""

from collections.abc import Mapping
from typing import Any, get_args

from tempocal.calibrators.loading import (
    KEYS,
    construct,
    require_keys,
    restore_facts,
)
from tempocal.calibrators.shrinkage import check_shrinkage
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.inputs import TimeKind
from tempocal.maps.document import along_time_from_dict, band_from_dict
from tempocal.temporal.calibrator import TemporalCalibrator
from tempocal.temporal.clock import TimeColumn
from tempocal.temporal.document import curve_from_dict
from tempocal.temporal.whole import require_whole

_PARAMETERS = {"calibrator", "curve", "shrinkage", "time_column"}


def from_content(content: Mapping[str, Any]) -> TemporalCalibrator:
    """Return the calibrator along time that `to_content` described."""
    require_keys(content, KEYS | {"bands", "time_kinds"})
    if content["calibrator"] != TemporalCalibrator.__name__:
        raise DamagedModelFileError(f"{content['calibrator']!r:.80} is no TemporalCalibrator")
    calibrator = parameters_from_dict(content["parameters"])
    restore_facts(calibrator, content)
    calibrator.map_ = along_time_from_dict(content["map"])
    calibrator.bands_ = tuple(map(band_from_dict, _list(content["bands"], "bands")))
    calibrator.time_kinds_ = _time_kinds(content["time_kinds"])
    require_whole(calibrator)
    return calibrator


def parameters_from_dict(parameters: Any) -> TemporalCalibrator:
    """Return the calibrator, not yet fitted, that `parameters_to_dict` described."""
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
