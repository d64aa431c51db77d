"""How far ahead a row learns from forecasts before outcomes take over.

With a horizon h, in shares of a typical sequence of R rows, what comes k rows later has the weight
``exp(-k / (h R))``: a row learns from the forecasts of the next h R rows or so. Short horizons have
the least noise. They are right where the next forecast knows all that this one knew; the longer
the horizon, the less depends on that. So few sequences take a short one, and many a longer one:
their noise is small in any case. Where the rows show that forecasts and outcomes disagree, or that
forecasts forget, only outcomes count.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.parametric import ParametricCalibrator, Shrinkage
from tempocal.curves.curve import Curve
from tempocal.errors import InputError
from tempocal.temporal.fit_along_time import FittedCurves, TemporalFitResult, fit_curves
from tempocal.temporal.forecast_tests import ForecastTests, check_forecasts

Horizon = Literal["auto"] | float
# The horizon for up to so many independent sequences; from there on it grows with their root, up to
# the longest, beyond which outcomes are as good.
SHORTEST, FEW, LONGEST = 0.1, 150, 1.0
# Probabilities below which the assumption is given up: that forecasts remember, and that they say
# what outcomes say. Where the latter is rejected by chance outcomes are an unlucky draw, and the
# fit to them is the worst: so it takes more.
MEMORY_LEVEL, OUTCOME_LEVEL = 0.02, 0.01


def check_horizon(td_horizon: Any) -> float | None:
    """Return the horizon asked for; None is "auto"."""
    if isinstance(td_horizon, str) and td_horizon == "auto":
        return None
    value = td_horizon if isinstance(td_horizon, int | float | np.number) else np.nan
    if isinstance(td_horizon, bool) or not value > 0:
        raise InputError(
            'td_horizon must be "auto", a share of a typical sequence above 0, or infinity for '
            f"outcomes only, but it is {td_horizon!r}"
        )
    return float(value)


def usual_horizon(n_groups: int) -> float:
    """Horizon for so many independent sequences, where nothing speaks against it."""
    horizon = SHORTEST * max(1.0, np.sqrt(n_groups / FEW))
    return float(horizon) if horizon <= LONGEST else np.inf


def decay_of(horizon: float, mean_length: float) -> float:
    """Weight of what comes one row later."""
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
        Rows of a typical sequence; None if rows are in no sequences.
    worth : float or None
        How many sequences a fit by outcomes would need to be as certain.
    """

    horizon: float
    because: str
    mean_length: float | None = None
    worth: float | None = None

    @property
    def details(self) -> dict[str, Any]:
        """Entries of the summary."""
        details = {"td_horizon": self.horizon, "td_horizon_because": self.because}
        if self.worth is not None:
            details["worth_of_outcomes"] = f"{self.worth:.0f} sequences"
        return details


@dataclass(frozen=True)
class CurvesAtHorizon:
    """A calibrator fitted along a curve at a horizon, without its bands."""

    fitted: FittedCurves
    choice: HorizonChoice

    def with_bands(self) -> TemporalFitResult:
        """Add bands and the summary."""
        result = self.fitted.with_bands()
        details = {**result.summary.details, **self.choice.details}
        summary = replace(result.summary, details=details)
        return replace(result, summary=summary, horizon=self.choice)


def fit_at_horizon(
    calibrator: Calibrator,
    curve: Curve,
    shrinkage: Shrinkage | None,
    data: FitData,
    td_horizon: Any,
) -> TemporalFitResult:
    """Fit a calibrator along a curve at a horizon, which is chosen where it is "auto"."""
    return fit_curves_at_horizon(calibrator, curve, shrinkage, data, td_horizon).with_bands()


def fit_curves_at_horizon(
    calibrator: Calibrator,
    curve: Curve,
    shrinkage: Shrinkage | None,
    data: FitData,
    td_horizon: Any,
) -> CurvesAtHorizon:
    """Fit a calibrator along a curve at a horizon, without bands."""
    asked = check_horizon(td_horizon)
    reason = why_only_outcomes(calibrator, data, asked)
    if reason is not None:
        fitted = fit_curves(calibrator, curve, shrinkage, data)
        return CurvesAtHorizon(fitted, HorizonChoice(np.inf, reason))
    order, groups = data.sequence_order, data.groups
    assert order is not None
    assert groups is not None
    horizon, length = asked or usual_horizon(groups.count), order.mean_length
    if horizon == np.inf:
        reason = f"{groups.count} independent sequences are enough for outcomes alone"
        fitted = fit_curves(calibrator, curve, shrinkage, data)
        return CurvesAtHorizon(fitted, HorizonChoice(np.inf, reason, length))
    in_order = data.learning_from_forecasts(decay_of(horizon, length))
    fitted = fit_curves(calibrator, curve, shrinkage, in_order)
    assert fitted.data.groups is not None
    tests = check_forecasts(fitted.models, fitted.data.groups)
    if asked is None and (reason := _why_given_up(tests)):
        fitted = fit_curves(calibrator, curve, shrinkage, data)
        return CurvesAtHorizon(fitted, HorizonChoice(np.inf, reason, length))
    reason = "it was asked for" if asked else f"{groups.count} independent sequences"
    if asked is None:
        reason += (
            ", and forecasts in between say what outcomes say (p = "
            f"{tests.against_outcomes:.2g}) and remember (p = {tests.memory:.2g})"
        )
    worth = groups.count * tests.variance_ratio
    return CurvesAtHorizon(fitted, HorizonChoice(horizon, reason, length, worth))


def _why_given_up(tests: ForecastTests) -> str | None:
    """Return what speaks against learning from forecasts, if anything does."""
    if tests.memory < MEMORY_LEVEL:
        return (
            "forecasts forget: earlier ones say more about the outcome than the present one does "
            f"(p = {tests.memory:.2g}), so that only outcomes count"
        )
    if tests.against_outcomes < OUTCOME_LEVEL:
        return (
            "forecasts in between say something else than outcomes (p = "
            f"{tests.against_outcomes:.2g}), so that only outcomes count"
        )
    return None


def why_only_outcomes(calibrator: Calibrator, data: FitData, asked: float | None) -> str | None:
    """Return why only outcomes count, before any fit; None if forecasts may count too.

    A finite horizon that was asked for and cannot be had is refused.
    """
    if asked == np.inf:
        return "it was asked for"
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
                "sequence=, the id of the sequence of each row, or td_horizon=float('inf')"
            )
        return "no sequence was given, so that only outcomes count"
    if order.mixed is not None:
        if asked is not None:
            raise InputError(
                "y must be the same in all rows of a sequence to learn from the forecasts in "
                f"between, but it differs within the sequence {order.mixed}: pass "
                "td_horizon=float('inf')"
            )
        return f"labels differ within sequences (the first is {order.mixed})"
    if order.mean_length == 1.0:
        return "each sequence has one row, so that there are only outcomes"
    return None
