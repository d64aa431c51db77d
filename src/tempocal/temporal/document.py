"""From a fitted calibrator along time to the document of its model file, and back."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.document import (
    construct,
    plain,
    require_map_of,
    require_same_classes,
    restore_fit,
    settings_to_dict,
)
from tempocal.calibrators.document import to_document as common_document
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.parametric import ParametricCalibrator, check_shrinkage
from tempocal.curves.constant import Constant
from tempocal.curves.document import curve_from_dict, curve_to_dict
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.maps import FeatureForm, MapPerStep, StepBand, to_dict
from tempocal.predictor.document import (
    ALONG_TIME,
    NEW_PARAMETERS,
    ModelDocument,
    column_from,
    time_column_from,
)
from tempocal.predictor.entries import require_keys
from tempocal.predictor.sequence_horizon import horizon_from
from tempocal.registry import kind_of
from tempocal.temporal.horizon import TAKEN, check_horizon

if TYPE_CHECKING:
    from tempocal.temporal.calibrator import TemporalCalibrator

_PARAMETERS = {"calibrator", "curve", "shrinkage", "time_column"}
_HORIZON, _SEQUENCE_COLUMN = "td_horizon", "sequence_column"


def to_document(calibrator: "TemporalCalibrator") -> ModelDocument:
    """Return the document of a fitted calibrator along time."""
    return common_document(
        calibrator,
        parameters_to_dict(calibrator, calibrator.classes_),
        bands=tuple(calibrator.bands_),
        time_kinds=tuple(calibrator.time_kinds_),
        sequences=calibrator._sequences,
    )


def parameters_to_dict(calibrator: "TemporalCalibrator", classes: NDArray[Any]) -> dict[str, Any]:
    """Return the constructor's arguments; ``classes`` are those of the fit."""
    inner, curve = calibrator.calibrator, calibrator.curve
    kind = None
    if inner is not None:
        kind = {"kind": kind_of(type(inner)), "parameters": settings_to_dict(inner, classes)}
    return {
        "calibrator": kind,
        "curve": None if curve is None else curve_to_dict(curve),
        "shrinkage": plain(calibrator.shrinkage),
        "time_column": plain(calibrator.time_column),
        **_new_parameters(calibrator),
    }


def _new_parameters(calibrator: "TemporalCalibrator") -> dict[str, Any]:
    """Return the arguments that 0.1 did not have, where they are in use.

    Without ``td_horizon`` the model learned from outcomes only. It is "auto" then if the summary
    says which horizon was taken, and else infinity, as in files of 0.1.
    """
    used: dict[str, Any] = {}
    asked = _horizon_of_fit(calibrator)
    is_number = check_horizon(asked) not in (None, np.inf)
    if is_number or getattr(calibrator, "_sequences", None) is not None:
        used[_HORIZON] = plain(asked)
    if calibrator.sequence_column is not None:
        used[_SEQUENCE_COLUMN] = plain(calibrator.sequence_column)
    return used


def _horizon_of_fit(calibrator: "TemporalCalibrator") -> Any:
    """Return the horizon that was asked for, though ``set_params`` may have changed it since."""
    asked, learned = calibrator.td_horizon, getattr(calibrator, "_sequences", None)
    if not hasattr(calibrator, "summary_"):
        return asked  # a candidate
    # The summary has no entry where outcomes only were asked for, and no reason for a number.
    if learned is None:
        return asked if TAKEN in calibrator.summary_.details else np.inf
    if asked in ("auto", learned.td_horizon):
        return asked
    was_chosen = f"{TAKEN}_because" in calibrator.summary_.details
    return "auto" if was_chosen else learned.td_horizon


def restore_along_time(document: ModelDocument) -> "TemporalCalibrator":
    """Return the calibrator along time that `to_document` described."""
    if document.calibrator != ALONG_TIME:
        raise DamagedModelFileError(f"{document.calibrator!r:.80} is no TemporalCalibrator")
    calibrator = parameters_from_dict(document.parameters)
    _require_valid(calibrator, document)
    restore_fit(calibrator, document)
    state = calibrator._online_state
    if state is not None and state.has_moving_targets != (document.sequences is not None):
        raise DamagedModelFileError("what was learned is not of the model's td_horizon")
    calibrator._set_sequences(document.sequences)
    is_new = TAKEN in calibrator.summary_.details
    if is_new and document.sequences is None and _HORIZON not in document.parameters:
        calibrator.td_horizon = "auto"
    calibrator.bands_ = document.bands
    calibrator.time_kinds_ = document.time_kinds
    return calibrator


