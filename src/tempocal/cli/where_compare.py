"""Comparisons of a column with a value of ``--where``, by one rule for files of all formats.

Columns of CSV are text. What reads as numbers is compared as numbers there too.
"""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tempocal.errors import InputError
from tempocal.files.convert import is_text

COMPARISONS = {
    "=": pc.equal,
    "==": pc.equal,
    "!=": pc.not_equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_ORDERS = {"<", "<=", ">", ">="}
# From here on a double does not tell whole numbers from their neighbors.
_LARGEST_EXACT = 2**53
_MOST_DIGITS = 300


def read_number(text: str) -> int | float:
    """Return a whole number as it is, every digit of it, and others as a double."""
    exponent = text.lower().partition("e")[2]
    number = Decimal(text) if len(exponent) < 10 else Decimal("inf")
    if not number.is_finite() or number.adjusted() > _MOST_DIGITS:
        raise InputError(f"--where: the number {text:.60} is too large to be compared")
    if number == 0 or (number.adjusted() >= 0 and number == number.to_integral_value()):
        return int(number)
    value = float(number)
    if value.is_integer():
        raise InputError(f"--where: the number {text:.60} has more digits than can be compared")
    return value


def compare(sign: str, column: Any, name: str, value: Any) -> Any:
    """Return for each row whether its value compares so, null where it is missing."""
    column = decoded(column)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.bool_())
    try:
        if isinstance(value, bool):
            return COMPARISONS[sign](_as_flags(column), value)
        if isinstance(value, str):
            return _compare_text(sign, column, name, value)
        return _compare_number(sign, column, name, value)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _not_comparable(column, name, value) from error


def decoded(column: Any) -> Any:
    """Return a column with its values in place of codes."""
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _compare_text(sign: str, column: Any, name: str, value: str) -> Any:
    """Compare with text: dates as such, and never numbers by their first digits."""
    if not is_text(column) and not pa.types.is_temporal(column.type):
        raise _not_comparable(column, name, value)
    if sign in _ORDERS and is_text(column) and _reads_as_numbers(column):
        raise _not_comparable(column, name, value)
    return COMPARISONS[sign](column, pa.scalar(value).cast(column.type))


def _compare_number(sign: str, column: Any, name: str, value: float) -> Any:
    """Compare whole numbers as such, and others as doubles."""
    was_text = is_text(column)
    column = _as_numbers(column) if was_text else column
    kind = column.type
    if not (_is_real(kind) or pa.types.is_decimal(kind)):
        raise _not_comparable(column, name, value)
    if isinstance(value, int) and pa.types.is_integer(kind):
        return _compare_whole(sign, column, value)
    doubles, rounded = column.cast(pa.float64(), safe=False), float(value)
    # Rounding keeps the order, so that only what is rounded to the same can be confused.
    is_exact = rounded == value and pa.types.is_floating(kind) and not was_text
    may_confuse = isinstance(value, int) and abs(value) >= _LARGEST_EXACT and not is_exact
    if may_confuse and pc.any(pc.equal(doubles, rounded)).as_py():
        raise InputError(
            f"--where: the column {name!r} holds numbers that are no whole ones of 64 bits, which "
            f"cannot be told from neighbors of {value}"
        )
    return COMPARISONS[sign](doubles, rounded)


def _compare_whole(sign: str, column: Any, value: int) -> Any:
    try:
        return COMPARISONS[sign](column, pa.scalar(value, column.type))
    except (pa.ArrowInvalid, OverflowError):
        # Out of the range of the column: above all of its numbers, or below.
        beyond = COMPARISONS[sign](pa.scalar(0), pa.scalar(1 if value > 0 else -1))
        return pc.if_else(pc.is_valid(column), beyond, pa.scalar(None, pa.bool_()))


def _as_numbers(column: Any) -> Any:
    """Return text as whole numbers if all of it is, else as doubles."""
    text = _trimmed(column)
    for kind in (pa.int64(), pa.uint64()):
        try:
            return text.cast(kind)
        except pa.ArrowInvalid:
            continue
    return text.cast(pa.float64())


def _as_flags(column: Any) -> Any:
    """Return true and false, which may be written as 1 and 0; others are an ArrowInvalid."""
    if pa.types.is_boolean(column.type):
        return column
    if is_text(column):
        try:
            return _trimmed(column).cast(pa.bool_())
        except pa.ArrowInvalid:
            column = _as_numbers(column)
    if not _is_real(column.type):
        raise pa.ArrowInvalid("neither true nor false")
    is_one = pc.equal(column, 1)
    if not pc.all(pc.or_(is_one, pc.equal(column, 0))).as_py():
        raise pa.ArrowInvalid("neither 0 nor 1")
    return is_one


def _reads_as_numbers(column: Any) -> bool:
    if column.null_count == len(column):
        return False
    try:
        _as_numbers(column)
    except pa.ArrowInvalid:
        return False
    return True


def _trimmed(column: Any) -> Any:
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _is_real(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _not_comparable(column: Any, name: str, value: Any) -> InputError:
    example = next((one.as_py() for one in column if one.is_valid), None)
    if isinstance(value, str):
        shown, word = repr(value), "text in single quotes"
        is_number = isinstance(example, int | float) and not isinstance(example, bool)
        if is_number or (is_text(column) and _reads_as_numbers(column)):
            word += ": write numbers without quotes"
    elif isinstance(value, bool):
        shown, word = str(value), "true or false"
    else:
        shown, word = str(value) if isinstance(value, int) else f"{value:g}", "a number"
    return InputError(
        f"--where: the column {name!r} holds {example!r:.60}, which cannot be compared with "
        f"{shown}, {word}"
    )
