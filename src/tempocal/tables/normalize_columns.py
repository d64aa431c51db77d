"""Columns that narwhals or NumPy would merge, refuse or misread, as types that they can tell apart.

What is prepared here are the columns of labels, ids and times of a table, by the engine that holds
it. Numbers need nothing.
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

# Decimals of so many digits are integers of 64 bits.
DIGITS_OF_INT64 = 18
LARGEST_INT64 = 2**63 - 1
# Roles of columns that hold numbers.
_NUMBERS = ("logits", "proba", "sample_weight")


def prepare(frame: Frame, roles: ColumnRoles, passes: Passes) -> Frame:
    """Return the table with labels, ids and times that can be compared without loss."""
    ids = {name: role for role, name in roles.pairs() if role in ("groups", "sequence")}
    if frame.implementation.is_pandas_like():
        frame = _from_objects(frame, roles)
    if frame.implementation.is_pyarrow():
        _require_exact_integers(frame, roles)
        frame = _from_views(frame, [roles.label, *ids])
    if roles.time is not None:
        frame = with_utc(frame, {roles.time: roles.time})
    return _from_wide_numbers(frame, ids, passes)


def with_utc(frame: Frame, names: dict[str, str]) -> Frame:
    """Add columns of times with a zone as UTC, in DuckDB, which knows but one zone at a time.

    ``names`` gives the column that each is made of, and may be its own.
    """
    schema = frame.collect_schema()
    zoned = {new: old for new, old in names.items() if _is_elsewhere(schema[old])}
    if not zoned or not frame.implementation.is_duckdb():
        return frame
    made = [
        f"make_timestamp(epoch_us({quoted(old)})) AS {quoted(new)}" for new, old in zoned.items()
    ]
    kept = [quoted(name) for name in schema if name not in zoned]
    return wrap(frame.to_native().project(", ".join([*kept, *made])))


def _is_elsewhere(dtype: Any) -> bool:
    return dtype == nw.Datetime and dtype.time_zone not in (None, "UTC")


def _from_objects(frame: Frame, roles: ColumnRoles) -> Frame:
    """Let pandas columns be what they hold; ids of other kinds become their codes, as in arrays."""
    native = frame.to_native()
    made = {}
    for role, name in roles.pairs():
        column = native[name]
        if hasattr(column.dtype, "categories") and role not in _NUMBERS:
            missing = int(column.isna().sum())
            if missing:
                raise InputError(f"{role} in {name!r} is missing in {missing} rows")
            made[name] = column.astype(column.dtype.categories.dtype)
        elif column.dtype == object and not _is_text(column):
            made[name] = _read_objects(column, role)
    return wrap(native.assign(**made)) if made else frame


def _read_objects(column: Any, role: str) -> Any:
    if role in _NUMBERS:
        return as_float64(column, role)
    if role == "time":
        times = check_time(column, len(column))
        return from_seconds(times.values, times.kinds[0])
    return _labels_of(column) if role == "label" else _codes_of(column, role)


def _is_text(column: Any) -> bool:
    """Tell whether there is nothing but text and missing values."""
    pandas: Any = import_module("pandas")
    return pandas.api.types.infer_dtype(column, skipna=True) in ("string", "empty")


def _labels_of(column: Any) -> Any:
    """Return labels in a type of their own, where they have one."""
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
    """Refuse whole numbers that a double does not tell apart, at which Arrow fails."""
    for role, name in roles.pairs():
        column = frame.get_column(name)  # type: ignore[union-attr]
        if role in (*_NUMBERS, "time") and column.dtype.is_integer():
            ends = [end for end in (column.min(), column.max()) if end is not None]
            beyond = next((end for end in ends if abs(end) > LARGEST_INTEGER), None)
            if beyond is not None:
                raise InputError(
                    f"{role} in {name!r} has {beyond}, but whole numbers beyond 2**53 lose digits"
                )


def _from_views(frame: Frame, names: Iterable[str]) -> Frame:
    """Let Arrow's views of text and bytes be plain ones, which can be grouped by."""
    import pyarrow as pa  # noqa: PLC0415 - the table is one of pyarrow

    table = frame.to_native()
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    for name in dict.fromkeys(names):
        kind = table.schema.field(name).type
        if kind in plain:
            k = table.schema.get_field_index(name)
            table = table.set_column(k, name, table.column(name).cast(plain[kind]))
    return wrap(table)


def _from_wide_numbers(frame: Frame, ids: dict[str, str], passes: Passes) -> Frame:
    """Let ids that are decimals or integers of 128 bits be ones of 64 bits, or else text."""
    schema = frame.collect_schema()
    made = {}
    for name in ids:
        kind = _narrow_type(frame, name, schema[name], passes)
        if kind is not None:
            made[name] = nw.col(name).cast(kind)
    return frame.with_columns(**made) if made else frame


def _narrow_type(frame: Frame, name: str, dtype: Any, passes: Passes) -> Any:
    """Return the type that tells the values of a wide column apart; None for other columns."""
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
    """Refuse lists, structures and Python objects, which have no order and no plain text."""
    if dtype in (nw.List, nw.Array, nw.Struct, nw.Object):
        raise InputError(
            f"{role} names the column {name!r}, which must hold numbers, text or dates, but its "
            f"type is {dtype}"
        )
