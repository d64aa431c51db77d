"""From a model file to what predicts."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from tempocal.errors import DamagedModelFileError
from tempocal.inputs import Inputs
from tempocal.maps import from_dict
from tempocal.maps.document import along_time_from_dict
from tempocal.modelfile import read_document
from tempocal.modelfile.labels import labels_from_dict
from tempocal.predictor.entries import (
    KEYS,
    KEYS_ALONG_TIME,
    KEYS_OF_CHOICE,
    columns_from,
    inputs_from,
    require_keys,
    time_column_from,
    time_kinds_from,
)
from tempocal.predictor.predict import Predictor
from tempocal.predictor.whole import (
    columns_beside_time,
    maps_at_moments,
    require_clocks,
    require_shape,
)


def read_model(path: str | PathLike[str]) -> Predictor:
    """Read what a model file says about predicting.

    Parameters
    ----------
    path : path-like
        A file that ``save`` wrote, of any calibrator.

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
    >>> read_model(path).classes
    array([0, 1])
    """
    content = read_document(path, "model")
    try:
        return model_from(content)
    except DamagedModelFileError as error:
        raise DamagedModelFileError(f"{path}: {error}") from error


def model_from(content: Any) -> Predictor:
    """Return the model that a document describes."""
    kind = content.get("calibrator")
    if kind == "AutoTemporalCalibrator":
        require_keys(content, KEYS_OF_CHOICE)
        return _along_time(content["best"])
    return _along_time(content) if kind == "TemporalCalibrator" else _of_all_times(content)


def _of_all_times(content: Mapping[str, Any]) -> Predictor:
    require_keys(content, KEYS)
    classes = labels_from_dict(content["classes"])
    fitted, columns = from_dict(content["map"]), columns_from(content).count
    require_shape(fitted, columns, len(classes))
    inputs = inputs_from(_entry(content["parameters"], "inputs"))
    return Predictor(_name(content), classes, inputs, columns, fitted)


def _along_time(content: Any) -> Predictor:
    require_keys(content, KEYS_ALONG_TIME)
    classes, kinds = labels_from_dict(content["classes"]), time_kinds_from(content["time_kinds"])
    fitted = along_time_from_dict(content["map"])
    require_clocks(fitted, len(kinds))
    where = time_column_from(_entry(content["parameters"], "time_column"))
    columns = columns_beside_time(columns_from(content), where, len(kinds))
    for one in maps_at_moments(fitted):
        require_shape(one, columns, len(classes))
    inputs = _inputs_along_time(content["parameters"])
    return Predictor(_name(content), classes, inputs, columns, fitted, kinds)


def _inputs_along_time(parameters: Any) -> Inputs:
    inner = _entry(parameters, "calibrator")
    # No calibrator is temperature scaling of logits.
    return "logits" if inner is None else inputs_from(_entry(inner, "parameters", "inputs"))


def _name(content: Mapping[str, Any]) -> str:
    name = _entry(content["summary"], "calibrator")
    if not isinstance(name, str):
        raise DamagedModelFileError(f"the name of the model is {name!r:.80}")
    return name


def _entry(content: Any, *path: str) -> Any:
    for name in path:
        if not isinstance(content, Mapping) or name not in content:
            raise DamagedModelFileError(f"the model does not say its {name}")
        content = content[name]
    return content
