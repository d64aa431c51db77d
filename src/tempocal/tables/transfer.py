"""Arrays as small tables in any engine, and small results as arrays."""

from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import text_array
from tempocal.tables.open_table import Frame

Columns = dict[str, NDArray[Any]]


def small_table(frame: Frame, columns: Columns) -> Frame:
    """Return arrays as a table that can be joined with ``frame``, in its engine."""
    engine = frame.implementation
    if engine.is_duckdb():
        # DuckDB finds the local variable by its name.
        tempocal_small_7c1f = _arrow(columns)  # noqa: F841
        query = "SELECT * FROM tempocal_small_7c1f"
        native = frame.to_native().query("tempocal_rows_7c1f", query)
        return _wrap(native)
    if engine.is_pyspark():
        return _wrap(frame.to_native().sparkSession.createDataFrame(_arrow(columns)))
    if engine.is_ibis():
        ibis: Any = import_module("ibis")
        return _wrap(ibis.memtable(_arrow(columns)))
    eager = nw.from_dict(
        {name: values.tolist() for name, values in columns.items()}, backend=engine
    )
    return eager.lazy() if isinstance(frame, nw.LazyFrame) else eager


def join(frame: Frame, columns: Columns, on: list[str]) -> Frame:
    """Join the columns of a small table to the rows with the same keys."""
    return frame.join(small_table(frame, columns), on=on, how="inner")  # type: ignore[arg-type]


def collect(frame: Frame) -> Columns:
    """Collect a small result as arrays; NULL among numbers is NaN."""
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: _as_array(eager[name]) for name in eager.columns}


def _wrap(native: Any) -> Frame:
    frame: Frame = nw.from_native(native)
    return frame


def _as_array(column: Any) -> NDArray[Any]:
    if column.dtype.is_numeric():
        values: NDArray[Any] = column.to_numpy()
        return values if values.dtype.kind in "iu" else values.astype(np.float64)
    values = column.to_list()
    array = np.array(values)
    return text_array(values, array) if array.dtype.kind in "US" else array


def _arrow(columns: Columns) -> Any:
    import pyarrow  # noqa: PLC0415

    return pyarrow.table(columns)
