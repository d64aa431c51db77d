"""Past predictions in a table, in two parts that stay where they are."""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from tempocal.assessment.facts import Facts
from tempocal.assessment.in_tables.halves import Halves, split_table
from tempocal.assessment.in_tables.judged import JudgedTable
from tempocal.assessment.in_tables.to_fit import TableToFit
from tempocal.assessment.methods import Fitted
from tempocal.assessment.wording import printable
from tempocal.errors import InputError
from tempocal.inputs import from_seconds
from tempocal.tables.column_roles import Asked
from tempocal.tables.group_ids import find_groups
from tempocal.tables.labelled import Labelled, read_labelled
from tempocal.tables.passes import Told


@dataclass
class RowsInTable:
    """What is known of the rows, and their two parts."""

    asked: Asked
    rows: Labelled
    halves: Halves
    n_sequences: int | None
    seed: int
    judged_rows: int = field(default=0, init=False)
    judged_groups: int = field(default=0, init=False)

    @property
    def to_fit(self) -> TableToFit:
        """The part to fit to."""
        tell, native = self.rows.passes.tell, self.halves.to_fit.to_native()
        return TableToFit(native, self.asked, self.rows.classes, tell)

    def judged(self, fitted: Fitted) -> JudgedTable:
        """Let the methods predict the other part."""
        table = Told(self.halves.to_judge.to_native(), self.rows.passes.tell)
        part = read_labelled(table, self.asked, self.rows.classes)
        groups = find_groups(part)
        self.judged_rows, self.judged_groups = int(part.counts.sum()), groups.count
        return JudgedTable.of(part, groups, fitted, self.seed)

    def facts(self) -> Facts:
        """Count rows, groups and times."""
        rows = self.rows
        assert rows.time_ends is not None
        assert rows.time_kind is not None
        first, last = from_seconds(np.array(rows.time_ends), rows.time_kind)
        counted = rows.frame.select(count=nw.col("time").n_unique())
        n_rows, n_groups = int(rows.counts.sum()), self.halves.n_groups
        return Facts(
            rows=n_rows,
            sequences=self.n_sequences,
            groups=n_groups,
            classes=tuple(printable(one) for one in rows.classes),
            shares=tuple((rows.counts / n_rows).tolist()),
            time_from=first,
            time_to=last,
            distinct_times=int(rows.passes.collect(counted, "counting the times")["count"][0]),
            fitted_rows=n_rows - self.judged_rows,
            fitted_groups=n_groups - self.judged_groups,
            judged_rows=self.judged_rows,
            judged_groups=self.judged_groups,
        )


def read_evidence(table: Any, asked: Asked, classes: Any, seed: int) -> RowsInTable:
    """Look at a table, and split it."""
    rows = read_labelled(table, asked, classes)
    halves = split_table(asked, rows, seed)
    if asked.sequence is None or asked.sequence == asked.groups:
        n_sequences = None if asked.sequence is None else halves.n_groups
    else:
        n_sequences = _count_sequences(rows)
    return RowsInTable(asked, rows, halves, n_sequences, seed)


def _count_sequences(rows: Labelled) -> int:
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
