"""Past predictions in a table as the source of an assessment; fits and sums run in its engine."""

from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.discrimination import NEXT_TO_CERTAIN, Discrimination
from tempocal.assessment.examples import Example
from tempocal.assessment.facts import Facts
from tempocal.assessment.judged import as_predictor
from tempocal.assessment.methods import FittedMethods, is_along_time
from tempocal.assessment.row_source import LEVEL, SWAPPED, HeldOutRows, n_time_bins
from tempocal.assessment.split_predictions import SplitBy
from tempocal.assessment.table_discrimination import discriminate_frame
from tempocal.assessment.table_examples import pick_examples, pick_worst
from tempocal.assessment.table_split import TableSplit, split_table
from tempocal.assessment.wording import printable
from tempocal.inputs import Inputs, from_seconds
from tempocal.lazy import cached
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.scored_frame import ScoredFrame
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.table_time_bins import cut_table, cut_weighted_times, weights_by_time
from tempocal.metrics.time_bins import TimeBins
from tempocal.predictor import Predictor
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.computed_columns import add_probabilities
from tempocal.tables.group_ids import GroupIds, find_groups
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import ProgressCallback, TableWithProgress
from tempocal.tables.sequence_counts import count_sequences
from tempocal.tables.sequence_order import is_in_order
from tempocal.tables.transfer import Columns
from tempocal.temporal.horizon import Horizon

EACH_CLASS = GapMetric(None, 1, "equal_width")


