"""From the content of a model file back to a fitted calibrator."""

import inspect
from collections.abc import Mapping
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from tempocal import calibrators
from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.document import summary_from_dict
from tempocal.calibrators.online_state_document import learned_from_dict
from tempocal.errors import DamagedModelFileError
from tempocal.maps import FittedMap, from_dict
from tempocal.modelfile.labels import labels_from_dict, labels_to_dict
from tempocal.predictor.entries import KEYS, LEARNED, columns_from, inputs_from, require_keys
from tempocal.predictor.whole import require_shape


def restore(content: Mapping[str, Any]) -> Calibrator:
    """Return the calibrator that a document describes, which is fitted to all times at once."""
    require_keys(content, KEYS)
    calibrator = construct(content["calibrator"], content["parameters"])
    restore_facts(calibrator, content)
    require_same_classes(calibrator, calibrator.classes_)
    calibrator.map_ = from_dict(content["map"])
    check_map(calibrator.map_, calibrator, calibrator.n_features_in_, len(calibrator.classes_))
    restore_learned(calibrator, content)
    return calibrator


def restore_learned(calibrator: Calibrator, content: Mapping[str, Any]) -> None:
    """Give a calibrator back what it has learned from parts, if it has."""
    if LEARNED in content:
        n_classes, fitted = len(calibrator.classes_), calibrator.map_
        parts = getattr(fitted, "maps", getattr(fitted, "tables", (fitted,)))
        calibrator._online_state = learned_from_dict(content[LEARNED], len(parts), n_classes)


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
    inputs_from(values["inputs"])
    if isinstance(values.get("shrinkage"), list):
        values["shrinkage"] = tuple(values["shrinkage"])
    return kind(**values)


def restore_facts(calibrator: Calibrator, content: Mapping[str, Any]) -> None:
    """Give a calibrator its classes, its summary and the columns of its X."""
    calibrator.classes_ = labels_from_dict(content["classes"])
    calibrator.summary_ = summary_from_dict(content["summary"])
    columns = columns_from(content)
    calibrator.n_features_in_ = columns.count
    if columns.names:
        calibrator.feature_names_in_ = np.array(columns.names, dtype=object)


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
    require_shape(fitted, columns, n_classes)
