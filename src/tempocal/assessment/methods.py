"""What is compared: predictions as they came, one correction for all times, and one along time."""

from dataclasses import dataclass
from typing import Any

from tempocal.assessment.row_source import ToFit
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.calibrators import Identity, TemperatureScaling
from tempocal.curves import PerStep
from tempocal.links import Array
from tempocal.temporal import AutoTemporalCalibrator, TemporalCalibrator

METHODS = ("raw", "global", "along time")


@dataclass(frozen=True, eq=False)
class Fitted:
    """The calibrators, fitted to one part of the rows."""

    calibrate_globally: Any
    auto: Any
    do_nothing: Any

    def by_name(self) -> dict[str, Any]:
        """Return the calibrator of each method."""
        calibrators = (self.do_nothing, self.calibrate_globally, self.auto)
        return dict(zip(METHODS, calibrators, strict=True))

    def predict(self, rows: PastPredictions) -> dict[str, Array]:
        """Return the probabilities (n, K) of each method."""
        return {
            name: one.predict_proba(rows.scores, **_time(one, rows))
            for name, one in self.by_name().items()
        }


def fit_methods(rows: ToFit, seed: int, progress: bool | None) -> Fitted:
    """Fit all methods."""
    settings: dict[str, Any] = {"inputs": rows.inputs, "classes": rows.classes}
    return Fitted(
        rows.fit(TemperatureScaling(**settings)),
        rows.fit(AutoTemporalCalibrator(seed=seed, progress=progress, **settings)),
        rows.fit(Identity(**settings)),
    )


def _time(calibrator: Any, rows: PastPredictions) -> dict[str, Any]:
    return {"time": rows.time} if is_along_time(calibrator) else {}


def is_along_time(calibrator: Any) -> bool:
    """Tell whether a calibrator wants to know the time."""
    return isinstance(calibrator, AutoTemporalCalibrator | TemporalCalibrator)


def fit_by_stretch(auto: Any, rows: ToFit, stretches: int) -> Any | None:
    """Fit the calibrator that was chosen to each stretch of these rows on its own.

    That is to be compared with its curve; None where nothing was to be calibrated.
    """
    chosen = auto.best_.calibrator
    if isinstance(chosen, Identity):
        return None
    return rows.fit(TemporalCalibrator(chosen, PerStep(bins=stretches)))
