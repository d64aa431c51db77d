"""Fitted models as SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent

from tempocal.errors import InputError
from tempocal.formula import Expression
from tempocal.lazy import cached
from tempocal.predictor import Predictor
from tempocal.predictor.formula import formula_of
from tempocal.tables.column_names import Names, added_columns, input_columns
from tempocal.tables.select_statement import (
    check_dialect,
    check_identifier,
    expression_text,
    require_different,
    staged_statement,
    statement,
)


@dataclass(frozen=True)
class SqlExpressions:
    """Calibrated probabilities as SQL.

    ``str`` of it can follow SELECT: the bare expression for two classes, a list of named
    expressions for more.

    Attributes
    ----------
    dialect : str
        Dialect of sqlglot.
    formulas : mapping
        The formula of each column.
    """

    dialect: str
    formulas: Mapping[str, Expression]

    @cached
    def columns(self) -> dict[str, str]:
        """Name and expression of each column.

        Each expression is self-contained and repeats its common subexpressions. With three classes
        or more ``select(table, keep=...)`` is shorter and faster.
        """
        return {name: expression_text(each, self.dialect) for name, each in self.formulas.items()}

    def select(self, table: str | Sequence[str], keep: Sequence[str] | None = None) -> str:
        """Return a SELECT statement.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table; or names, such as schema and table.
        keep : sequence of str, default=None
            Columns of the table to keep beside the probabilities. The statement then evaluates
            common subexpressions once, in nested queries. None keeps all, in one plain query.
        """
        path = [table] if isinstance(table, str) else list(table)
        for name in [*path, *(keep or ())]:
            check_identifier(name, self.dialect)
        if keep is None:
            return statement(self.formulas, self.dialect, path)
        require_different((*keep, *self.formulas), self.dialect)
        existing = [name for name in keep if name in self.formulas]
        if existing:
            raise InputError(
                f"keep names {existing[0]!r}, which is the name of a column to be added"
            )
        return staged_statement(self.formulas, self.dialect, path, keep)

    def __str__(self) -> str:
        if len(self.formulas) == 1:
            return next(iter(self.columns.values()))
        text = statement(self.formulas, self.dialect, None)
        return dedent(text.removeprefix("SELECT\n"))


def to_sql(
    model: Predictor,
    dialect: str = "duckdb",
    *,
    logits: Names | None = None,
    proba: Names | None = None,
    time: Names | None = None,
    prefix: str = "calibrated",
) -> SqlExpressions:
    """Return the probabilities of a model as SQL expressions of named columns.

    Parameters
    ----------
    model : Predictor
        The fitted model.
    dialect : str
        "duckdb", "postgres", "spark", "bigquery", "snowflake", "sqlite" (which must have its math
        functions), or any other that sqlglot writes. For Snowflake and Oracle plain names in small
        letters are written in capitals, as these store them; a name in double quotes stays as it
        is.
    logits, proba : str or list of str
        Columns of the predictions; None means ``z``, or ``z0``, ``z1``, ... (``p``).
    time : str or list of str
        Column of the times as numbers; None means ``t``, or ``t0`` and ``t1``.
    prefix : str
        Name of the column; with more than two classes followed by an underscore and the class.

    Examples
    --------
    >>> import numpy as np
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> print(to_sql(model, "snowflake").select("predictions"))
    SELECT
      *,
      CASE
    ...
      END AS "CALIBRATED"
    FROM "PREDICTIONS"
    """
    check_dialect(dialect)
    if logits is None and proba is None:
        default = _default_names("z" if model.inputs == "logits" else "p", model.columns)
        logits, proba = (default, None) if model.inputs == "logits" else (None, default)
    if time is None and model.time_kinds:
        time = _default_names("t", len(model.time_kinds))
    columns = input_columns(model, logits, proba, time)
    added = added_columns(model, prefix)
    names = (*columns.predictions, *columns.times, *added)
    for name in names:
        check_identifier(name, dialect)
    require_different(names, dialect)
    probabilities = formula_of(model, columns.predictions, columns.times)
    return SqlExpressions(dialect, {name: probabilities[k] for name, k in added.items()})


def _default_names(letter: str, count: int) -> list[str]:
    return [letter] if count == 1 else [f"{letter}{k}" for k in range(count)]
