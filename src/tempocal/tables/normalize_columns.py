"""Labels, ids and times of a table as types that narwhals and NumPy compare without loss.

Some types they would merge, refuse or misread. The conversion runs in the engine that holds the
table. Columns of numbers stay as they are.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import as_float64, check_groups, check_labels, check_time, from_seconds
from tempocal.tables.column_names import quoted
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.first_pass import LARGEST_INTEGER
from tempocal.tables.open_table import Frame, wrap
from tempocal.tables.passes import Passes

# Decimals of up to this many digits fit into 64-bit integers.
DIGITS_OF_INT64 = 18
LARGEST_INT64 = 2**63 - 1
# Roles whose columns hold numbers.
_NUMERIC_ROLES = ("logits", "proba", "soft label", "sample_weight")


def normalize_columns(frame: Frame, roles: ColumnRoles, passes: Passes) -> Frame:
    """Return the table with labels, ids and times of lossless, comparable types."""
    ids = {name: role for role, name in roles.pairs() if role in ("groups", "sequence")}
    if frame.implementation.is_pandas_like():
        frame = _from_objects(frame, roles)
    if frame.implementation.is_pyarrow():
        _require_exact_integers(frame, roles)
        frame = _from_views(frame, [roles.label, *ids])
    times = [name for name in (roles.time, roles.order) if name is not None]
    if times:
        frame = with_utc(frame, {name: name for name in times})
    return _from_wide_numbers(frame, ids, passes)


def with_utc(frame: Frame, names: dict[str, str]) -> Frame:
    """Add UTC versions of zoned times in DuckDB, which has a single zone per connection.

    ``names`` maps each new column to its source, which may have the same name.
    """
    schema = frame.collect_schema()
    zoned = {new: old for new, old in names.items() if _is_not_utc(schema[old])}
    if not zoned or not frame.implementation.is_duckdb():
        return frame
    converted = [
        f"make_timestamp(epoch_us({quoted(old)})) AS {quoted(new)}" for new, old in zoned.items()
    ]
    kept = [quoted(name) for name in schema if name not in zoned]
    return wrap(frame.to_native().project(", ".join([*kept, *converted])))


def _is_not_utc(dtype: Any) -> bool:
    return dtype == nw.Datetime and dtype.time_zone not in (None, "UTC")


def _from_objects(frame: Frame, roles: ColumnRoles) -> Frame:
    """Infer the types of pandas object columns; other ids become codes, as in arrays."""
    native = frame.to_native()
    converted = {}
    for role, name in roles.pairs():
        column = native[name]
        if hasattr(column.dtype, "categories") and role not in _NUMERIC_ROLES:
            missing = int(column.isna().sum())
            if missing:
                raise InputError(f"{role} in {name!r} is missing in {missing} rows")
            converted[name] = column.astype(column.dtype.categories.dtype)
        elif column.dtype == object and not _is_text(column):
            converted[name] = _read_objects(column, role)
    return wrap(native.assign(**converted)) if converted else frame


def _read_objects(column: Any, role: str) -> Any:
    if role in _NUMERIC_ROLES:
        return as_float64(column, role)
    if role in ("time", "order"):
        times = check_time(column, len(column), name=role)
        return from_seconds(times.values, times.kinds[0])
    return _labels_of(column) if role == "label" else _codes_of(column, role)


def _is_text(column: Any) -> bool:
    pandas: Any = import_module("pandas")
    return pandas.api.types.infer_dtype(column, skipna=True) in ("string", "empty")


def _labels_of(column: Any) -> Any:
    """Return labels in their inferred type, if they have a common one."""
    labels = check_labels(column, len(column), "label").tolist()
    try:
        sorted(set(labels))
    except TypeError as error:
        raise InputError(f"label mixes labels that cannot be ordered: {error}") from error
    return column.infer_objects()


def _codes_of(column: Any, role: str) -> Any:
    numbers = column.infer_objects()
    if numbers.dtype != object:
        return numbers
    found = check_groups(column, len(column), role)
    assert found is not None
    return found.codes.astype(np.int64)


def _require_exact_integers(frame: Frame, roles: ColumnRoles) -> None:
    """Refuse integers that a double does not represent; Arrow fails to cast them."""
    for role, name in roles.pairs():
        column = frame.get_column(name)  # type: ignore[union-attr]
        if role in (*_NUMERIC_ROLES, "time") and column.dtype.is_integer():
            min_max = [value for value in (column.min(), column.max()) if value is not None]
            beyond = next((value for value in min_max if abs(value) > LARGEST_INTEGER), None)
            if beyond is not None:
                raise InputError(
                    f"{role} in {name!r} has {beyond}, but whole numbers beyond 2**53 lose digits"
                )


def _from_views(frame: Frame, names: Iterable[str]) -> Frame:
    """Cast Arrow's string and binary views to plain types, which can be grouped by."""
    import pyarrow as pa  # noqa: PLC0415 - the table is one of pyarrow

    table = frame.to_native()
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    for name in dict.fromkeys(names):
        kind = table.schema.field(name).type
        if kind in plain:
            k = table.schema.get_field_index(name)
            table = table.set_column(k, name, _cast_view(table.column(name), plain[kind]))
    return wrap(table)


def _cast_view(column: Any, kind: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - the column is one of pyarrow

    try:
        return column.cast(kind)
    except pa.ArrowNotImplementedError:  # before PyArrow 18
        return pa.array(column.to_pylist(), kind)


def _from_wide_numbers(frame: Frame, ids: dict[str, str], passes: Passes) -> Frame:
    """Cast decimal and 128-bit integer ids to 64-bit integers, or else to text."""
    schema = frame.collect_schema()
    converted = {}
    for name in ids:
        kind = _narrow_type(frame, name, schema[name], passes)
        if kind is not None:
            converted[name] = nw.col(name).cast(kind)
    return frame.with_columns(**converted) if converted else frame


def _narrow_type(frame: Frame, name: str, dtype: Any, passes: Passes) -> Any:
    """Return a type that keeps the values of a wide column distinct; None for other types."""
    if dtype.is_decimal():
        if dtype.scale != 0:
            return nw.String
        if dtype.precision <= DIGITS_OF_INT64:
            return nw.Int64
    elif dtype not in (nw.Int128, nw.UInt128):
        return None
    fits = nw.col(name).is_between(-LARGEST_INT64, LARGEST_INT64)
    beyond = nw.when(fits).then(nw.lit(0)).otherwise(nw.lit(1))
    counted = frame.select(beyond=beyond).select(nw.col("beyond").sum())
    found = passes.collect(counted, f"looking at the ids in {name!r}")
    return nw.String if float(found["beyond"][0]) > 0 else nw.Int64


def require_comparable(dtype: Any, name: str, role: str) -> None:
    """Refuse lists, structures and Python objects, which cannot be ordered."""
    if dtype in (nw.List, nw.Array, nw.Struct, nw.Object):
        raise InputError(
            f"{role} names the column {name!r}, which must hold numbers, text or dates, but its "
            f"type is {dtype}"
        )
