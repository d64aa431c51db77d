"""Cross-validation of candidate calibrators and curves."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.curves.curve import Curve
from tempocal.errors import NoFiniteOptimumError, TempocalWarning, TooManyCoefficientsError
from tempocal.maps import TemporalMap
from tempocal.temporal.comparison import HeldOutResult
from tempocal.temporal.fit_along_time import FittedCurves
from tempocal.temporal.held_out import evaluate_held_out
from tempocal.temporal.held_out_folds import HeldOutFolds
from tempocal.temporal.horizon import CurvesAtHorizon, Horizon, fit_curves_at_horizon
from tempocal.temporal.progress import Progress
from tempocal.temporal.refit import refit_along_time


class Contender(NamedTuple):
    """What is compared: a calibrator along a curve, at a horizon."""

    calibrator: Calibrator
    curve: Curve
    td_horizon: Horizon = inf

    def name_among(self, candidates: Sequence["Contender"]) -> str:
        """Calibrator and curve, and the horizon if it was given.

        Outcomes only are said where other candidates choose their horizon.
        """
        kind = type(self.calibrator).__name__
        if kind == "Identity":
            return kind
        name = f"{kind}, {_curve_name(self.curve)}"
        some_choose = any(one.td_horizon == "auto" for one in candidates)
        usual = ("auto",) if some_choose else ("auto", inf)
        return name if self.td_horizon in usual else f"{name}, td_horizon={self.td_horizon:g}"


@dataclass(frozen=True)
class Trial:
    """A candidate's fit to all rows, its held-out result, and the warnings of the fit."""

    fitted: CurvesAtHorizon | None
    held_out: HeldOutResult
    warnings_raised: tuple[Any, ...] = ()


def cross_validate(
    candidates: Sequence[Contender], data: FitData, folds: HeldOutFolds, progress: bool | None
) -> list[Trial]:
    """Cross-validate every candidate over the same folds."""
    for one in candidates:
        # Fail early on wrong settings.
        data.track(one.curve)
    with Progress(len(candidates), progress) as bar:
        trials = []
        for one in candidates:
            name = one.name_among(candidates)
            trials.append(_evaluate(one, name, data, folds))
            bar.step(name)
    return trials


def _evaluate(one: Contender, name: str, data: FitData, folds: HeldOutFolds) -> Trial:
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TempocalWarning)
            at_horizon = fit_curves_at_horizon(
                one.calibrator, one.curve, None, data, one.td_horizon
            )
        fitted = at_horizon.fitted
        # Warnings of the fits to folds are not relevant to the user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TempocalWarning)
            maps = _fit_without_each_fold(fitted, data, folds)
            losses, error = evaluate_held_out(data, folds.codes, maps)
            parameters = np.inf if fitted.n_effective is None else fitted.n_effective
    except (NoFiniteOptimumError, TooManyCoefficientsError) as failure:
        seconds = time.perf_counter() - start
        return Trial(None, HeldOutResult(name, None, np.nan, np.nan, seconds, str(failure)))
    seconds = time.perf_counter() - start
    held_out = HeldOutResult(name, losses, error, parameters, seconds)
    return Trial(at_horizon, held_out, tuple(each.message for each in caught))


def _fit_without_each_fold(
    fitted: FittedCurves, data: FitData, folds: HeldOutFolds
) -> list[TemporalMap]:
    if fitted.data.decay < 1.0:
        # Rows in memory that learn from forecasts lie sequence by sequence, in the refits as well.
        if data.sequence_order is not None:
            folds = folds.take(data.sequence_order.permutation)
        data = data.learning_from_forecasts(fitted.data.decay)
    maps = []
    for fold in range(folds.count):
        rows = folds.learned(fold)
        # With a single group no rows are left to fit to.
        has_rows = len(rows) > 0
        maps.append(
            refit_along_time(fitted.calibrator, fitted.curve, fitted, data, rows)
            if has_rows
            else fitted.map
        )
    return maps


def _curve_name(curve: Curve) -> str:
    """Name of a curve, with its settings if they are not the defaults."""
    default = type(curve)() if curve.n_clocks == 1 else None
    return type(curve).__name__ if curve == default else repr(curve)
