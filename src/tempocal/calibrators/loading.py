"""From the content of a model file back to a fitted calibrator."""

import inspect
from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from tempocal import calibrators
from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.document import labels_from_dict, labels_to_dict, summary_from_dict
from tempocal.errors import DamagedModelFileError
from tempocal.maps import FittedMap, from_dict

KEYS = {
    "calibrator",
    "written_by",
    "parameters",
    "classes",
    "columns",
    "column_names",
    "map",
    "summary",
}


def restore(content: Mapping[str, Any]) -> Calibrator:
    """Return the calibrator that a document describes, which is fitted to all times at once."""
    require_keys(content, KEYS)
    calibrator = construct(content["calibrator"], content["parameters"])
    restore_facts(calibrator, content)
    require_same_classes(calibrator, calibrator.classes_)
    calibrator.map_ = from_dict(content["map"])
    check_map(calibrator.map_, calibrator, calibrator.n_features_in_, len(calibrator.classes_))
    return calibrator


def require_keys(content: Any, keys: set[str]) -> None:
    """Refuse a part of a document that has other entries than these."""
    if not isinstance(content, Mapping) or set(content) != keys:
        found = sorted(content) if isinstance(content, Mapping) else shown(content)
        raise DamagedModelFileError(f"the model needs {sorted(keys)}, but the file has {found}")


def construct(name: Any, parameters: Any) -> Calibrator:
    """Return a calibrator that is not fitted."""
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


def restore_facts(calibrator: Calibrator, content: Mapping[str, Any]) -> None:
    """Give a calibrator its classes, its summary and the columns of its X."""
    calibrator.classes_ = labels_from_dict(content["classes"])
    calibrator.summary_ = summary_from_dict(content["summary"])
    columns, names = content["columns"], content["column_names"]
    if type(columns) is not int or columns < 1:
        raise DamagedModelFileError(f"the number of columns is {columns!r:.80}")
    is_text = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not is_text or len(names) not in (0, columns):
        raise DamagedModelFileError(f"the names of the {columns} columns are {names!r:.80}")
    calibrator.n_features_in_ = columns
    if names:
        calibrator.feature_names_in_ = np.array(names, dtype=object)


def require_same_classes(calibrator: Calibrator, classes: NDArray[Any]) -> None:
    """Refuse a calibrator that was told other classes than the model has."""
    given = calibrator.classes
    if given is not None and labels_to_dict(np.asarray(given)) != labels_to_dict(classes):
        raise DamagedModelFileError("the model has other classes than its calibrator was given")


def check_map(fitted: FittedMap, calibrator: Calibrator, columns: int, n_classes: int) -> None:
    """Refuse a map that a calibrator does not make of so many columns and classes."""
    if not isinstance(fitted, get_type_hints(type(calibrator))["map_"]):
        raise DamagedModelFileError(
            f"{type(calibrator).__name__} has no map of the kind {type(fitted).__name__}"
        )
    if columns in (1, n_classes) and n_classes >= 2:
        shape = _shape_of(fitted, columns)
        if shape == (1, n_classes) or (shape == (1,) and n_classes == 2):
            return
    raise DamagedModelFileError(
        f"the map, {columns} columns and {n_classes} classes do not go together"
    )


def _shape_of(fitted: FittedMap, columns: int) -> tuple[int, ...]:
    try:
        # Numbers that are too large are a matter of those who predict with them.
        with np.errstate(all="ignore"):
            return fitted(np.zeros(1) if columns == 1 else np.zeros((1, columns))).shape
    except (IndexError, TypeError, ValueError) as error:
        raise DamagedModelFileError(f"the map cannot be applied: {error}") from error
