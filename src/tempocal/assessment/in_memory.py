"""Rows in memory as the source of an assessment; see `row_source`."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.discrimination import (
    NEXT_TO_CERTAIN,
    Discrimination,
    discriminate_arrays,
)
from tempocal.assessment.examples import Example, pick_examples, pick_worst
from tempocal.assessment.facts import Facts, read_facts
from tempocal.assessment.methods import FittedMethods, is_along_time
from tempocal.assessment.row_source import LEVEL, SWAPPED, HeldOutRows, n_time_bins
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.inputs import Codes, Inputs, check_time
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.metrics.predictions import (
    CheckedPredictions,
    check_groups_of,
    check_predictions,
    check_time_of,
)
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.time_bins import TimeBins, count_given, cut_times
from tempocal.temporal.horizon import Horizon


@dataclass(frozen=True, eq=False)
class InMemoryTrainingRows:
    """Rows that calibrators are fitted to."""

    rows: PastPredictions
    inputs: Inputs
    classes: NDArray[Any]
    td_horizon: Horizon

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator; times and sequences are passed to temporal ones only."""
        rows = self.rows
        given: dict[str, Any] = {"groups": rows.group, "sample_weight": rows.weight}
        if rows.soft_label:
            given["soft_label"] = True
        if is_along_time(calibrator):
            given["time"] = rows.time
            if rows.order is not None:
                given |= {"sequence": rows.sequence, "order": rows.order}
        return calibrator.fit(rows.predictions, rows.label, **given)

    def times(self) -> NDArray[Any]:
        """Return the distinct times."""
        return np.unique(self.rows.time)

    def mean_times(self, n_bins: int) -> NDArray[Any]:
        """Return the mean time of each time bin."""
        times = check_time(self.rows.time, len(self.rows))
        return cut_times(times, self.rows.weight, n_bins).middle


@dataclass(frozen=True, eq=False)
class InMemoryHeldOutRows(HeldOutRows):
    """Held-out rows with the probabilities of each method."""

    rows: PastPredictions
    proba: dict[str, Array]  # (n, K)
    classes: NDArray[Any]
    seed: int

    def scored(self, name: str) -> ScoredArrays:
        """Return the rows with the probabilities of a method."""
        checked = self._checked(name)
        return ScoredArrays.of(checked, check_groups_of(checked, self.rows.group))

    def paired(self, before: str, after: str) -> ScoredArrays:
        """Return the rows with the probabilities of two methods."""
        found = self._checked("raw" if after == SWAPPED else after)
        if after == SWAPPED:
            found = replace(found, proba=found.proba[:, ::-1])
        return self.scored(before).with_proba("after", found)

    @cached
    def time_bins(self) -> TimeBins:
        """Time bins."""
        rows = self._checked("raw")
        groups = check_groups_of(rows, self.rows.group)
        bins = n_time_bins(len(self.rows) if groups is None else groups.count)
        times = check_time_of(rows, self.rows.time)
        return count_given(cut_times(times, rows.weight, bins), rows.row)

    def against_rest(self, name: str, column: int | None) -> ScoredArrays:
        """Return the rows with two classes: all others, and that of a column."""
        rows = self._checked(name)
        if column is None:
            top = rows.proba.argmax(axis=1)
            proba, is_event = rows.proba[np.arange(len(top)), top], top == rows.codes
        else:
            top = np.full(len(rows.codes), column)
            proba, is_event = rows.proba[:, column], rows.codes == column
        two = np.stack([_rest(rows.proba, proba, top), proba], axis=1)
        binary = replace(rows, proba=two, codes=is_event.astype(np.intp), classes=np.arange(2))
        return ScoredArrays.of(binary, check_groups_of(rows, self.rows.group))

    def discriminate(self, rows: ScoredRows) -> Discrimination:
        """AUC of the second class of such rows."""
        assert isinstance(rows, ScoredArrays)
        return discriminate_arrays(rows, self.time_bins, LEVEL)

    def examples(self) -> tuple[Example, ...]:
        """Pick some sequences to show."""
        return pick_examples(self.rows, self.proba, self.classes, self.seed)

    def worst(self, subject: str) -> tuple[Example, ...]:
        """Pick the sequences that a method was most wrong about."""
        return pick_worst(self.rows, self.proba, self.classes, subject)

    def _checked(self, name: str) -> CheckedPredictions:
        rows = self.rows
        checked = check_predictions(
            rows.label,
            self.proba[name],
            rows.weight,
            self.classes,
            soft_label=rows.soft_label,
        )
        return checked.split()


def _rest(each: Array, proba: Array, column: Codes) -> Array:
    """Probability of all other classes; of a nearly certain one, not the digits that 1 has lost."""
    rest = 1.0 - proba
    lost = rest < NEXT_TO_CERTAIN
    others = each[lost]
    others[np.arange(len(others)), column[lost]] = 0.0
    rest[lost] = others.sum(axis=1)
    return rest


@dataclass(frozen=True, eq=False)
class InMemorySource:
    """Labeled predictions, split into training rows and held-out rows."""

    all_rows: PastPredictions
    training_rows: InMemoryTrainingRows
    held_out: PastPredictions
    how: str  # they were split
    seed: int

    def held_out_rows(self, fitted: FittedMethods) -> InMemoryHeldOutRows:
        """Predict the held-out rows with each method."""
        proba = fitted.predict(self.held_out)
        return InMemoryHeldOutRows(self.held_out, proba, self.training_rows.classes, self.seed)

    def facts(self) -> Facts:
        """Count rows, groups and times."""
        training = self.training_rows
        found = read_facts(self.all_rows, training.rows, self.held_out, training.classes)
        return replace(found, split=self.how)
