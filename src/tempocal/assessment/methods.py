"""What is compared: predictions as they came, one correction for all times, and one along time."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from tempocal.assessment.predictions import PastPredictions
from tempocal.calibrators import Identity, TemperatureScaling
from tempocal.curves import PerStep
from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.temporal import AutoTemporalCalibrator, TemporalCalibrator

METHODS = ("raw", "global", "along time")


@dataclass(frozen=True, eq=False)
class Fitted:
    """The calibrators, fitted to one part of the rows."""

    calibrate_globally: Any
    auto: Any
    do_nothing: Any

    def predict(self, rows: PastPredictions) -> dict[str, Array]:
        """Return the probabilities (n, K) of each method."""
        return {
            "raw": self.do_nothing.predict_proba(rows.scores),
            "global": self.calibrate_globally.predict_proba(rows.scores),
            "along time": self.auto.predict_proba(rows.scores, time=rows.time),
        }


def fit_methods(
    rows: PastPredictions, inputs: Inputs, classes: NDArray[Any], seed: int, progress: bool | None
) -> Fitted:
    """Fit all methods."""
    settings: dict[str, Any] = {"inputs": inputs, "classes": classes}
    given = {"groups": rows.group, "sample_weight": rows.weight}
    auto = AutoTemporalCalibrator(seed=seed, progress=progress, **settings)
    return Fitted(
        TemperatureScaling(**settings).fit(rows.scores, rows.label, **given),
        auto.fit(rows.scores, rows.label, time=rows.time, **given),
        Identity(**settings).fit(rows.scores, rows.label, **given),
    )


def fit_by_stretch(auto: Any, rows: PastPredictions, stretches: int) -> Any | None:
    """Fit the calibrator that was chosen to each stretch of these rows on its own.

    That is to be compared with its curve; None where nothing was to be calibrated.
    """
    chosen = auto.best_.calibrator
    if isinstance(chosen, Identity):
        return None
    return TemporalCalibrator(chosen, PerStep(bins=stretches)).fit(
        rows.scores, rows.label, time=rows.time, groups=rows.group, sample_weight=rows.weight
    )