def parameters_from_dict(parameters: Any) -> "TemporalCalibrator":
    """Return the calibrator, not yet fitted, that `parameters_to_dict` described."""
    from tempocal.temporal.calibrator import TemporalCalibrator  # noqa: PLC0415 - it saves itself

    require_keys(parameters, _PARAMETERS, NEW_PARAMETERS)
    inner, curve = parameters["calibrator"], parameters["curve"]
    if inner is not None:
        require_keys(inner, {"kind", "parameters"})
    return TemporalCalibrator(
        None if inner is None else construct(inner["kind"], inner["parameters"]),
        None if curve is None else curve_from_dict(curve),
        shrinkage=_shrinkage(parameters["shrinkage"]),
        td_horizon=_td_horizon(parameters.get(_HORIZON, np.inf)),
        time_column=time_column_from(parameters["time_column"]),
        sequence_column=column_from(parameters.get(_SEQUENCE_COLUMN)),
    )


def _td_horizon(value: Any) -> Any:
    return value if value in ("auto", np.inf) else horizon_from(value)


def _shrinkage(value: Any) -> Any:
    try:
        if value is not None:
            check_shrinkage(value)
    except (InputError, OverflowError) as error:
        raise DamagedModelFileError(str(error)) from error
    return tuple(value) if isinstance(value, list) else value


def _require_valid(calibrator: "TemporalCalibrator", document: ModelDocument) -> None:
    """Refuse a document that no fit of its calibrator could have left behind."""
    inner, curve = calibrator._calibrator_and_curve()
    clocks = len(document.time_kinds)
    # Nothing changes along a constant, whatever the number of clocks.
    if curve.n_clocks != clocks and not isinstance(curve, Constant):
        raise DamagedModelFileError(f"{curve!r} does not go along {clocks} clocks")
    require_same_classes(inner, document.classes)
    for fitted in document.maps:
        require_map_of(inner, fitted)
    if not _is_made_by(inner, document):
        raise DamagedModelFileError(f"{inner!r} does not make such a map")
    if not _is_horizon_of(calibrator, document):
        raise DamagedModelFileError("td_horizon is not the horizon that the model learned with")
    if not are_bands_of(document.bands, document.map):
        raise DamagedModelFileError("the bands are not those of the map")


def _is_horizon_of(calibrator: "TemporalCalibrator", document: ModelDocument) -> bool:
    """Tell whether a fit takes this horizon at the one that was asked for."""
    asked, taken = calibrator.td_horizon, document.sequences
    if taken is None:
        return asked != "auto"
    inner = calibrator._calibrator_and_curve()[0]
    return isinstance(inner, ParametricCalibrator) and asked in ("auto", taken.td_horizon)


def _is_made_by(inner: Calibrator, document: ModelDocument) -> bool:
    """Tell whether a map has the form, and as many numbers, as the calibrator's."""
    fitted: Any = document.map
    if isinstance(fitted, MapPerStep):
        return not isinstance(inner, ParametricCalibrator | Identity)
    if not isinstance(inner, ParametricCalibrator):
        return isinstance(inner, Identity) and fitted.form == "scale"
    columns, n_classes = document.logit_columns, len(document.classes)
    logits = np.zeros((n_classes, columns) if columns > 1 else n_classes)
    rows = FitData(logits, np.arange(n_classes), None, None, n_classes)
    try:
        family = inner._family(rows)
    except (TypeError, ValueError, OverflowError) as error:
        raise DamagedModelFileError(f"{inner!r:.80} cannot be fitted: {error}") from error
    widths = [len(model.numbers(model.identity)) for model in family.models]
    # Formulas may be written in another way than by the code of today; their names are the same.
    same_form = fitted.form == family.form.name and (
        not isinstance(family.form, FeatureForm) or fitted.names == family.form.names
    )
    return same_form and [table.shape[1] for table in fitted.tables] == widths


def are_bands_of(bands: Any, fitted: Any) -> bool:
    """Tell whether bands are around the numbers of a map."""
    if isinstance(fitted, MapPerStep):
        return not bands
    return len(bands) == len(fitted.tables) and all(
        to_dict(band.basis) == to_dict(basis)
        and (
            band.deviations.shape == table.shape
            if isinstance(band, StepBand)
            else np.array_equal(band.table, table)
        )
        for band, basis, table in zip(bands, fitted.bases, fitted.tables, strict=True)
    )
