"""Averages of calibrators and curves, or the choice of one, by cross-validation over groups."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from os import PathLike
from typing import Any, Literal, Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators.base import require_hard_labels
from tempocal.calibrators.document import write_model
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.from_table import prepare_table_fit, with_table_details
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.summary import Summary
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.curves.constant import Constant
from tempocal.curves.spline import Spline
from tempocal.errors import InputError, warn_user
from tempocal.inputs import Inputs, check_seed
from tempocal.predictor.document import TimeColumn
from tempocal.tables.column_names import Names
from tempocal.temporal.auto_document import auto_to_document, restore_auto
from tempocal.temporal.averaging import average, compare_weights, prior_of, weigh
from tempocal.temporal.base import TemporalBase
from tempocal.temporal.calibrator import TemporalCalibrator
from tempocal.temporal.candidates import (
    by_outcomes,
    count_clocks,
    default_candidates,
    read_candidates,
)
from tempocal.temporal.comparison import Comparison, compare
from tempocal.temporal.cross_validation import Contender, Trial, cross_validate
from tempocal.temporal.fit_along_time import TemporalFitResult, one_blas_thread
from tempocal.temporal.held_out_folds import Folds, HeldOutFolds, check_folds, held_out_folds

Combine = Literal["average", "choose"]
# With fewer groups than this, the summary says what to expect.
FEW_GROUPS = 100


class AutoTemporalCalibrator(TemporalBase, registered=False):
    """Average calibrators and curves by their held-out losses, or choose one of them.

    With ``combine="average"`` log-probabilities are averaged. The weight of a candidate is
    proportional to ``prior * exp(-loss / (d * (1 + 60 / n_groups)))``, with its summed negative log
    likelihood on held-out groups and one design effect d for all. Half of the prior is on
    `Identity`, the rest is shared in inverse proportion to the coefficients of a calibrator.
    Weights below 0.01 become 0.

    With ``combine="choose"`` the candidate with the lowest held-out loss is chosen; or the simplest
    of those that are worse by at most 0.0005 and at most the standard error of the difference,
    paired by group; or `Identity`, if no candidate gains more than the standard error of its gain.

    Parameters
    ----------
    candidates : list, default=None
        Calibrators to compare: `TemporalCalibrator` ones, pairs of a calibrator and a curve, or
        calibrators alone, which do not change along time.
        None compares temperature scaling, Platt scaling and beta calibration, each constant, with
        an exponential decay, a spline and a random walk; for several classes temperature scaling,
        vector scaling without the random walk, and Dirichlet calibration (along time only for
        three classes).
        `Identity` is always among them.
    combine : {"average", "choose"}, default="average"
        Whether candidates are averaged, or one is chosen. Candidates that can give a probability
        of 0 (binning, isotonic regression) are not averaged.
    folds : int or "time", default=5
        Number of folds. Groups are assigned to folds; each is predicted by a fit to the others.
        With "time" the later half of the groups is left out in five blocks, each predicted by a fit
        to all before it. Groups are in the order of their first rows, which must be given from the
        oldest to the latest; or of their first times, if ``time`` holds datetimes.
    seed : int, default=0
        Seed of the fold assignment. The same seed gives the same result.
    progress : bool, default=None
        Whether to show the progress of a long fit; None shows it on a terminal.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.
    time_column : int, str or pair of them, default=None
        Column of X that holds the time; None if time is passed as a keyword.

    Attributes
    ----------
    best_ : TemporalCalibrator
        The chosen candidate, or the one with the largest weight, fitted to all rows.
    comparison_ : Comparison
        One row per candidate: its held-out results, its weight, and whether it was chosen or
        averaged or why not. Print it, or make a data frame of ``comparison_.to_dicts()``.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Notes
    -----
    Strengths are those that each candidate chose on all rows; coefficients and rates are fitted
    again for each fold.

    An average has a slope and a bias if all that is averaged is linear in the logits (temperature,
    Platt, vector and matrix scaling). Its bands then add to the variance of each candidate how far
    the candidates differ. Else `parameters_at` and `interval_at` raise an error: ask ``best_``. The
    intervals of a chosen candidate ignore the choice, so they are somewhat too narrow.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(300)
    >>> pairs = [(tc.TemperatureScaling(), tc.Constant()), (tc.TemperatureScaling(), tc.Spline())]
    >>> auto = tc.AutoTemporalCalibrator(pairs)
    >>> auto = auto.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> for candidate in auto.comparison_:
    ...     print(candidate.name, round(candidate.weight, 2))
    TemperatureScaling, Spline 1.0
    TemperatureScaling, Constant 0.0
    Identity 0.0
    """

    def __init__(
        self,
        candidates: Sequence[Any] | None = None,
        *,
        combine: Combine = "average",
        folds: Folds = 5,
        seed: int = 0,
        progress: bool | None = None,
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
        time_column: TimeColumn | None = None,
    ) -> None:
        self.candidates = candidates
        self.combine = combine
        self.folds = folds
        self.seed = seed
        self.progress = progress
        self.inputs = inputs
        self.classes = classes
        self.time_column = time_column

    best_: TemporalCalibrator
    comparison_: Comparison

    def fit(  # type: ignore[override]
        self,
        logits: Any,
        y: Any,
        *,
        time: Any = None,
        sequence: Any = None,
        order: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        soft_label: bool = False,
    ) -> Self:
        """Compare the candidates on labeled predictions, and average them or choose one.

        Parameters
        ----------
        logits, y, time, sequence, order, groups, sample_weight, soft_label
            As for `TemporalCalibrator.fit`. With ``sequence`` averaged candidates learn from the
            forecasts in between, too, each at its ``td_horizon`` (by default "auto"), and so do the
            fits without a fold; one that is chosen learns from outcomes only. Held-out rows are
            always judged by their outcomes. Without ``sequence`` and ``groups`` rows are taken as
            independent, and those of one sequence are spread over several folds, which invalidates
            the comparison.

        Returns
        -------
        self
        """
        combine, folds, seed = self._check_settings()
        given = None if self.candidates is None else self._contenders(combine)
        n_clocks = 1 if given is None else count_clocks(given)
        require_hard_labels((one.calibrator for one in given or ()), soft_label=soft_label)
        checked, times = self._check_fit_input(
            logits,
            y,
            n_clocks=n_clocks,
            inputs=self.inputs,
            classes=self.classes,
            time=time,
            sequence=sequence,
            order=order,
            groups=groups,
            sample_weight=sample_weight,
            soft_label=soft_label,
        )
        data = checked.data
        contenders = given or self._usual(data.n_classes, combine)
        moments = data.times if times.kinds == ("datetime",) else None
        with one_blas_thread():
            held_out = held_out_folds(data, folds, seed, moments)
            fitted, leader = self._fit_contenders(contenders, data, held_out)
        self.best_._store_fit(leader, checked, times.kinds, logits)
        self._store_fit(fitted, checked, times.kinds, logits)
        self.summary_ = self._with_comparison(fitted.summary)
        return self

    def fit_table(  # type: ignore[override]
        self,
        table: Any,
        *,
        label: Names,
        time: str,
        sequence: str | None = None,
        order: str | None = None,
        groups: str | None = None,
        logits: Names | None = None,
        proba: Names | None = None,
        sample_weight: str | None = None,
        exact: bool = True,
        soft_label: bool = False,
    ) -> Self:
        """Compare the candidates on labeled predictions in a table, and average or choose.

        Folds are derived from the group ids, the same on every engine; up to a million groups they
        are those of `fit`. Candidates must have coefficients (no binning, no isotonic regression).

        Parameters
        ----------
        table, label, logits, proba, sample_weight, exact, soft_label
            As in `Calibrator.fit_table`.
        time, sequence, order, groups : str
            As in `TemporalCalibrator.fit_table`; candidates learn from outcomes or forecasts as in
            `fit`. Folds need ``sequence`` or ``groups``.

        Returns
        -------
        self
        """
        combine, folds, seed = self._check_settings()
        if folds == "time":
            raise InputError(
                'folds="time" needs the order of the rows, which a table has not: say a number'
            )
        given = None if self.candidates is None else self._contenders(combine)
        require_hard_labels((one.calibrator for one in given or ()), soft_label=soft_label)
        labeled = self._read_table(
            table,
            self.classes,
            logits=logits,
            proba=proba,
            label=label,
            time=time,
            sequence=sequence,
            order=order,
            groups=groups,
            sample_weight=sample_weight,
            soft_label=soft_label,
        )
        contenders = given or self._usual(len(labeled.classes), combine)
        # The calibration error over time needs times even if no candidate does.
        needs = TableNeeds((Spline(), *(one.curve for one in contenders)), (folds, seed))
        data = prepare_table_fit(labeled, needs, exact=exact)
        with one_blas_thread():
            held_out = held_out_folds(data, folds, seed)
            fitted, leader = self._fit_contenders(contenders, data, held_out)
        for each, found in ((self.best_, leader), (self, fitted)):
            summary = self._with_comparison(found.summary)
            summary = with_table_details(summary, data, found.map, None)
            each._store_table_fit(replace(found, summary=summary), labeled)
        return self

    def _check_settings(self) -> tuple[Combine, Folds, int]:
        if self.combine not in ("average", "choose"):
            raise InputError(f'combine must be "average" or "choose", but it is {self.combine!r}')
        return self.combine, check_folds(self.folds), check_seed(self.seed)

    def _fit_contenders(
        self, contenders: list[Contender], data: FitData, folds: HeldOutFolds
    ) -> tuple[TemporalFitResult, TemporalFitResult]:
        """Compare the candidates; return what they are combined to, and the leading one."""
        contenders = [Contender(Identity(), Constant()), *contenders]
        trials = cross_validate(contenders, data, folds, self.progress)
        combine = self._choose if self.combine == "choose" else self._average
        leading, fitted, leader = combine(trials, data)
        for warning in trials[leading].warnings_raised:
            warn_user(str(warning), type(warning))
        one = contenders[leading]
        self.best_ = TemporalCalibrator(
            clone(one.calibrator).set_params(inputs=self.inputs, classes=self.classes),
            one.curve,
            td_horizon=one.td_horizon,
            time_column=self.time_column,
        )
        return fitted, leader

    def _choose(
        self, trials: list[Trial], data: FitData
    ) -> tuple[int, TemporalFitResult, TemporalFitResult]:
        self.comparison_, chosen = compare([one.held_out for one in trials], data, identity=0)
        fitted = trials[chosen].fitted
        assert fitted is not None
        result = fitted.fitted.with_bands()
        return chosen, result, result

    def _average(
        self, trials: list[Trial], data: FitData
    ) -> tuple[int, TemporalFitResult, TemporalFitResult]:
        results = [one.held_out for one in trials]
        prior = prior_of(trials, identity=0)
        n_groups = data.total_weight if data.groups is None else data.groups.count
        weights, effect = weigh(results, prior, n_groups, identity=0)
        self.comparison_ = compare_weights(results, weights, prior, data)
        return average(trials, weights, effect, data, identity=0)

    def _with_comparison(self, summary: Summary) -> Summary:
        """Add to the summary what was combined, and what to expect of it."""
        comparison = self.comparison_
        if comparison.is_choice:
            details = {
                "chosen": f"{comparison.chosen.name} of {len(comparison)} candidates",
                "chosen_because": comparison.chosen.verdict.removeprefix("chosen: "),
                "note": "gains and bands ignore that it was chosen; comparison_ does not",
            }
        else:
            kept = comparison.kept
            details = {
                "averaged": f"{len(kept)} of {len(comparison)} candidates",
                "weights": "; ".join(f"{one.weight:.2f} {one.name}" for one in kept),
            }
        count = summary.n_rows if summary.n_groups is None else summary.n_groups
        if count < FEW_GROUPS:
            note = _EXPECTATION if not comparison.is_choice else _CHANCE
            details["note"] = f"{note}; {details['note']}" if "note" in details else note
        return replace(summary, details={**summary.details, **details})

    def _why_no_partial_fit(self) -> str:
        return (
            "a comparison needs all rows. A TemporalCalibrator has one: best_, unless that is the "
            "identity, or another candidate"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model and the comparison to a file, to be read by `tempocal.load`."""
        check_is_fitted(self, "map_")
        write_model(path, auto_to_document(self), restore_auto)

    def as_temporal(self) -> list[TemporalCalibrator]:
        """Return the given candidates, each as a `TemporalCalibrator`."""
        return [
            TemporalCalibrator(one.calibrator, one.curve, td_horizon=one.td_horizon)
            for one in self._contenders(self.combine)
        ]

    def _contenders(self, combine: Combine) -> list[Contender]:
        """Return the given candidates."""
        assert self.candidates is not None
        found = read_candidates(self.candidates, self.inputs)
        return by_outcomes(found) if combine == "choose" else found

    def _usual(self, n_classes: int, combine: Combine) -> list[Contender]:
        horizon: Any = inf if combine == "choose" else "auto"
        return [Contender(*pair, horizon) for pair in default_candidates(n_classes)]


_CHANCE = (
    "with fewer than 100 groups, or rows without groups, which candidate is best is mostly chance: "
    "expect no gain on new rows that one candidate by itself would not have, or combine them"
)
_EXPECTATION = (
    "with fewer than 100 groups the raw predictions keep a weight unless they are far off: expect "
    "about half of the possible gain, or one to two thousandths of NLL lost if there is none"
)
