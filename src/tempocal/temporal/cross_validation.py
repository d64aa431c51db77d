"""Cross-validation of candidate calibrators and curves."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.curves.curve import Curve
from tempocal.errors import NoFiniteOptimumError, TempocalWarning, TooManyCoefficientsError
from tempocal.inputs import Codes
from tempocal.maps import TemporalMap
from tempocal.temporal.comparison import HeldOutResult
from tempocal.temporal.fit_along_time import FittedCurves, fit_curves
from tempocal.temporal.held_out import evaluate_held_out
from tempocal.temporal.progress import Progress
from tempocal.temporal.refit import refit_along_time


@dataclass(frozen=True)
class Trial:
    """A candidate's fit to all rows, its held-out result, and the warnings of the fit."""

    fitted: FittedCurves | None
    held_out: HeldOutResult
    warnings_raised: tuple[Any, ...] = ()


def cross_validate(
    candidates: Sequence[tuple[Calibrator, Curve]],
    data: FitData,
    folds: int,
    seed: int,
    progress: bool | None,
) -> list[Trial]:
    """Cross-validate every candidate over the same folds."""
    for _, curve in candidates:
        # Fail early on wrong settings.
        data.track(curve)
    count = data.n_rows if data.groups is None else data.groups.count
    codes = data.folds(min(folds, count), seed)
    with Progress(len(candidates), progress) as bar:
        trials = []
        for calibrator, curve in candidates:
            trials.append(_evaluate(calibrator, curve, data, codes))
            bar.step(_candidate_name(calibrator, curve))
    return trials


def _evaluate(calibrator: Calibrator, curve: Curve, data: FitData, folds: Codes) -> Trial:
    start = time.perf_counter()
    name = _candidate_name(calibrator, curve)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TempocalWarning)
            fitted = fit_curves(calibrator, curve, None, data)
        # Warnings of the fits to folds are not relevant to the user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TempocalWarning)
            maps = _fit_without_each_fold(calibrator, curve, fitted, data, folds)
            losses, error = evaluate_held_out(data, folds, maps)
            parameters = np.inf if fitted.n_effective is None else fitted.n_effective
    except (NoFiniteOptimumError, TooManyCoefficientsError) as failure:
        seconds = time.perf_counter() - start
        return Trial(None, HeldOutResult(name, None, np.nan, np.nan, seconds, str(failure)))
    seconds = time.perf_counter() - start
    held_out = HeldOutResult(name, losses, error, parameters, seconds)
    return Trial(fitted, held_out, tuple(one.message for one in caught))


def _fit_without_each_fold(
    calibrator: Calibrator,
    curve: Curve,
    fitted: FittedCurves,
    data: FitData,
    folds: Codes,
) -> list[TemporalMap]:
    maps = []
    for fold in range(int(folds.max()) + 1):
        rows = np.flatnonzero(folds != fold)
        # With a single group no rows are left to fit to.
        has_rows = len(rows) > 0
        maps.append(
            refit_along_time(calibrator, curve, fitted, data, rows) if has_rows else fitted.map
        )
    return maps


def _candidate_name(calibrator: Calibrator, curve: Curve) -> str:
    kind = type(calibrator).__name__
    return kind if kind == "Identity" else f"{kind}, {_curve_name(curve)}"


def _curve_name(curve: Curve) -> str:
    """Name of a curve, with its settings if they are not the defaults."""
    default = type(curve)() if curve.n_clocks == 1 else None
    return type(curve).__name__ if curve == default else repr(curve)
