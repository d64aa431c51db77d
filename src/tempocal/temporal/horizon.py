"""Choice of the horizon: how far ahead a row learns from forecasts before the outcome takes over.

With a horizon h, as a share of a typical sequence of R rows, the decay per row is
``lambda = exp(-1 / (h R))``: a row learns mostly from the next h R forecasts. Short horizons have
the least variance. They have a bias where the next forecast does not know all that the present one
knew, and the longer the horizon, the smaller that bias. So few sequences get a short horizon and
many a longer one, for with many the variance is small in any case. Where tests show that the
present forecast is not all that the rows before say, or that outcomes contradict the forecasts, the
horizon is longer, and at last infinite: outcomes only.

The decay is one per row, not per unit of time. With simulated evidence at irregular times, rows
were better than elapsed time even where the evidence came with time (`validation/decay.py`): a row
is a step of the model, and each of these carries its own noise.
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
from tempocal.calibrators.summary import HORIZON_IN_ROWS, Summary
from tempocal.curves.curve import Curve
from tempocal.errors import InputError, WorseOnItsRowsWarning, warn_user
from tempocal.inputs import SequenceFacts
from tempocal.predictor.sequence_horizon import SequenceHorizon
from tempocal.temporal.fit_along_time import FittedCurves, TemporalFitResult, fit_curves
from tempocal.temporal.forecast_tests import ForecastTests, check_forecasts

Horizon = Literal["auto"] | float
# The horizon for up to FEW independent sequences. Beyond that it grows with their square root, and
# above the longest it is infinite, for outcomes are then as good.
SHORTEST, FEW, LONGEST = 0.1, 300, 1.0
# Horizons that are tried in turn, in multiples of the usual one, and the level of the tests at
# which each is left for the next, at last for outcomes only. That last step takes more evidence: a
# false alarm happens where the outcomes are an unlucky draw, so that the fit to them is at its
# worst. But not much more: a model that forgets harms at any horizon, and tests of thirty sequences
# see it with p-values of some hundredths (`validation/early.py`).
RUNGS: tuple[tuple[float, float], ...] = ((1.0, 0.1), (2.5, 0.1), (6.25, 0.05))
# Fewest groups for "auto", and least mean weight of a row: light weights count as few sequences.
FEWEST, LIGHT = 5, 0.5
# Entry of the summary that says which horizon was taken, and the reason where it was not chosen.
TAKEN, ASKED = "td_horizon", "it was asked for"
NO_SEQUENCE = "no sequence was given: with sequence= rows also learn from the forecasts in between"


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
    return SequenceHorizon(horizon, mean_length).decay


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
        How many sequences a fit to outcomes only would need for the same variance; None where the
        fit is next to the identity.
    """

    horizon: float
    because: str
    mean_length: float | None = None
    worth: str | None = None

    @property
    def sequences(self) -> SequenceHorizon | None:
        """Horizon and typical sequence; None if only outcomes count."""
        if self.horizon == np.inf or self.mean_length is None:
            return None
        return SequenceHorizon(self.horizon, self.mean_length)

    @property
    def details(self) -> dict[str, Any]:
        """Entries of the summary; none if outcomes only were asked for."""
        entries: dict[str, Any] = {}
        if self.because != ASKED:
            entries = {TAKEN: self.horizon, f"{TAKEN}_because": self.because}
        if self.sequences is not None:
            entries |= {
                TAKEN: self.horizon,
                HORIZON_IN_ROWS: self.horizon * self.sequences.mean_length,
            }
        if self.worth is not None:
            entries["worth_of_outcomes"] = self.worth
        return entries


@dataclass(frozen=True)
class CurvesAtHorizon:
    """A calibrator fitted along a curve at a horizon, without its bands."""

    fitted: FittedCurves
    choice: HorizonChoice

    def with_bands(self) -> TemporalFitResult:
        """Add bands and the summary."""
        result = self.fitted.with_bands()
        summary = replace(result.summary, details={**result.summary.details, **self.choice.details})
        if np.isfinite(self.choice.horizon):
            # The design effect is that of the estimating function: no number of rows follows.
            summary = replace(summary, effective_number=None)
            self._warn_if_harmful(summary)
        return replace(result, summary=summary, horizon=self.choice)

    def _warn_if_harmful(self, summary: Summary) -> None:
        gain, interval = summary.details["gain"], summary.details.get("gain_interval")
        # By more than half of the interval's arm, about a standard error: outcomes alone never are.
        if interval is not None and gain + 0.5 * (interval[1] - gain) < 0.0:
            warn_user(
                f"the fit at td_horizon={self.choice.horizon:.2g} is worse than doing nothing on "
                f"its own rows (NLL {summary.nll_before:.4f} before, {summary.nll_after:.4f} "
                "after): the forecasts in between contradict the outcomes. Are rows in the order "
                "in which they follow each other, or does time count down? Else pass "
                "td_horizon=float('inf')",
                WorseOnItsRowsWarning,
            )


def kept_details(summary: Summary) -> dict[str, Any]:
    """Entries on the horizon, which later rows do not change."""
    names = (TAKEN, f"{TAKEN}_because", HORIZON_IN_ROWS)
    return {name: value for name, value in summary.details.items() if name in names}


