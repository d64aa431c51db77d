"""A fitted `AutoTemporalCalibrator` as a document of names and numbers, and back."""

from typing import TYPE_CHECKING, Any

from tempocal.calibrators.summary_document import read_out, spell_out
from tempocal.errors import DamagedModelFileError
from tempocal.modelfile.labels import labels_from_dict, labels_to_dict
from tempocal.predictor.document import AutoDocument
from tempocal.predictor.entries import require_keys
from tempocal.temporal.comparison import Candidate, Comparison
from tempocal.temporal.document import (
    parameters_from_dict,
    parameters_to_dict,
    restore_along_time,
    to_document,
)

if TYPE_CHECKING:
    from tempocal.temporal.auto import AutoTemporalCalibrator

_SETTINGS = {"folds": int, "seed": int}
_FITTED = ("classes_", "map_", "bands_", "time_kinds_", "n_features_in_")


def auto_to_document(auto: "AutoTemporalCalibrator") -> AutoDocument:
    """Return the document of a fitted `AutoTemporalCalibrator`."""
    best = to_document(auto.best_)
    parameters = {
        "candidates": _candidates_to_list(auto),
        "folds": int(auto.folds),
        "seed": int(auto.seed),
        "progress": auto.progress,
        "inputs": auto.inputs,
        "classes": None if auto.classes is None else labels_to_dict(auto.classes_),
        "time_column": best.parameters["time_column"],
    }
    return AutoDocument(parameters, best, spell_out(auto.comparison_.to_dicts()))


def restore_auto(document: AutoDocument) -> "AutoTemporalCalibrator":
    """Return the calibrator that `auto_to_document` described."""
    from tempocal.temporal.auto import AutoTemporalCalibrator  # noqa: PLC0415 - it saves itself

    best = restore_along_time(document.best)
    auto = AutoTemporalCalibrator(**_settings(document.parameters))
    if auto.time_column != best.time_column or auto.inputs != best.inputs:
        raise DamagedModelFileError("the settings are not those of the chosen candidate")
    auto.best_ = best
    for name in _FITTED:
        setattr(auto, name, getattr(best, name))
    if hasattr(best, "feature_names_in_"):
        auto.feature_names_in_ = best.feature_names_in_
    auto.comparison_ = _comparison(read_out(document.comparison), best.summary_.n_groups)
    auto.summary_ = auto._with_choice(best.summary_)
    return auto


def _candidates_to_list(auto: "AutoTemporalCalibrator") -> list[Any] | None:
    if auto.candidates is None:
        return None
    return [parameters_to_dict(one, auto.classes_) for one in auto.as_temporal()]


def _settings(parameters: Any) -> dict[str, Any]:
    names = {"candidates", "folds", "seed", "progress", "inputs", "classes", "time_column"}
    require_keys(parameters, names)
    settings = dict(parameters)
    known = (
        all(type(settings[name]) is kind for name, kind in _SETTINGS.items())
        and settings["progress"] in (None, True, False)
        and settings["inputs"] in ("logits", "proba")
        and isinstance(settings["candidates"], list | None)
    )
    if not known:
        raise DamagedModelFileError(f"the settings of the model are {parameters!r:.120}")
    if settings["candidates"] is not None:
        settings["candidates"] = [parameters_from_dict(one) for one in settings["candidates"]]
    if settings["classes"] is not None:
        settings["classes"] = labels_from_dict(settings["classes"])
    if isinstance(settings["time_column"], list):
        settings["time_column"] = tuple(settings["time_column"])
    return settings


def _comparison(rows: Any, n_groups: int | None) -> Comparison:
    if not isinstance(rows, list) or not rows:
        raise DamagedModelFileError("the comparison of the model cannot be read")
    return Comparison(tuple(_candidate(row) for row in rows), n_groups)


def _candidate(row: Any) -> Candidate:
    kinds = {name: field.type for name, field in Candidate.__dataclass_fields__.items()}
    require_keys(row, set(kinds))
    for name, kind in kinds.items():
        if type(row[name]) not in ((str,) if kind is str else (int, float)):
            raise DamagedModelFileError(f"{name} of a candidate is {row[name]!r:.80}")
    return Candidate(**row)
