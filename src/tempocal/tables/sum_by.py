"""Sums of formulas over the rows of a table, by key: the one thing that engines are roles for."""

from collections.abc import Sequence

import narwhals as nw

from tempocal.formula.nodes import Column, Expression
from tempocal.tables.computed_columns import with_formulas
from tempocal.tables.open_table import Frame


def sums_by(
    frame: Frame, by: Sequence[str], terms: dict[str, Expression], *, weighted: bool
) -> Frame:
    """Return the sum of each term over the rows of each key; without keys, over all rows."""
    values = {name: each * Column("weight") for name, each in terms.items()} if weighted else terms
    frame = with_formulas(frame, values)
    sums = [nw.col(name).sum() for name in terms]
    return frame.group_by(*by).agg(*sums) if by else frame.select(*sums)
