"""Choice of the horizon: how far ahead a row learns from forecasts before the outcome takes over.

With a horizon h, as a share of a typical sequence of R rows, the decay per row is
``lambda = exp(-1 / (h R))``: a row learns mostly from the next h R forecasts. Short horizons have
the least variance. They have a bias where the next forecast does not know all that the present one
knew, and the longer the horizon, the smaller that bias. So few sequences get a short horizon and
many a longer one, for with many the variance is small in any case. Where tests show that a model
forgets, or that outcomes contradict the forecasts, the horizon is infinite: outcomes only.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.parametric import ParametricCalibrator, Shrinkage
from tempocal.calibrators.summary import HORIZON_IN_ROWS
from tempocal.curves.curve import Curve
from tempocal.errors import InputError
from tempocal.temporal.fit_along_time import FittedCurves, TemporalFitResult, fit_curves
from tempocal.temporal.forecast_tests import ForecastTests, check_forecasts

Horizon = Literal["auto"] | float
# The horizon for up to FEW independent sequences. Beyond that it grows with their square root, and
# above the longest it is infinite, for outcomes are then as good.
SHORTEST, FEW, LONGEST = 0.1, 150, 1.0
# Said where the horizon was not chosen.
ASKED = "it was asked for"
# Levels of the two tests. A false alarm of the second happens where the outcomes are an unlucky
# draw, so that the fit to them is at its worst: hence the stricter level.
MEMORY_LEVEL, OUTCOME_LEVEL = 0.02, 0.01


def check_horizon(td_horizon: Any) -> float | None:
    """Return the horizon asked for; None is "auto"."""
    if isinstance(td_horizon, str) and td_horizon == "auto":
        return None
    value = td_horizon if isinstance(td_horizon, int | float | np.number) else np.nan
    if isinstance(td_horizon, bool) or not value > 0:
        raise InputError(
            'td_horizon must be "auto", a share of a typical sequence above 0 such as 0.1, or '
            f"float('inf') for outcomes only, but it is {td_horizon!r}"
        )
    return float(value)


def usual_horizon(n_groups: int) -> float:
    """Horizon for so many independent groups, if no test rejects."""
    horizon = SHORTEST * max(1.0, np.sqrt(n_groups / FEW))
    return float(horizon) if horizon <= LONGEST else np.inf


def decay_of(horizon: float, mean_length: float) -> float:
    """Decay per row, lambda."""
    return float(np.exp(-1.0 / (horizon * mean_length)))


@dataclass(frozen=True)
class HorizonChoice:
    """The horizon of a fit, and why.

    Attributes
    ----------
    horizon : float
        Share of a typical sequence; infinity if only outcomes count.
    because : str
        Why it was taken.
    mean_length : float or None
        Mean number of rows of a sequence; None without sequences.
    worth : str or None
        How many sequences a fit to outcomes only would need for the same variance.
    """

    horizon: float
    because: str
    mean_length: float | None = None
    worth: str | None = None

    @property
    def details(self) -> dict[str, Any]:
        """Entries of the summary; none if outcomes only were asked for."""
        entries: dict[str, Any] = {}
        if self.because != ASKED:
            entries = {"td_horizon": self.horizon, "td_horizon_because": self.because}
        if self.worth is not None:
            assert self.mean_length is not None
            entries |= {"td_horizon": self.horizon, "worth_of_outcomes": self.worth}
            entries[HORIZON_IN_ROWS] = self.horizon * self.mean_length
        return entries


def fit_at_horizon(
    calibrator: Calibrator,
    curve: Curve,
    shrinkage: Shrinkage | None,
    data: FitData,
    td_horizon: Any,
) -> TemporalFitResult:
    """Fit a calibrator along a curve at a horizon, which is chosen where it is "auto"."""
    asked = check_horizon(td_horizon)
    reason = why_only_outcomes(calibrator, data, asked)
    if reason is not None:
        fitted = fit_curves(calibrator, curve, shrinkage, data)
        return _with_choice(fitted, HorizonChoice(np.inf, reason))
    order, groups = data.sequence_order, data.groups
    assert order is not None
    assert groups is not None
    unit = "sequences" if groups.count == order.sequences.count else "groups"
    horizon, length = asked or usual_horizon(groups.count), order.mean_length
    if horizon == np.inf:
        reason = f"{groups.count} {unit} are enough to learn from outcomes"
        fitted = fit_curves(calibrator, curve, shrinkage, data)
        return _with_choice(fitted, HorizonChoice(np.inf, reason, length))
    in_order = data.learning_from_forecasts(decay_of(horizon, length))
    fitted = fit_curves(calibrator, curve, shrinkage, in_order)
    assert fitted.data.groups is not None
    tests = check_forecasts(fitted.models, fitted.data.groups)
    if asked is None and (reason := _why_given_up(tests)):
        fitted = fit_curves(calibrator, curve, shrinkage, data)
        return _with_choice(fitted, HorizonChoice(np.inf, reason, length))
    reason = ASKED
    if asked is None:
        reason = (
            f"usual for {groups.count} {unit}; no sign that the model forgets (p = "
            f"{tests.memory:.2g}) or that outcomes contradict it (p = {tests.against_outcomes:.2g})"
        )
    worth = f"{groups.count * tests.variance_ratio:.0f} {unit}, from {groups.count}"
    return _with_choice(fitted, HorizonChoice(horizon, reason, length, worth))


def _with_choice(fitted: FittedCurves, choice: HorizonChoice) -> TemporalFitResult:
    result = fitted.with_bands()
    summary = replace(result.summary, details={**result.summary.details, **choice.details})
    if np.isfinite(choice.horizon):
        # The design effect is that of the estimating function: no number of rows follows from it.
        summary = replace(summary, effective_number=None)
    return replace(result, summary=summary, horizon=choice)


def _why_given_up(tests: ForecastTests) -> str | None:
    """Return why outcomes only, if a test rejects."""
    if tests.memory < MEMORY_LEVEL:
        return (
            "the model seems to forget: earlier forecasts say something about the outcome that the "
            f"present one does not (p = {tests.memory:.2g})"
        )
    if tests.against_outcomes < OUTCOME_LEVEL:
        return (
            "outcomes seem to contradict the forecasts in between (p = "
            f"{tests.against_outcomes:.2g})"
        )
    return None


def why_only_outcomes(calibrator: Calibrator, data: FitData, asked: float | None) -> str | None:
    """Return why only outcomes count, before any fit; None if forecasts may count too.

    A finite horizon that was asked for and cannot be had is refused.
    """
    if asked == np.inf:
        return ASKED
    if not isinstance(calibrator, ParametricCalibrator):
        name = type(calibrator).__name__
        if asked is not None and not isinstance(calibrator, Identity):
            raise InputError(
                f"td_horizon is {asked:g}, but {name} has no coefficients that could learn from "
                "forecasts: pass td_horizon=float('inf')"
            )
        return f"{name} learns from outcomes only"
    order = data.sequence_order
    if order is None:
        if asked is not None:
            raise InputError(
                f"td_horizon is {asked:g}, so that rows learn from those that follow them: pass "
                "sequence=, the id of the sequence of each row (within scikit-learn's "
                "cross-validation set sequence_column), or td_horizon=float('inf')"
            )
        return "no sequence was given: with sequence= rows also learn from the forecasts in between"
    if order.mixed is not None:
        if asked is not None:
            raise InputError(
                "y must be the same in all rows of a sequence to learn from the forecasts in "
                f"between, but it differs within the sequence {order.mixed}: pass "
                "td_horizon=float('inf')"
            )
        return f"labels differ within sequences (the first is {order.mixed})"
    if order.mean_length == 1.0:
        return "each sequence has one row: no forecast lies between it and the outcome"
    return None
