"""From a document back to a fitted calibrator along time."""

from collections.abc import Mapping
from typing import Any

from tempocal.calibrators.loading import construct, restore_facts, restore_learned
from tempocal.calibrators.shrinkage import check_shrinkage
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.maps.document import along_time_from_dict, band_from_dict
from tempocal.predictor.entries import (
    KEYS_ALONG_TIME,
    list_from,
    require_keys,
    time_column_from,
    time_kinds_from,
)
from tempocal.temporal.calibrator import TemporalCalibrator
from tempocal.temporal.document import curve_from_dict
from tempocal.temporal.whole import require_whole

_PARAMETERS = {"calibrator", "curve", "shrinkage", "time_column"}


def from_content(content: Mapping[str, Any]) -> TemporalCalibrator:
    """Return the calibrator along time that `to_content` described."""
    require_keys(content, KEYS_ALONG_TIME)
    if content["calibrator"] != TemporalCalibrator.__name__:
        raise DamagedModelFileError(f"{content['calibrator']!r:.80} is no TemporalCalibrator")
    calibrator = parameters_from_dict(content["parameters"])
    restore_facts(calibrator, content)
    calibrator.map_ = along_time_from_dict(content["map"])
    calibrator.bands_ = tuple(map(band_from_dict, list_from(content["bands"], "bands")))
    calibrator.time_kinds_ = time_kinds_from(content["time_kinds"])
    require_whole(calibrator)
    restore_learned(calibrator, content)
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
        time_column=time_column_from(parameters["time_column"]),
    )


def _shrinkage(value: Any) -> Any:
    try:
        if value is not None:
            check_shrinkage(value)
    except (InputError, OverflowError) as error:
        raise DamagedModelFileError(str(error)) from error
    return tuple(value) if isinstance(value, list) else value
