"""The methods compared: raw predictions, global temperature scaling, calibration along time."""

from dataclasses import dataclass
from math import inf
from typing import Any

from tempocal.assessment.row_source import TrainingRows
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.temperature import TemperatureScaling
from tempocal.curves.per_step import PerStep
from tempocal.links import Array
from tempocal.temporal import AutoTemporalCalibrator, TemporalCalibrator
from tempocal.temporal.candidates import candidates_at

METHODS = ("raw", "global", "along time")


@dataclass(frozen=True, eq=False)
class FittedMethods:
    """The fitted calibrator of each method."""

    global_scaling: Any
    auto: Any
    identity: Any

    def by_name(self) -> dict[str, Any]:
        """Return the calibrator of each method."""
        calibrators = (self.identity, self.global_scaling, self.auto)
        return dict(zip(METHODS, calibrators, strict=True))

    def predict(self, rows: PastPredictions) -> dict[str, Array]:
        """Return the probabilities (n, K) of each method."""
        return {
            name: calibrator.predict_proba(rows.predictions, **_time(calibrator, rows))
            for name, calibrator in self.by_name().items()
        }


def fit_methods(rows: TrainingRows, seed: int, progress: bool | None) -> FittedMethods:
    """Fit all methods."""
    settings: dict[str, Any] = {"inputs": rows.inputs, "classes": rows.classes}
    candidates = candidates_at(rows.td_horizon, None, len(rows.classes))
    return FittedMethods(
        rows.fit(TemperatureScaling(**settings)),
        rows.fit(AutoTemporalCalibrator(candidates, seed=seed, progress=progress, **settings)),
        rows.fit(Identity(**settings)),
    )


def _time(calibrator: Any, rows: PastPredictions) -> dict[str, Any]:
    return {"time": rows.time} if is_along_time(calibrator) else {}


def is_along_time(calibrator: Any) -> bool:
    """Whether a calibrator takes the time of each row."""
    return isinstance(calibrator, AutoTemporalCalibrator | TemporalCalibrator)


def fit_per_time_bin(auto: Any, rows: TrainingRows, n_bins: int) -> Any | None:
    """Fit the leading candidate to each time bin separately, for comparison with its curve.

    None if that is the identity. These learn from outcomes only, whatever the curve learned from.
    """
    leading = auto.best_.calibrator
    if isinstance(leading, Identity):
        return None
    return rows.fit(TemporalCalibrator(leading, PerStep(bins=n_bins), td_horizon=inf))
