"""Past predictions in a table, split into rows to fit to and rows to evaluate on."""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from tempocal.assessment.facts import Facts
from tempocal.assessment.in_tables.held_out_rows import TableHeldOutRows
from tempocal.assessment.in_tables.table_split import TableSplit, split_table
from tempocal.assessment.in_tables.training_rows import TableTrainingRows
from tempocal.assessment.methods import FittedMethods
from tempocal.assessment.wording import printable
from tempocal.errors import InputError
from tempocal.inputs import from_seconds
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.group_ids import find_groups
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.tables.passes import TableWithProgress


@dataclass
class TableSource:
    """The labeled rows of a table and their split."""

    roles: ColumnRoles
    rows: LabeledTable
    split: TableSplit
    n_sequences: int | None
    seed: int
    n_held_out_rows: int = field(default=0, init=False)
    n_held_out_groups: int = field(default=0, init=False)

    @property
    def training_rows(self) -> TableTrainingRows:
        """The part to fit to."""
        progress, native = self.rows.passes.progress, self.split.training.to_native()
        return TableTrainingRows(native, self.roles, self.rows.classes, progress)

    def held_out_rows(self, fitted: FittedMethods) -> TableHeldOutRows:
        """Predict the other part by each method."""
        table = TableWithProgress(self.split.held_out.to_native(), self.rows.passes.progress)
        part = read_labeled_table(table, self.roles, self.rows.classes)
        groups = find_groups(part)
        self.n_held_out_rows, self.n_held_out_groups = int(part.class_counts.sum()), groups.count
        return TableHeldOutRows.of(part, groups, fitted, self.seed)

    def facts(self) -> Facts:
        """Count rows, groups and times."""
        rows = self.rows
        assert rows.time_range is not None
        assert rows.time_kind is not None
        first, last = from_seconds(np.array(rows.time_range), rows.time_kind)
        counted = rows.frame.select(count=nw.col("time").n_unique())
        n_rows, n_groups = int(rows.class_counts.sum()), self.split.n_groups
        return Facts(
            rows=n_rows,
            sequences=self.n_sequences,
            groups=n_groups,
            classes=tuple(printable(one) for one in rows.classes),
            shares=tuple((rows.class_counts / n_rows).tolist()),
            time_from=first,
            time_to=last,
            distinct_times=int(rows.passes.collect(counted, "counting the times")["count"][0]),
            fitted_rows=n_rows - self.n_held_out_rows,
            fitted_groups=n_groups - self.n_held_out_groups,
            judged_rows=self.n_held_out_rows,
            judged_groups=self.n_held_out_groups,
        )


def read_row_source(table: Any, roles: ColumnRoles, classes: Any, seed: int) -> TableSource:
    """Check a table in a first pass, and split it."""
    rows = read_labeled_table(table, roles, classes)
    split = split_table(roles, rows, seed)
    if roles.sequence is None or roles.sequence == roles.groups:
        n_sequences = None if roles.sequence is None else split.n_groups
    else:
        n_sequences = _count_sequences(rows)
    return TableSource(roles, rows, split, n_sequences, seed)


def _count_sequences(rows: LabeledTable) -> int:
    """Count the sequences, and refuse those with rows of several groups."""
    min_max = (nw.col("group").min().alias("min_group"), nw.col("group").max().alias("max_group"))
    is_split = (
        nw.when(nw.col("min_group") != nw.col("max_group")).then(nw.lit(1)).otherwise(nw.lit(0))
    )
    frame = rows.frame.select("sequence", "group").group_by("sequence").agg(*min_max)
    frame = frame.with_columns(is_split=is_split, n_sequences=nw.lit(1))
    sums = frame.select(nw.col("n_sequences").sum(), nw.col("is_split").sum())
    found = rows.passes.collect(sums, "counting the sequences")
    if found["is_split"][0]:
        raise InputError(
            "groups must be the same in all rows of a sequence, but differ within "
            f"{int(found['is_split'][0])} of them: a group holds whole sequences"
        )
    return int(found["n_sequences"][0])
