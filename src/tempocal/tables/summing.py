"""Sums of formulas over the rows of a table, by key: the one thing that engines are asked for."""

from collections.abc import Sequence

import narwhals as nw

from tempocal.formula import in_stages, interpret
from tempocal.formula.nodes import Column, Expression
from tempocal.tables.engine import NarwhalsEngine
from tempocal.tables.open import Frame


def sums_by(
    frame: Frame, by: Sequence[str], terms: dict[str, Expression], *, weighted: bool
) -> Frame:
    """Return the sum of each term over the rows of each key; without keys, over all rows."""
    values = {name: each * Column("weight") for name, each in terms.items()} if weighted else terms
    frame = with_formulas(frame, values)
    sums = [nw.col(name).sum() for name in terms]
    return frame.group_by(*by).agg(*sums) if by else frame.select(*sums)


def with_formulas(frame: Frame, formulas: dict[str, Expression]) -> Frame:
    """Add columns, working out first what several of them share."""
    engine = NarwhalsEngine()
    staged = in_stages(list(formulas.values()), "tempocal_s")
    for stage in staged.stages:
        made = {name: interpret(each, engine, {}) for name, each in stage.items()}
        frame = frame.with_columns(**made)
    outputs = zip(formulas, staged.outputs, strict=True)
    made = {name: interpret(each, engine, {}) for name, each in outputs}
    return frame.with_columns(**{name: _column(each) for name, each in made.items()})


def _column(value: nw.Expr | float) -> nw.Expr:
    """Return a column, also of what turned out to be a constant."""
    return value if isinstance(value, nw.Expr) else nw.lit(value)
