"""What candidates do on rows that they were not fitted to."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.curves import Curve
from tempocal.errors import NoFiniteOptimumError, TempocalWarning, TooManyCoefficientsError
from tempocal.inputs import Codes
from tempocal.maps import TemporalMap
from tempocal.temporal.comparison import HeldOutResult
from tempocal.temporal.fit_along_time import TemporalFitResult, fit_along_time, refit_along_time
from tempocal.temporal.held_out import evaluate_held_out
from tempocal.temporal.progress import Progress


@dataclass(frozen=True)
class Trial:
    """A candidate's fit to all rows, what it did on rows left out, and what the fit warned of."""

    fitted: TemporalFitResult | None
    tried: HeldOutResult
    warned: tuple[Any, ...] = ()


def cross_validate(
    candidates: Sequence[tuple[Calibrator, Curve]],
    data: FitData,
    folds: int,
    seed: int,
    progress: bool | None,
) -> list[Trial]:
    """Cross-validate every candidate over the same folds."""
    for _, curve in candidates:
        # A setting that is wrong is the user's to know of, before anything takes time.
        data.track(curve)
    count = data.n_rows if data.groups is None else data.groups.count
    codes = data.folds(min(folds, count), seed)
    with Progress(len(candidates), progress) as shown:
        trials = []
        for calibrator, curve in candidates:
            trials.append(_try(calibrator, curve, data, codes))
            shown.step(_name(calibrator, curve))
    return trials


def _try(calibrator: Calibrator, curve: Curve, data: FitData, folds: Codes) -> Trial:
    start = time.perf_counter()
    name = _name(calibrator, curve)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TempocalWarning)
            fitted = fit_along_time(calibrator, curve, None, data)
        # What a fold's fit has to warn of is no news to the user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TempocalWarning)
            maps = _without_each(calibrator, curve, fitted, data, folds)
            losses, error = evaluate_held_out(data, folds, maps)
    except (NoFiniteOptimumError, TooManyCoefficientsError) as failure:
        seconds = time.perf_counter() - start
        return Trial(None, HeldOutResult(name, None, np.nan, np.nan, seconds, str(failure)))
    seconds = time.perf_counter() - start
    parameters = np.inf if fitted.n_effective is None else fitted.n_effective
    tried = HeldOutResult(name, losses, error, parameters, seconds)
    return Trial(fitted, tried, tuple(one.message for one in caught))


def _without_each(
    calibrator: Calibrator,
    curve: Curve,
    fitted: TemporalFitResult,
    data: FitData,
    folds: Codes,
) -> list[TemporalMap]:
    """Fit without each of the folds."""
    maps = []
    for fold in range(int(folds.max()) + 1):
        rows = np.flatnonzero(folds != fold)
        # Of one group only, nothing is left to fit to.
        left = len(rows) > 0
        maps.append(refit_along_time(calibrator, curve, fitted, data, rows) if left else fitted.map)
    return maps


def _name(calibrator: Calibrator, curve: Curve) -> str:
    kind = type(calibrator).__name__
    return kind if kind == "Identity" else f"{kind}, {_short(curve)}"


def _short(curve: Curve) -> str:
    """Name of a curve, with its settings where they are not the usual ones."""
    usual = type(curve)() if curve.n_clocks == 1 else None
    return type(curve).__name__ if curve == usual else repr(curve)