@dataclass(frozen=True)
class TableTrainingRows:
    """The part of a table to fit to."""

    table: Any
    roles: ColumnRoles
    classes: NDArray[Any]
    progress: ProgressCallback
    td_horizon: Horizon
    is_ordered: bool  # whether something puts the rows of a sequence in order

    @property
    def inputs(self) -> Inputs:
        """Kind of the predictions."""
        return self.roles.inputs

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator, with times if it depends on time."""
        along_time = is_along_time(calibrator)
        named = self.roles.fit_arguments(along_time=along_time)
        if along_time and self.is_ordered:
            named |= {"sequence": self.roles.sequence, "order": self.roles.order}
        return calibrator.fit_table(self._with_progress, **named)

    def times(self) -> NDArray[Any]:
        """Return the distinct times; if more than a million, the first and the last."""
        found, is_exact = self._weights_by_time
        times = found["low"] if is_exact else np.array([found["low"][0], found["high"][-1]])
        assert self._labeled.time_kind is not None
        return from_seconds(times, self._labeled.time_kind)

    def mean_times(self, n_bins: int) -> NDArray[Any]:
        """Return the mean time of each time bin."""
        return cut_weighted_times(self._labeled, self._weights_by_time, n_bins).middle

    @property
    def _with_progress(self) -> TableWithProgress:
        return TableWithProgress(self.table, self.progress)

    @cached
    def _labeled(self) -> LabeledTable:
        return read_labeled_table(self._with_progress, self.roles, self.classes)

    @cached
    def _weights_by_time(self) -> tuple[Columns, bool]:
        return weights_by_time(self._labeled)


@dataclass(frozen=True)
class TableHeldOutRows(HeldOutRows):
    """Held-out rows, and the model of each method."""

    labeled: LabeledTable
    groups: GroupIds
    models: dict[str, Predictor]
    seed: int
    known: dict[str, ScoredFrame] = field(default_factory=dict)

    def scored(self, name: str) -> ScoredFrame:
        """Return the rows with the probabilities of a method."""
        if name not in self.known:
            frame = self._with_probabilities(self.labeled.frame, name, "p")
            self.known[name] = ScoredFrame.of(self.labeled, frame, self.groups)
        return self.known[name]

    def paired(self, before: str, after: str) -> ScoredFrame:
        """Return the rows with the probabilities of two methods."""
        frame = self._with_probabilities(self.labeled.frame, before, "p")
        if after == SWAPPED:
            frame = frame.with_columns(after0=nw.col("p1"), after1=nw.col("p0"))
        else:
            frame = self._with_probabilities(frame, after, "after")
        return ScoredFrame.of(self.labeled, frame, self.groups)

    @cached
    def time_bins(self) -> TimeBins:
        """Time bins."""
        return cut_table(self.labeled, n_time_bins(self.groups.count))

    def against_rest(self, name: str, column: int | None) -> ScoredFrame:
        """Return the rows with two classes: all others, and that of a column."""
        rows = self.scored(name)
        event = GapMetric("top_label", 1, "equal_width") if column is None else EACH_CLASS
        frame = rows.with_event(event, column or 0).frame
        proba, outcome = nw.col(f"confidence{column or 0}"), nw.col(f"outcome{column or 0}")
        kept = [one for one in frame.collect_schema() if one in ("time", "group", "weight")]
        # A nearly certain class is the top; 1 minus it has lost digits that the others have.
        others = [nw.col(f"p{k}") for k in range(rows.n_classes)]
        zero, rest = nw.lit(0.0), 1.0 - proba
        parts = [nw.when(each < proba).then(each).otherwise(zero) for each in others]
        lost = sum(parts[1:], start=parts[0])
        rest = nw.when(rest < NEXT_TO_CERTAIN).then(lost).otherwise(rest)
        two = frame.select(*kept, "time_bin", p0=rest, p1=proba, label=outcome)
        return replace(rows, frame=two, n_classes=2)

    def discriminate(self, rows: ScoredRows) -> Discrimination:
        """AUC of the second class of such rows."""
        assert isinstance(rows, ScoredFrame)
        return discriminate_frame(rows, self.time_bins, LEVEL)

    def examples(self) -> tuple[Example, ...]:
        """Pick example sequences."""
        if "sequence" not in self.labeled.frame.collect_schema():
            return ()
        return pick_examples(self.labeled, self._all_methods, self._prefixes, self.seed)

    def worst(self, subject: str) -> tuple[Example, ...]:
        """Pick the sequences that a method was most wrong about."""
        if "sequence" not in self.labeled.frame.collect_schema():
            return ()
        return pick_worst(self.labeled, self._all_methods, self._prefixes, subject)

    @property
    def _prefixes(self) -> dict[str, str]:
        return {name: f"m{k}_" for k, name in enumerate(self.models)}

    @property
    def _all_methods(self) -> Frame:
        """The rows with the probabilities of all methods."""
        frame = self.labeled.given_rows
        for name, prefix in self._prefixes.items():
            frame = self._with_probabilities(frame, name, prefix)
        return frame

    def _with_probabilities(self, frame: Frame, name: str, prefix: str) -> Frame:
        model = self.models[name]
        predictions = [f"x{k}" for k in range(self.labeled.n_columns)]
        return add_probabilities(
            frame, model, predictions, ["time"] * len(model.time_kinds), prefix
        )


@dataclass
class TableSource:
    """The labeled rows of a table and their split."""

    roles: ColumnRoles
    labeled: LabeledTable
    split: TableSplit
    n_sequences: int | None
    seed: int
    td_horizon: Horizon
    is_ordered: bool
    n_held_out_rows: int = field(default=0, init=False)
    n_held_out_groups: int = field(default=0, init=False)

    @classmethod
    def of(
        cls,
        table: Any,
        roles: ColumnRoles,
        classes: Any,
        split_by: SplitBy,
        seed: int,
        *,
        td_horizon: Horizon,
    ) -> "TableSource":
        """Check a table in a first pass, and split it."""
        labeled = read_labeled_table(table, roles, classes)
        split = split_table(roles, labeled, split_by, seed)
        if roles.sequence is None or roles.sequence == roles.groups:
            n_sequences = None if roles.sequence is None else split.n_groups
        else:
            n_sequences = count_sequences(labeled)
        # An order that was named is checked by the fits.
        is_ordered = labeled.has_sequences and (roles.order is not None or is_in_order(labeled))
        return cls(roles, labeled, split, n_sequences, seed, td_horizon, is_ordered)

    @property
    def training_rows(self) -> TableTrainingRows:
        """The part to fit to."""
        progress, native = self.labeled.passes.progress, self.split.training.to_native()
        return TableTrainingRows(
            native, self.roles, self.labeled.classes, progress, self.td_horizon, self.is_ordered
        )

    def held_out_rows(self, fitted: FittedMethods) -> TableHeldOutRows:
        """Predict the other part by each method."""
        table = TableWithProgress(self.split.held_out.to_native(), self.labeled.passes.progress)
        part = read_labeled_table(table, self.roles, self.labeled.classes)
        groups = find_groups(part)
        self.n_held_out_rows, self.n_held_out_groups = part.n_given_rows, groups.count
        models = {name: as_predictor(one, name) for name, one in fitted.by_name().items()}
        return TableHeldOutRows(part, groups, models, self.seed)

    def facts(self) -> Facts:
        """Count rows, groups and times."""
        labeled = self.labeled
        assert labeled.time_range is not None
        assert labeled.time_kind is not None
        first, last = from_seconds(np.array(labeled.time_range), labeled.time_kind)
        counted = labeled.frame.select(count=nw.col("time").n_unique())
        n_rows, n_groups = labeled.n_given_rows, self.split.n_groups
        return Facts(
            rows=n_rows,
            sequences=self.n_sequences,
            groups=n_groups,
            classes=tuple(printable(one) for one in labeled.classes),
            shares=tuple((labeled.class_counts / n_rows).tolist()),
            time_from=first,
            time_to=last,
            distinct_times=int(labeled.passes.collect(counted, "counting the times")["count"][0]),
            fitted_rows=n_rows - self.n_held_out_rows,
            fitted_groups=n_groups - self.n_held_out_groups,
            judged_rows=self.n_held_out_rows,
            judged_groups=self.n_held_out_groups,
            split=self.split.how,
        )
