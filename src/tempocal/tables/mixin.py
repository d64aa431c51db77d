"""Methods of all calibrators that apply them to tables and write them as SQL."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from tempocal.predictor import Predictor

if TYPE_CHECKING:
    from tempocal.tables.column_names import Names
    from tempocal.tables.sql import SqlExpressions


class InTables:
    """Mixin: apply a fitted calibrator inside the engine that holds the rows."""

    @abstractmethod
    def _predictor(self) -> Predictor:
        """Return the function that was fitted."""

    def apply_table(
        self,
        table: Any,
        *,
        logits: "Names | None" = None,
        proba: "Names | None" = None,
        time: "Names | None" = None,
        prefix: str = "calibrated",
    ) -> Any:
        """Return a table with calibrated probabilities, computed by the engine that holds it.

        Rows that `predict_proba` would refuse, such as those with a missing logit or time, get no
        probability (NULL); neither do steps that ``PerStep(unseen="error")`` has not seen.

        Parameters
        ----------
        table : table or path
            Of pandas, Polars (eager or lazy), pyarrow, DuckDB, Spark or Ibis; or a file or pattern
            of Parquet or CSV files, which DuckDB opens.
        logits, proba : str or list of str
            Columns of the predictions, in the order of ``classes_``; ``logits`` or ``proba``, as
            ``inputs`` says.
        time : str or list of str
            Column of the times, or the two of a `Surface`.
        prefix : str, default="calibrated"
            Name of the added column, the probability of the second of two classes. With more
            classes there is one column for each, named ``{prefix}_{class}``.

        Returns
        -------
        table
            Of the same kind as the input, rows in the same order. Lazy tables stay lazy; files
            become a DuckDB relation.

        Examples
        --------
        >>> import pandas as pd
        >>> import tempocal as tc
        >>> cal = tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
        >>> list(cal.apply_table(pd.DataFrame({"id": [7], "z": [2.0]}), logits="z"))
        ['id', 'z', 'calibrated']
        """
        from tempocal.tables.apply import apply_table  # noqa: PLC0415

        return apply_table(
            self._predictor(), table, logits=logits, proba=proba, time=time, prefix=prefix
        )

    def to_sql(
        self,
        dialect: str = "duckdb",
        *,
        logits: "Names | None" = None,
        proba: "Names | None" = None,
        time: "Names | None" = None,
        prefix: str = "calibrated",
    ) -> "SqlExpressions":
        """Return the calibrated probabilities as SQL expressions of named columns.

        Parameters
        ----------
        dialect : str, default="duckdb"
            "duckdb", "postgres", "spark", "bigquery", "snowflake", "sqlite" (which must have its
            math functions), or any other that sqlglot writes.
        logits, proba : str or list of str
            Columns of the predictions, in the order of ``classes_``; ``logits`` or ``proba``, as
            ``inputs`` says. None means ``z``, or ``z0``, ``z1``, ... (``p`` for probabilities).
        time : str or list of str
            Column of the times as numbers: seconds since 1970-01-01 UTC where the fit had
            datetimes, seconds where it had timedeltas. None means ``t``, or ``t0`` and ``t1``.
        prefix : str, default="calibrated"
            Name of the columns, as in `apply_table`.

        Returns
        -------
        SqlExpressions
            ``str`` of it is the expression for two classes; ``columns`` has one for each column,
            and ``select("table")`` returns a complete statement.

        Examples
        --------
        >>> import duckdb
        >>> import tempocal as tc
        >>> cal = tc.TemperatureScaling(shrinkage=1.0).fit([-1.0, 2.0, 0.5], [0, 1, 0])
        >>> duckdb.sql(f"SELECT {cal.to_sql()} AS p FROM (SELECT 0 AS z)").fetchall()
        [(0.5,)]
        """
        from tempocal.tables.sql import to_sql  # noqa: PLC0415

        return to_sql(
            self._predictor(), dialect, logits=logits, proba=proba, time=time, prefix=prefix
        )
