"""How far ahead a row learns from forecasts before outcomes take over.

With a horizon h, in shares of a typical sequence of R rows, what comes k rows later has the weight
``exp(-k / (h R))``: a row learns from the forecasts of the next h R rows or so. Short horizons have
the least noise. They are right where the next forecast knows all that this one knew; the longer
the horizon, the less depends on that. So few sequences take a short one, and many a longer one:
their noise is small in any case. Where the rows show that forecasts and outcomes disagree, or that
forecasts forget, only outcomes count.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

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
SHORTEST, FEW, LONGEST = 0.1, 300, 1.0
# Horizons that are tried in turn, in multiples of the usual one, and the level of the tests at
# which each is left for the next, at last for outcomes only. The longer it is, the stronger the
# evidence must be: a test rejects by chance where outcomes are an unlucky draw, so that the fit to
# them is at its worst, and a horizon in between loses little either way.
RUNGS: tuple[tuple[float, float], ...] = ((1.0, 0.05), (2.5, 0.02), (6.25, 0.005))


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
    fit_to = partial(fit_curves, calibrator, curve, shrinkage)
    if reason is not None:
        return _with_choice(fit_to(data), HorizonChoice(np.inf, reason))
    if asked is not None:
        return _Attempt.at(asked, fit_to, data).result("it was asked for")
    assert data.sequence_order is not None
    assert data.groups is not None
    usual, reason = usual_horizon(data.groups.count), _usual_reason(data.groups.count)
    for multiple, level in RUNGS if usual < np.inf else ():
        attempt = _Attempt.at(multiple * usual, fit_to, data)
        if attempt.tests.lowest >= level:
            return attempt.result(f"{reason}, and {attempt.agreement}")
        reason = attempt.objection
    choice = HorizonChoice(np.inf, reason, data.sequence_order.mean_length)
    return _with_choice(fit_to(data), choice)


def _usual_reason(n_groups: int) -> str:
    reason = f"{n_groups} independent sequences"
    if usual_horizon(n_groups) == np.inf:
        reason += " are enough for outcomes alone"
    return reason


@dataclass(frozen=True)
class _Attempt:
    """A fit at a finite horizon, and what the tests say about it."""

    horizon: float
    fitted: FittedCurves
    tests: ForecastTests

    @classmethod
    def at(cls, horizon: float, fit_to: Callable[[FitData], FittedCurves], data: FitData) -> Self:
        """Fit at this horizon and test its assumption."""
        assert data.sequence_order is not None
        decay = decay_of(horizon, data.sequence_order.mean_length)
        fitted = fit_to(data.learning_from_forecasts(decay))
        assert fitted.data.groups is not None
        return cls(horizon, fitted, check_forecasts(fitted.models, fitted.data.groups))

    @property
    def objection(self) -> str:
        """What speaks against this horizon."""
        if self.tests.memory < self.tests.against_outcomes:
            return (
                "earlier forecasts say something about the outcome that the present one does not "
                f"(p = {self.tests.memory:.2g})"
            )
        return (
            f"at a horizon of {self.horizon:.2g} outcomes contradict the forecasts in between "
            f"(p = {self.tests.against_outcomes:.2g})"
        )

    @property
    def agreement(self) -> str:
        """How little speaks against this horizon."""
        return (
            "forecasts in between say what outcomes say (p = "
            f"{self.tests.against_outcomes:.2g}) and remember (p = {self.tests.memory:.2g})"
        )

    def result(self, because: str) -> TemporalFitResult:
        """Return the fit with its bands."""
        data = self.fitted.data
        assert data.groups is not None
        assert data.sequence_order is not None
        worth = data.groups.count * self.tests.variance_ratio
        length = data.sequence_order.mean_length
        return _with_choice(self.fitted, HorizonChoice(self.horizon, because, length, worth))


def _with_choice(fitted: FittedCurves, choice: HorizonChoice) -> TemporalFitResult:
    result = fitted.with_bands()
    details = {**result.summary.details, **choice.details}
    return replace(result, summary=replace(result.summary, details=details), horizon=choice)


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
