"""From a fitted calibrator to the document of its model file, and back."""

import inspect
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.online_state_document import learned_from_dict, learned_to_dict
from tempocal.calibrators.summary_document import summary_from_dict, summary_to_dict
from tempocal.errors import DamagedModelFileError, InputError, ModelFileError
from tempocal.maps import FittedMap
from tempocal.modelfile import write_document
from tempocal.modelfile.labels import labels_from_dict, labels_to_dict
from tempocal.predictor.document import AutoDocument, ModelDocument, inputs_from
from tempocal.registry import Registry, kind_of

if TYPE_CHECKING:
    from tempocal.calibrators.base import Calibrator

CALIBRATORS = Registry("calibrator", package="calibrators")


def write_model(
    path: str | PathLike[str],
    document: ModelDocument | AutoDocument,
    restore: Callable[[Any], "Calibrator"],
) -> None:
    """Write a model file, once what is to be written has been read back."""
    content = document.to_dict()
    try:
        restore(type(document).from_dict(content))
    except ModelFileError as error:
        raise InputError(
            f"the model cannot be saved, for it could not be loaded: {error}"
        ) from error
    write_document(path, content, schema=document.schema)


def to_document(
    calibrator: "Calibrator", parameters: dict[str, Any] | None = None, **along_time: Any
) -> ModelDocument:
    """Return the document of a fitted calibrator; ``parameters`` if they are not its own."""
    if parameters is None:
        parameters = settings_to_dict(calibrator, calibrator.classes_)
    state = calibrator._online_state
    return ModelDocument(
        calibrator=kind_of(type(calibrator)),
        parameters=parameters,
        classes=calibrator.classes_,
        columns=int(calibrator.n_features_in_),
        column_names=[str(name) for name in getattr(calibrator, "feature_names_in_", [])],
        map=calibrator.map_,
        summary=summary_to_dict(calibrator.summary_),
        learned=None if state is None or not state.in_model_file else learned_to_dict(state),
        **along_time,
    )


def settings_to_dict(calibrator: "Calibrator", classes: NDArray[Any]) -> dict[str, Any]:
    """Return the constructor's arguments; ``classes`` are those of the fit."""
    parameters = calibrator.get_params(deep=False)
    if parameters.get("classes") is not None:
        # What was given may be a list; what it was read as can be written.
        parameters["classes"] = labels_to_dict(classes)
    return {name: plain(value) for name, value in parameters.items()}


def plain(value: Any) -> Any:
    """Turn a constructor argument into what JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value


def restore(document: ModelDocument) -> "Calibrator":
    """Return the calibrator that a document describes, which is fitted to all times at once."""
    calibrator = construct(document.calibrator, document.parameters)
    require_same_classes(calibrator, document.classes)
    require_map_of(calibrator, document.map)  # type: ignore[arg-type]
    restore_fit(calibrator, document)
    return calibrator


def construct(kind: Any, parameters: Any) -> "Calibrator":
    """Return a calibrator that is not fitted."""
    found: Any = CALIBRATORS.find(kind)
    if found is None:
        raise DamagedModelFileError(f"the model is a {kind!r:.80}, which is no calibrator")
    expected = set(inspect.signature(found).parameters)
    if not {"inputs", "classes"} <= expected:
        raise DamagedModelFileError(
            f"the constructor of {found.__name__} must have the arguments inputs and classes"
        )
    if not isinstance(parameters, Mapping) or set(parameters) != expected:
        raise DamagedModelFileError(
            f"the parameters of {found.__name__} must be {sorted(expected)}"
        )
    values = dict(parameters)
    if values["classes"] is not None:
        values["classes"] = labels_from_dict(values["classes"])
    inputs_from(values["inputs"])
    if isinstance(values.get("shrinkage"), list):
        values["shrinkage"] = tuple(values["shrinkage"])
    calibrator: Calibrator = found(**values)
    return calibrator


def restore_fit(calibrator: "Calibrator", document: ModelDocument) -> None:
    """Give a calibrator what its fit left behind."""
    calibrator.classes_ = document.classes
    calibrator.summary_ = summary_from_dict(document.summary)
    calibrator.n_features_in_ = document.columns
    if document.column_names:
        calibrator.feature_names_in_ = np.array(document.column_names, dtype=object)
    calibrator.map_ = document.map  # type: ignore[assignment]
    if document.learned is not None:
        fitted: Any = document.map
        n_models = len(getattr(fitted, "maps", getattr(fitted, "tables", (fitted,))))
        n_classes = len(document.classes)
        calibrator._online_state = learned_from_dict(document.learned, n_models, n_classes)


def require_same_classes(calibrator: "Calibrator", classes: NDArray[Any]) -> None:
    """Refuse a calibrator that was told other classes than the model has."""
    given = calibrator.classes
    if given is not None and labels_to_dict(np.asarray(given)) != labels_to_dict(classes):
        raise DamagedModelFileError("the model has other classes than its calibrator was given")


def require_map_of(calibrator: "Calibrator", fitted: FittedMap) -> None:
    """Refuse a map that a calibrator does not make."""
    if not isinstance(fitted, get_type_hints(type(calibrator))["map_"]):
        raise DamagedModelFileError(
            f"{type(calibrator).__name__} has no map of the kind {type(fitted).__name__}"
        )
