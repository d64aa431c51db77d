"""Past predictions in a table, in two parts that stay where they are."""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from tempocal.assessment.facts import Facts
from tempocal.assessment.in_tables.judged import JudgedTable
from tempocal.assessment.in_tables.table_split import TableSplit, split_table
from tempocal.assessment.in_tables.to_fit import TableToFit
from tempocal.assessment.methods import FittedMethods
from tempocal.assessment.wording import printable
from tempocal.errors import InputError
from tempocal.inputs import from_seconds
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.group_ids import find_groups
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.tables.passes import TableWithProgress


@dataclass
class RowsInTable:
    """What is known of the rows, and their two parts."""

    roles: ColumnRoles
    rows: LabeledTable
    halves: TableSplit
    n_sequences: int | None
    seed: int
    judged_rows: int = field(default=0, init=False)
    judged_groups: int = field(default=0, init=False)

    @property
    def training_rows(self) -> TableToFit:
        """The part to fit to."""
        progress, native = self.rows.passes.progress, self.halves.to_fit.to_native()
        return TableToFit(native, self.roles, self.rows.classes, progress)

    def held_out_rows(self, fitted: FittedMethods) -> JudgedTable:
        """Let the methods predict the other part."""
        table = TableWithProgress(self.halves.to_judge.to_native(), self.rows.passes.progress)
        part = read_labeled_table(table, self.roles, self.rows.classes)
        groups = find_groups(part)
        self.judged_rows, self.judged_groups = int(part.class_counts.sum()), groups.count
        return JudgedTable.of(part, groups, fitted, self.seed)

    def facts(self) -> Facts:
        """Count rows, groups and times."""
        rows = self.rows
        assert rows.time_range is not None
        assert rows.time_kind is not None
        first, last = from_seconds(np.array(rows.time_range), rows.time_kind)
        counted = rows.frame.select(count=nw.col("time").n_unique())
        n_rows, n_groups = int(rows.class_counts.sum()), self.halves.n_groups
        return Facts(
            rows=n_rows,
            sequences=self.n_sequences,
            groups=n_groups,
            classes=tuple(printable(one) for one in rows.classes),
            shares=tuple((rows.class_counts / n_rows).tolist()),
            time_from=first,
            time_to=last,
            distinct_times=int(rows.passes.collect(counted, "counting the times")["count"][0]),
            fitted_rows=n_rows - self.judged_rows,
            fitted_groups=n_groups - self.judged_groups,
            judged_rows=self.judged_rows,
            judged_groups=self.judged_groups,
        )


def read_row_source(table: Any, roles: ColumnRoles, classes: Any, seed: int) -> RowsInTable:
    """Look at a table, and split it."""
    rows = read_labeled_table(table, roles, classes)
    halves = split_table(roles, rows, seed)
    if roles.sequence is None or roles.sequence == roles.groups:
        n_sequences = None if roles.sequence is None else halves.n_groups
    else:
        n_sequences = _count_sequences(rows)
    return RowsInTable(roles, rows, halves, n_sequences, seed)


def _count_sequences(rows: LabeledTable) -> int:
    """Count them, and refuse those whose rows are of several groups."""
    ends = (nw.col("group").min().alias("low"), nw.col("group").max().alias("high"))
    parted = nw.when(nw.col("low") != nw.col("high")).then(nw.lit(1)).otherwise(nw.lit(0))
    frame = rows.frame.select("sequence", "group").group_by("sequence").agg(*ends)
    frame = frame.with_columns(parted=parted, one=nw.lit(1))
    sums = frame.select(nw.col("one").sum(), nw.col("parted").sum())
    found = rows.passes.collect(sums, "counting the sequences")
    if found["parted"][0]:
        raise InputError(
            "groups must be the same in all rows of a sequence, but differ within "
            f"{int(found['parted'][0])} of them: a group holds whole sequences"
        )
    return int(found["one"][0])
