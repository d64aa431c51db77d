"""What candidates do on rows that they were not fitted to."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.training import Training
from tempocal.curves import Curve
from tempocal.errors import NoFiniteOptimumError, TempocalWarning, TooManyCoefficientsError
from tempocal.inputs import Codes
from tempocal.links import Array, log_proba_from_logits
from tempocal.solve import fold_codes
from tempocal.temporal.comparison import Tried
from tempocal.temporal.error_over_time import error_over_time
from tempocal.temporal.fitting import FittedAlongTime, fit_along_time, refit_along_time
from tempocal.temporal.progress import Progress


@dataclass(frozen=True)
class Trial:
    """A candidate's fit to all rows, what it did on rows left out, and what the fit warned of."""

    fitted: FittedAlongTime | None
    tried: Tried
    warned: tuple[Any, ...] = ()


def try_all(
    candidates: Sequence[tuple[Calibrator, Curve]],
    training: Training,
    folds: int,
    seed: int,
    progress: bool | None,
) -> list[Trial]:
    """Cross-validate every candidate over the same folds."""
    assert training.times is not None
    for _, curve in candidates:
        # A setting that is wrong is the user's to know of, before anything takes time.
        curve.track(training.times, training.weights)
    count = len(training.labels) if training.groups is None else training.groups.count
    codes = fold_codes(len(training.labels), training.groups, min(folds, count), seed)
    with Progress(len(candidates), progress) as shown:
        trials = []
        for calibrator, curve in candidates:
            trials.append(_try(calibrator, curve, training, codes))
            shown.step(_name(calibrator, curve))
    return trials


def _try(calibrator: Calibrator, curve: Curve, training: Training, folds: Codes) -> Trial:
    start = time.perf_counter()
    name = _name(calibrator, curve)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TempocalWarning)
            fitted = fit_along_time(calibrator, curve, None, training)
        # What a fold's fit has to warn of is no news to the user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TempocalWarning)
            left_out = _left_out(calibrator, curve, fitted, training, folds)
    except (NoFiniteOptimumError, TooManyCoefficientsError) as failure:
        seconds = time.perf_counter() - start
        return Trial(None, Tried(name, None, np.nan, np.nan, seconds, str(failure)))
    seconds = time.perf_counter() - start
    losses = -left_out[np.arange(len(left_out)), training.labels]
    parameters = np.inf if fitted.n_determined is None else fitted.n_determined
    error = error_over_time(np.exp(left_out), training)
    tried = Tried(name, losses, error, parameters, seconds)
    return Trial(fitted, tried, tuple(one.message for one in caught))


def _left_out(
    calibrator: Calibrator,
    curve: Curve,
    fitted: FittedAlongTime,
    training: Training,
    folds: Codes,
) -> Array:
    """Log-probabilities of every row, from a fit without its fold."""
    assert training.times is not None
    log_proba = np.empty((len(training.labels), training.n_classes))
    for fold in range(int(folds.max()) + 1):
        inside = folds == fold
        if inside.all():
            # One group only: nothing is left to fit to.
            part = fitted.map
        else:
            part = refit_along_time(calibrator, curve, fitted, training, np.flatnonzero(~inside))
        calibrated = part(training.logits[inside], training.times[inside])
        log_proba[inside] = log_proba_from_logits(calibrated)
    return log_proba


def _name(calibrator: Calibrator, curve: Curve) -> str:
    kind = type(calibrator).__name__
    return kind if kind == "Identity" else f"{kind}, {_short(curve)}"


def _short(curve: Curve) -> str:
    """Name of a curve, with its settings where they are not the usual ones."""
    usual = type(curve)() if curve.n_clocks == 1 else None
    return type(curve).__name__ if curve == usual else repr(curve)
