"""A fitted `AutoTemporalCalibrator` as a document of names and numbers, and back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tempocal.calibrators.document import plain
from tempocal.calibrators.summary_document import (
    read_out,
    spell_out,
    summary_from_dict,
    summary_to_dict,
)
from tempocal.errors import DamagedModelFileError
from tempocal.maps import Average
from tempocal.modelfile.labels import labels_from_dict, labels_to_dict
from tempocal.predictor.document import COMBINE, AutoDocument, ModelDocument
from tempocal.predictor.entries import require_keys
from tempocal.temporal.comparison import Candidate, Comparison
from tempocal.temporal.document import (
    are_bands_of,
    parameters_from_dict,
    parameters_to_dict,
    restore_along_time,
    to_document,
)
from tempocal.temporal.held_out_folds import IN_TIME

if TYPE_CHECKING:
    from tempocal.temporal.auto import AutoTemporalCalibrator

_FITTED = ("classes_", "map_", "bands_", "time_kinds_", "n_features_in_")
_WEIGHT = "weight"


def auto_to_document(auto: "AutoTemporalCalibrator") -> AutoDocument:
    """Return the document of a fitted `AutoTemporalCalibrator`."""
    best, is_choice = to_document(auto.best_), auto.combine == "choose"
    parameters = {
        "candidates": _candidates_to_list(auto),
        "folds": plain(auto.folds),
        "seed": int(auto.seed),
        "progress": auto.progress,
        "inputs": auto.inputs,
        "classes": None if auto.classes is None else labels_to_dict(auto.classes_),
        "time_column": best.parameters["time_column"],
    }
    rows = auto.comparison_.to_dicts()
    if is_choice:
        # What 0.1 reads: the verdict says which one was chosen.
        rows = [{name: each for name, each in row.items() if name != _WEIGHT} for row in rows]
    else:
        parameters[COMBINE] = "average"
    model = best
    if isinstance(auto.map_, Average):
        summary = summary_to_dict(auto.summary_)
        bands = tuple(auto.bands_)
        model = replace(best, map=auto.map_, bands=bands, summary=summary, learned=None)
    return AutoDocument(parameters, best, spell_out(rows), model)


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
    rows, n_groups = read_out(document.comparison), best.summary_.n_groups
    auto.comparison_ = _comparison(rows, n_groups, auto.combine)
    summary = best.summary_
    if isinstance(document.model.map, Average):
        _restore_average(auto, document.model)
        summary = auto.summary_
    auto.summary_ = auto._with_comparison(summary)
    return auto


def _restore_average(auto: "AutoTemporalCalibrator", model: ModelDocument) -> None:
    fitted: Any = model.map
    if not are_bands_of(model.bands, fitted):
        raise DamagedModelFileError("the bands are not those of the average")
    weights = [one.weight for one in auto.comparison_.kept]
    if auto.combine != "average" or weights != fitted.weights.tolist():
        raise DamagedModelFileError("the weights of the average are not those of the comparison")
    auto.map_, auto.bands_ = fitted, model.bands
    auto.summary_ = summary_from_dict(model.summary)


def _candidates_to_list(auto: "AutoTemporalCalibrator") -> list[Any] | None:
    if auto.candidates is None:
        return None
    candidates = auto.as_temporal()
    found = [parameters_to_dict(one, auto.classes_) for one in candidates]
    # One that is not fitted yet says so itself: without the entry it learns from outcomes only.
    usual = [{"td_horizon": "auto"} if one.td_horizon == "auto" else {} for one in candidates]
    return [{**own, **horizon} for own, horizon in zip(found, usual, strict=True)]


def _settings(parameters: Any) -> dict[str, Any]:
    names = {"candidates", "folds", "seed", "progress", "inputs", "classes", "time_column"}
    is_choice = isinstance(parameters, Mapping) and COMBINE not in parameters
    require_keys(parameters, names | (set() if is_choice else {COMBINE}))
    settings = {COMBINE: "choose", **parameters}
    known = (
        (type(settings["folds"]) is int or settings["folds"] == IN_TIME)
        and type(settings["seed"]) is int
        and settings[COMBINE] == ("choose" if is_choice else "average")
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


def _comparison(rows: Any, n_groups: int | None, combine: str) -> Comparison:
    if not isinstance(rows, list) or not rows:
        raise DamagedModelFileError("the comparison of the model cannot be read")
    candidates = [_candidate(row, combine == "choose") for row in rows]
    found = Comparison(tuple(candidates), n_groups)
    if not any(one.weight > 0.0 for one in candidates) or found.is_choice != (combine == "choose"):
        raise DamagedModelFileError("the comparison of the model says nothing of what was taken")
    return found


def _candidate(row: Any, is_choice: bool) -> Candidate:
    kinds = {name: field.type for name, field in Candidate.__dataclass_fields__.items()}
    if is_choice:
        del kinds[_WEIGHT]
    require_keys(row, set(kinds))
    for name, kind in kinds.items():
        if type(row[name]) not in ((str,) if kind is str else (int, float)):
            raise DamagedModelFileError(f"{name} of a candidate is {row[name]!r:.80}")
    found = Candidate(**row)
    return replace(found, weight=float(found.verdict.startswith("chosen"))) if is_choice else found
