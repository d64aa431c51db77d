"""From a model file back to a fitted calibrator."""

import inspect
from collections.abc import Mapping
from os import PathLike
from typing import Any, get_type_hints

import numpy as np

from tempocal import calibrators
from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.document import labels_from_dict, summary_from_dict
from tempocal.errors import DamagedModelFileError
from tempocal.maps import FittedMap, from_dict
from tempocal.modelfile import read_document

_KEYS = {
    "calibrator",
    "written_by",
    "parameters",
    "classes",
    "columns",
    "column_names",
    "map",
    "summary",
}


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
    if set(content) != _KEYS:
        raise DamagedModelFileError(
            f"{path}: a calibrator needs {sorted(_KEYS)}, but the file has {sorted(content)}"
        )
    try:
        return _restore(content)
    except DamagedModelFileError as error:
        raise DamagedModelFileError(f"{path}: {error}") from error


def _restore(content: Mapping[str, Any]) -> Calibrator:
    calibrator = _construct(content["calibrator"], content["parameters"])
    calibrator.classes_ = labels_from_dict(content["classes"])
    calibrator.map_ = _check_kind(from_dict(content["map"]), calibrator)
    calibrator.summary_ = summary_from_dict(content["summary"])
    calibrator.n_features_in_ = _check_columns(content["columns"], calibrator)
    names = _check_names(content["column_names"], calibrator.n_features_in_)
    if names:
        calibrator.feature_names_in_ = np.array(names, dtype=object)
    return calibrator


def _construct(name: Any, parameters: Any) -> Calibrator:
    kind = getattr(calibrators, name, None) if name in calibrators.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, Calibrator)):
        raise DamagedModelFileError(f"the model is a {name!r}, which is no calibrator")
    expected = set(inspect.signature(kind).parameters)
    if not isinstance(parameters, Mapping) or set(parameters) != expected:
        raise DamagedModelFileError(f"the parameters of {name} must be {sorted(expected)}")
    values = dict(parameters)
    if values["classes"] is not None:
        values["classes"] = labels_from_dict(values["classes"])
    if values["inputs"] not in ("logits", "proba"):
        raise DamagedModelFileError(f"the model's inputs are {values['inputs']!r}")
    if isinstance(values.get("shrinkage"), list):
        values["shrinkage"] = tuple(values["shrinkage"])
    return kind(**values)


def _check_kind(fitted: Any, calibrator: Calibrator) -> FittedMap:
    """Refuse a map that this calibrator does not make, as its class declares."""
    if not isinstance(fitted, get_type_hints(type(calibrator))["map_"]):
        raise DamagedModelFileError(
            f"{type(calibrator).__name__} has no map of the kind {type(fitted).__name__}"
        )
    made: FittedMap = fitted
    return made


def _check_columns(columns: Any, calibrator: Calibrator) -> int:
    """Refuse a map that does not give as many classes as the model has."""
    n_classes = len(calibrator.classes_)
    if type(columns) is int and columns in (1, n_classes) and n_classes >= 2:
        shape = _shape_of(calibrator.map_, columns)
        if shape == (1, n_classes) or (shape == (1,) and n_classes == 2):
            return columns
    raise DamagedModelFileError(
        f"the map, {columns} columns and {n_classes} classes do not go together"
    )


def _check_names(names: Any, columns: int) -> list[str]:
    """Names of all columns, or none."""
    is_text = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if is_text and len(names) in (0, columns):
        return list(names)
    raise DamagedModelFileError(f"the names of the {columns} columns are {names!r:.80}")


def _shape_of(fitted: FittedMap, columns: int) -> tuple[int, ...]:
    try:
        return fitted(np.zeros(1) if columns == 1 else np.zeros((1, columns))).shape
    except (IndexError, TypeError, ValueError) as error:
        raise DamagedModelFileError(f"the map cannot be applied: {error}") from error
