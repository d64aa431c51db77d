"""Whether the parts of a calibrator along time that was read from a file go together."""

from typing import Any

import numpy as np

from tempocal.calibrators import Identity
from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.loading import check_map, require_same_classes
from tempocal.calibrators.parametric import ParametricCalibrator
from tempocal.curves import Constant
from tempocal.errors import DamagedModelFileError
from tempocal.maps import MapPerStep, StepBand, to_dict
from tempocal.predictor.entries import Columns
from tempocal.predictor.whole import columns_beside_time, maps_at_moments, require_clocks
from tempocal.temporal.calibrator import TemporalCalibrator


def require_whole(calibrator: TemporalCalibrator) -> None:
    """Refuse a calibrator that no fit could have left behind."""
    inner, curve = calibrator._calibrator_and_curve()
    clocks, n_classes = len(calibrator.time_kinds_), len(calibrator.classes_)
    # Nothing changes along a constant, whatever the number of clocks.
    if curve.n_clocks != clocks and not isinstance(curve, Constant):
        raise DamagedModelFileError(f"{curve!r} does not go along {clocks} clocks")
    require_clocks(calibrator.map_, clocks)
    require_same_classes(inner, calibrator.classes_)
    columns = _columns_of_logits(calibrator)
    for fitted in maps_at_moments(calibrator.map_):
        check_map(fitted, inner, columns, n_classes)
    if not _is_made_by(inner, calibrator.map_, columns, n_classes):
        raise DamagedModelFileError(f"{inner!r} does not make such a map")
    if not _are_bands_of(calibrator.bands_, calibrator.map_):
        raise DamagedModelFileError("the bands are not those of the map")


def _columns_of_logits(calibrator: TemporalCalibrator) -> int:
    names = list(getattr(calibrator, "feature_names_in_", []))
    columns = Columns(calibrator.n_features_in_, names)
    return columns_beside_time(columns, calibrator.time_column, len(calibrator.time_kinds_))


def _is_made_by(inner: Calibrator, fitted: Any, columns: int, n_classes: int) -> bool:
    """Tell whether a map has the form, and as many numbers, as the calibrator's."""
    if isinstance(fitted, MapPerStep):
        return not isinstance(inner, ParametricCalibrator | Identity)
    if not isinstance(inner, ParametricCalibrator):
        return isinstance(inner, Identity) and fitted.form == "scale"
    logits = np.zeros((n_classes, columns) if columns > 1 else n_classes)
    rows = FitData(logits, np.arange(n_classes), None, None, n_classes)
    try:
        family = inner._family(rows)
    except (TypeError, ValueError, OverflowError) as error:
        raise DamagedModelFileError(f"{inner!r:.80} cannot be fitted: {error}") from error
    widths = [len(model.numbers(model.identity)) for model in family.models]
    return fitted.form == family.form and [table.shape[1] for table in fitted.tables] == widths


def _are_bands_of(bands: Any, fitted: Any) -> bool:
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
