"""Selection of a calibrator and a curve by cross-validation over groups."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from os import PathLike
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators.base import Calibrator, require_hard_labels
from tempocal.calibrators.beta import BetaCalibration
from tempocal.calibrators.document import write_model
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.from_table import prepare_table_fit, with_table_details
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.platt import PlattScaling
from tempocal.calibrators.summary import Summary
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.calibrators.temperature import TemperatureScaling
from tempocal.calibrators.vector import VectorScaling
from tempocal.curves.constant import Constant
from tempocal.curves.curve import Curve
from tempocal.curves.exponential import ExponentialDecay
from tempocal.curves.random_walk import RandomWalk
from tempocal.curves.spline import Spline
from tempocal.errors import InputError, warn_user
from tempocal.inputs import Inputs, check_positive_int, check_seed
from tempocal.predictor.document import TimeColumn
from tempocal.tables.column_names import Names
from tempocal.temporal.auto_document import auto_to_document, restore_auto
from tempocal.temporal.base import TemporalBase
from tempocal.temporal.calibrator import TemporalCalibrator
from tempocal.temporal.comparison import Comparison, compare
from tempocal.temporal.cross_validation import cross_validate
from tempocal.temporal.fit_along_time import (
    TemporalFitResult,
    one_blas_thread,
    with_shrinkage,
)


class AutoTemporalCalibrator(TemporalBase, registered=False):
    """Compare calibrators and curves by cross-validation over groups, and choose one.

    The candidate with the lowest held-out negative log likelihood is chosen; or the simplest of
    those that are worse by at most 0.0005 and at most the standard error of the difference, paired
    by group; or `Identity`, if no candidate gains more than the standard error of its gain.

    Parameters
    ----------
    candidates : list, default=None
        Calibrators to compare: `TemporalCalibrator` ones, pairs of a calibrator and a curve, or
        calibrators alone, which do not change along time.
        None compares temperature scaling, Platt scaling (vector scaling for three and more classes)
        and beta calibration, each constant, with an exponential decay, a spline and a random walk.
        `Identity` is always among them.
    folds : int, default=5
        Number of folds. Groups are assigned to folds; each is predicted by a fit to the others.
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
        The chosen one, fitted to all rows.
    comparison_ : Comparison
        One row per candidate: its held-out results, and whether it was chosen or why not. Print it,
        or make a data frame of ``comparison_.to_dicts()``.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Notes
    -----
    Strengths are those that each candidate chose on all rows; coefficients and rates are fitted
    again for each fold. Intervals are those of the chosen candidate and ignore the selection, so
    they are somewhat too narrow.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(300)
    >>> pairs = [(tc.TemperatureScaling(), tc.Constant()), (tc.TemperatureScaling(), tc.Spline())]
    >>> auto = tc.AutoTemporalCalibrator(pairs)
    >>> auto = auto.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> auto.comparison_.chosen.name
    'TemperatureScaling, Spline'
    """

    def __init__(
        self,
        candidates: Sequence[Any] | None = None,
        *,
        folds: int = 5,
        seed: int = 0,
        progress: bool | None = None,
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
        time_column: TimeColumn | None = None,
    ) -> None:
        self.candidates = candidates
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
        """Compare the candidates on labeled predictions and fit the chosen one.

        Parameters
        ----------
        logits, y, time, sequence, order, groups, sample_weight, soft_label
            As for `TemporalCalibrator.fit`; the candidates learn from outcomes only. Without
            ``sequence`` and ``groups`` rows are taken as independent, and those of one sequence are
            spread over several folds, which invalidates the comparison.

        Returns
        -------
        self
        """
        self._check_folds()
        candidates = None if self.candidates is None else self._candidate_pairs()
        n_clocks = 1 if candidates is None else _n_clocks(candidates)
        require_hard_labels((one for one, _ in candidates or ()), soft_label=soft_label)
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
        pairs = candidates or default_candidates(checked.data.n_classes)
        with one_blas_thread():
            fitted = self._choose(pairs, checked.data)
        for each in (self.best_, self):
            each._store_fit(fitted, checked, times.kinds, logits)
        self.summary_ = self._with_choice(fitted.summary)
        return self

    def fit_table(  # type: ignore[override]
        self,
        table: Any,
        *,
        label: str,
        time: str,
        sequence: str | None = None,
        order: str | None = None,
        groups: str | None = None,
        logits: Names | None = None,
        proba: Names | None = None,
        sample_weight: str | None = None,
        exact: bool = True,
    ) -> Self:
        """Compare the candidates on labeled predictions in a table, and fit the chosen one.

        Folds are derived from the group ids, the same on every engine; up to a million groups they
        are those of `fit`. Candidates must have coefficients (no binning, no isotonic regression).

        Parameters
        ----------
        table, label, logits, proba, sample_weight, exact
            As in `Calibrator.fit_table`.
        time, sequence, order, groups : str
            As in `TemporalCalibrator.fit_table`; the candidates learn from outcomes only. Folds
            need ``sequence`` or ``groups``.

        Returns
        -------
        self
        """
        folds, seed = self._check_folds()
        candidates = None if self.candidates is None else self._candidate_pairs()
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
        )
        pairs = candidates or default_candidates(len(labeled.classes))
        # The calibration error over time needs times even if no candidate does.
        needs = TableNeeds((Spline(), *(curve for _, curve in pairs)), (folds, seed))
        data = prepare_table_fit(labeled, needs, exact=exact)
        with one_blas_thread():
            fitted = self._choose(pairs, data)
        summary = with_table_details(self._with_choice(fitted.summary), data, fitted.map, None)
        for each in (self.best_, self):
            each._store_table_fit(replace(fitted, summary=summary), labeled)
        return self

    def _check_folds(self) -> tuple[int, int]:
        folds, seed = check_positive_int(self.folds, "folds"), check_seed(self.seed)
        if folds < 2:
            raise InputError(f"folds must be at least 2, to leave something out, but it is {folds}")
        return folds, seed

    def _choose(self, pairs: list[tuple[Calibrator, Curve]], data: FitData) -> TemporalFitResult:
        """Compare the candidates and return the fit of the chosen one."""
        identity: list[tuple[Calibrator, Curve]] = [(Identity(), Constant())]
        trials = cross_validate(identity + pairs, data, *self._check_folds(), self.progress)
        self.comparison_, chosen = compare([one.held_out for one in trials], data, identity=0)
        fitted = trials[chosen].fitted
        assert fitted is not None
        for warning in trials[chosen].warnings_raised:
            warn_user(str(warning), type(warning))
        calibrator, curve = (identity + pairs)[chosen]
        self.best_ = TemporalCalibrator(
            clone(calibrator).set_params(inputs=self.inputs, classes=self.classes),
            curve,
            td_horizon=inf,
            time_column=self.time_column,
        )
        return fitted.with_bands()

    def _with_choice(self, summary: Summary) -> Summary:
        """Add the choice to the summary, and a note on selection bias."""
        choice = {
            "chosen": f"{self.comparison_.chosen.name} of {len(self.comparison_)} candidates",
            "chosen_because": self.comparison_.chosen.verdict.removeprefix("chosen: "),
            "note": "gains and bands ignore that it was chosen; comparison_ does not",
        }
        return replace(summary, details={**summary.details, **choice})

    def _why_no_partial_fit(self) -> str:
        return "a comparison needs all rows. What it chose has one: best_, after fit"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the chosen model and the comparison to a file, to be read by `tempocal.load`."""
        check_is_fitted(self, "map_")
        write_model(path, auto_to_document(self), restore_auto)

    def as_temporal(self) -> list[TemporalCalibrator]:
        """Return the given candidates, each as a `TemporalCalibrator`."""
        return [TemporalCalibrator(*pair) for pair in self._candidate_pairs()]

    def _candidate_pairs(self) -> list[tuple[Calibrator, Curve]]:
        """Return the given candidates as pairs of a calibrator and a curve."""
        assert self.candidates is not None
        pairs = [_to_pair(one, self.inputs) for one in self.candidates]
        if not pairs:
            raise InputError("candidates is empty: give some, or None for the usual ones")
        return pairs


