"""Rows of a table as metrics need them: class probabilities, label, weight, time and group."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from tempocal.inputs import warn_of_light_weights
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.group_ids import GroupIds, find_groups
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import Passes

# Largest number of rows of a result to collect.
MAX_SUMS = 2_000_000


@dataclass(frozen=True)
class ScoredFrame:
    """Labeled probabilities in a table.

    Attributes
    ----------
    frame : Frame
        With columns ``p0``, ``p1``, ... of the classes; ``label``, a class code; ``weight``; and
        where named, ``time`` and ``group``.
    rows : LabeledTable
        The labeled rows.
    groups : GroupIds or None
        Their groups; None if rows are taken as independent.
    """

    frame: Frame
    rows: LabeledTable
    groups: GroupIds | None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.rows.classes)

    @property
    def passes(self) -> Passes:
        """Passes over the rows so far."""
        return self.rows.passes

    def swapped(self) -> "ScoredFrame":
        """Swap the two classes."""
        return replace(self, frame=self.frame.with_columns(label=1 - nw.col("label")))


def read_scored_frame(table: Any, roles: ColumnRoles, classes: Any) -> ScoredFrame:
    """Check a table in a first pass, and count its groups."""
    rows = read_labeled_table(table, roles, classes)
    if rows.n_columns == 1:
        proba = {"p0": 1.0 - nw.col("x0"), "p1": nw.col("x0")}
    else:
        proba = {f"p{k}": nw.col(f"x{k}") for k in range(rows.n_columns)}
    groups = find_groups(rows) if rows.has_groups else None
    return make_scored_frame(rows, rows.frame.with_columns(**proba), groups)


def make_scored_frame(
    rows: LabeledTable, frame: Frame, groups: GroupIds | None, also: Sequence[str] = ()
) -> ScoredFrame:
    """Select the columns of a frame with class probabilities, and those in ``also``."""
    if rows.has_weights:
        mean = np.float64(rows.total_weight / rows.n_rows)
        warn_of_light_weights(np.broadcast_to(mean, rows.n_rows))
    names = ["label", *(f"p{k}" for k in range(len(rows.classes)))]
    names += ["time"] * (rows.time_range is not None) + ["group"] * rows.has_groups
    return ScoredFrame(frame.select(*names, *also, weight=rows.weight), rows, groups)


def indicator(condition: nw.Expr) -> nw.Expr:
    """1 where a condition holds, else 0."""
    return nw.when(condition).then(nw.lit(1.0)).otherwise(nw.lit(0.0))


def sum_of(terms: Any) -> Any:
    """Sum of expressions, in their order."""
    first, *others = terms
    for other in others:
        first = first + other
    return first