def later_rows(data: FitData, sequences: SequenceHorizon | None) -> FitData:
    """Lay the rows of a later call so that they learn with the horizon of the first."""
    if sequences is None:
        return data
    order = data.sequence_order
    if order is None:
        raise InputError(
            f"the model learned from forecasts, {sequences.td_horizon:g} sequences ahead: pass "
            "sequence=, the id of the sequence of each row, as in the first call"
        )
    _require_one_label(order, "fit a new model with td_horizon=float('inf')")
    return data.learning_from_forecasts(sequences.decay)


def _require_one_label(order: SequenceFacts, hint: str) -> None:
    if order.mixed is not None:
        raise InputError(
            "y must be the same in all rows of a sequence to learn from the forecasts in between, "
            f"but it differs within the sequence {order.mixed}: {hint}"
        )


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
    fit_to = partial(fit_curves, calibrator, curve, shrinkage)
    if reason is not None:
        return CurvesAtHorizon(fit_to(data), HorizonChoice(np.inf, reason))
    assert data.groups is not None
    assert data.sequence_facts is not None
    length = data.sequence_facts.mean_length
    if asked is not None:
        if decay_of(asked, length) < 1.0:
            return _Attempt.at(asked, fit_to, data).result(ASKED)
        reason = f"{asked:g} sequences ahead there are only outcomes"
        return CurvesAtHorizon(fit_to(data), HorizonChoice(np.inf, reason, length))
    count, usual = data.groups.count, usual_horizon(data.groups.count)
    reason = f"usual for {count} {_unit(data)}"
    if usual == np.inf:
        reason = f"{count} {_unit(data)} are enough to learn from outcomes"
    for multiple, level in RUNGS if usual < np.inf else ():
        attempt = _Attempt.at(multiple * usual, fit_to, data)
        if attempt.tests.lowest >= level:
            agrees = attempt.agreement if multiple == 1.0 else attempt.weak_agreement(level)
            return attempt.result(f"{reason}; {agrees}")
        reason = attempt.objection(level)
    return CurvesAtHorizon(fit_to(data), HorizonChoice(np.inf, reason, length))


def _unit(data: FitData) -> str:
    """Return what the groups are called."""
    assert data.groups is not None
    assert data.sequence_facts is not None
    same = data.groups.count == data.sequence_facts.n_sequences
    return "sequences" if same else "groups"


@dataclass(frozen=True)
class _Attempt:
    """A fit at a finite horizon, and what the tests say about it."""

    horizon: float
    fitted: FittedCurves
    tests: ForecastTests

    @classmethod
    def at(cls, horizon: float, fit_to: Callable[[FitData], FittedCurves], data: FitData) -> Self:
        """Fit at this horizon and test its assumption."""
        assert data.sequence_facts is not None
        decay = decay_of(horizon, data.sequence_facts.mean_length)
        fitted = fit_to(data.learning_from_forecasts(decay))
        assert fitted.data.groups is not None
        return cls(horizon, fitted, check_forecasts(fitted.models, fitted.data.groups))

    def objection(self, level: float) -> str:
        """Say what speaks against this horizon."""
        what = "outcomes seem to contradict the forecasts in between"
        if self.tests.memory < self.tests.against_outcomes:
            what = (
                "earlier forecasts seem to say something about the outcome that the present one "
                "does not"
            )
        return f"{what} (p = {self.tests.lowest:.2g}, below {level:g}, at {self.horizon:.2g})"

    def weak_agreement(self, level: float) -> str:
        """Say that no test rejects any more, where one did at shorter horizons."""
        return (
            f"at {self.horizon:.2g} no test rejects at the level {level:g} (p = "
            f"{self.tests.memory:.2g} and {self.tests.against_outcomes:.2g})"
        )

    @property
    def agreement(self) -> str:
        """How little speaks against this horizon."""
        return (
            f"no sign that the model forgets (p = {self.tests.memory:.2g}) or that outcomes "
            f"contradict it (p = {self.tests.against_outcomes:.2g})"
        )

    def result(self, because: str) -> CurvesAtHorizon:
        """Return the fit and why its horizon was taken."""
        data = self.fitted.data
        assert data.groups is not None
        assert data.sequence_facts is not None
        count, length = data.groups.count, data.sequence_facts.mean_length
        ratio, worth = self.tests.variance_ratio, None
        if ratio is not None:
            worth = f"{count * ratio:.0f} {_unit(data)}, from {count}"
        return CurvesAtHorizon(self.fitted, HorizonChoice(self.horizon, because, length, worth))


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
    order = data.sequence_facts
    if order is None:
        if asked is not None:
            raise InputError(
                f"td_horizon is {asked:g}, so that rows learn from those that follow them: pass "
                "sequence=, the id of the sequence of each row (within scikit-learn's "
                "cross-validation set sequence_column), or td_horizon=float('inf')"
            )
        return NO_SEQUENCE
    if order.mixed is not None:
        if asked is not None:
            _require_one_label(order, "pass td_horizon=float('inf')")
        return f"labels differ within sequences (the first is {order.mixed})"
    if order.mean_length == 1.0:
        return "each sequence has one row: no forecast lies between it and the outcome"
    return None if asked is not None else _why_untested(data)


def _why_untested(data: FitData) -> str | None:
    """Return why "auto" could not be tested against outcomes; None if it can."""
    if data.total_weight < LIGHT * data.n_rows:
        return "weights add up to less than half of the rows: outcomes would hardly count"
    if data.groups is not None and data.groups.count < FEWEST:
        return f"with fewer than {FEWEST} independent groups forecasts cannot be tested"
    return None