def _to_pair(candidate: Any, inputs: Inputs) -> tuple[Calibrator, Curve]:
    if isinstance(candidate, TemporalCalibrator):
        if candidate.time_column is not None:
            raise InputError("say time_column of AutoTemporalCalibrator itself, not of a candidate")
        if candidate.td_horizon not in ("auto", inf):
            raise InputError(
                f"a candidate has td_horizon={candidate.td_horizon!r}, but candidates are compared "
                'as fits to the outcomes: leave it out, or say td_horizon=float("inf")'
            )
        calibrator, curve = candidate._calibrator_and_curve()
        calibrator = with_shrinkage(calibrator, candidate.shrinkage)
    elif isinstance(candidate, tuple) and len(candidate) == 2:
        calibrator, curve = candidate
    else:
        calibrator, curve = candidate, Constant()
    if not isinstance(calibrator, Calibrator) or not isinstance(curve, Curve):
        raise InputError(
            "candidates must be TemporalCalibrator ones, or pairs of a calibrator and a curve, but "
            f"one is {candidate!r}"
        )
    if calibrator.inputs not in ("logits", inputs):
        raise InputError(
            f"a candidate has inputs={calibrator.inputs!r}: say so of AutoTemporalCalibrator "
            "itself, once for all candidates"
        )
    if calibrator.classes is not None:
        raise InputError("say classes of AutoTemporalCalibrator itself, not of a candidate")
    return calibrator, curve


def _n_clocks(pairs: list[tuple[Calibrator, Curve]]) -> int:
    """Return the number of time columns, which must be the same for all candidates."""
    counts = {curve.n_clocks for _, curve in pairs if curve != Constant()}
    if len(counts) > 1:
        raise InputError("candidates must all go along one clock, or all along two")
    return counts.pop() if counts else 1


def default_candidates(n_classes: int) -> list[tuple[Calibrator, Curve]]:
    """Return the candidates to compare if none are given."""
    second = PlattScaling if n_classes == 2 else VectorScaling
    return [
        (kind(), curve)
        for kind in (TemperatureScaling, second, BetaCalibration)
        for curve in (Constant(), ExponentialDecay(), Spline(), RandomWalk())
    ]
