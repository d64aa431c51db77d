"""Tables of every engine: made of columns, and read back as columns."""

import datetime
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from support.lanes import usually

NAMES = ["pandas", "polars", "lazy polars", "pyarrow", "duckdb", "ibis", "spark"]
LAZY = {"lazy polars", "duckdb", "ibis", "spark"}
# For `table_of` in tests whose queries take Spark seconds, where shorter ones show the same of it.
SPARK_IS_SLOW = usually(NAMES, lambda name: name != "spark")

_SPARK_TYPES = {
    "f": "double",
    "i": "long",
    "U": "string",
    "O": "double",
    "M": "timestamp_ntz",
}


def make(engine: str, columns: dict[str, Any], spark: Any = None) -> Any:
    """Return a table; lists may hold None, which is NULL."""
    if engine == "pandas":
        return pd.DataFrame(columns)
    if engine == "spark":
        return _in_spark(columns, spark)
    arrow = pa.table({name: pa.array(list(_plain(values))) for name, values in columns.items()})
    if engine in ("polars", "lazy polars"):
        frame = pl.from_arrow(arrow)
        return frame.lazy() if engine == "lazy polars" else frame
    return arrow if engine == "pyarrow" else _in_duckdb(engine, arrow)


def read(table: Any) -> dict[str, Any]:
    """Return the columns of any table, in the order of its column ``id``."""
    frame = nw.from_native(table)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect("pyarrow")
    order = np.argsort(frame["id"].to_numpy(), kind="stable")
    return {name: np.array(frame[name].to_list(), dtype=object)[order] for name in frame.columns}


def as_floats(values: Any) -> Any:
    """Return numbers, NULL and NaN as NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _in_duckdb(engine: str, arrow: pa.Table) -> Any:
    import duckdb  # noqa: PLC0415

    if engine == "duckdb":
        return duckdb.connect().from_arrow(arrow)
    import ibis  # noqa: PLC0415

    connection = ibis.duckdb.connect()
    connection.con.register("arrow", arrow)
    connection.con.execute("CREATE TABLE predictions AS SELECT * FROM arrow")
    return connection.table("predictions")


def _in_spark(columns: dict[str, Any], spark: Any) -> Any:
    from pyspark.sql.types import StructType  # noqa: PLC0415

    schema = StructType()
    for name, values in columns.items():
        schema.add(name, _SPARK_TYPES[np.asarray(values).dtype.kind])
    rows = list(zip(*(list(_plain(values)) for values in columns.values()), strict=True))
    return spark.createDataFrame(rows, schema).repartition(7)


def _plain(values: Any) -> Any:
    """Return Python values, for engines that know no others."""
    if isinstance(values, list):
        return values
    if values.dtype.kind == "M":
        epoch = datetime.datetime(1970, 1, 1)
        ticks = values.astype("M8[us]").astype(np.int64).tolist()
        return [epoch + datetime.timedelta(microseconds=tick) for tick in ticks]
    return values.tolist()
