"""Validation of columns; errors name the first invalid row."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import DatasetError

_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,18})(\.0*)?\s*")
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def integers(
    values: Any, column: str, where: str, low: int = _LOWEST, high: int = _HIGHEST
) -> NDArray[np.int64]:
    """Return integers, which may be given as text, booleans, or with decimals of 0."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and len(values):
        lowest, highest = int(values.min()), int(values.max())
        if low <= lowest and highest <= high:
            return values.astype(np.int64)
    numbers = [_integer(value, low, high) for value in values]
    if None in numbers:
        row = numbers.index(None)
        bounds = "" if low == _LOWEST else f" of at least {low}"
        bounds = bounds if high == _HIGHEST else f" from {low} to {high}"
        raise DatasetError(
            f"{where}, row {row + 1}: {column} must be a whole number{bounds}, but it is "
            f"{_short_repr(values[row])}"
        )
    return np.array(numbers, dtype=np.int64)


def check_texts(values: Sequence[Any], column: str, where: str) -> list[str]:
    """Return texts, none of which is missing or empty."""
    for row, value in enumerate(values, 1):
        if not isinstance(value, str) or not value:
            found = "empty" if value == "" else _short_repr(value)
            raise DatasetError(f"{where}, row {row}: {column} must be text, but it is {found}")
    return list(values)


def one_of(values: Sequence[Any], column: str, where: str, allowed: tuple[str, ...]) -> list[str]:
    """Return texts that are each one of the allowed ones."""
    for row, value in enumerate(values, 1):
        if value not in allowed:
            raise DatasetError(
                f"{where}, row {row}: {column} must be {' or '.join(map(repr, allowed))}, "
                f"but it is {_short_repr(value)}"
            )
    return list(values)


def dates(values: Any, column: str, where: str) -> NDArray[np.datetime64]:
    """Return datetimes in seconds, UTC, from dates or from text in ISO 8601."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values.astype("datetime64[s]")
    parsed: dict[Any, np.datetime64] = {None: np.datetime64("NaT", "s")}
    for row, value in enumerate(values, 1):
        if value not in parsed:
            try:
                parsed[value] = _datetime(value)
            except (TypeError, ValueError) as error:
                raise DatasetError(
                    f"{where}, row {row}: {column} must be a date such as 2020-07-13 or "
                    f"2020-07-13T18:30, but it is {_short_repr(value)}"
                ) from error
    return np.array([parsed[value] for value in values], dtype="datetime64[s]")


def require_unique(ids: NDArray[np.int64], what: str, file: str) -> None:
    """Refuse duplicate ids."""
    unique, counts = np.unique(ids, return_counts=True)
    if len(unique) < len(ids):
        k = int(np.argmax(counts > 1))
        raise DatasetError(f"{file}: {what} {unique[k]} comes {counts[k]} times, not once")


def _integer(value: Any, low: int, high: int) -> int | None:
    if isinstance(value, str):
        match = _INTEGER.fullmatch(value)
        number = int(match[1]) if match else None
    else:
        try:
            number = int(value) if int(value) == value else None
        except (TypeError, ValueError, OverflowError):
            number = None
    return number if number is not None and low <= number <= high else None


def _datetime(text: str) -> np.datetime64:
    parsed = datetime.fromisoformat(text.strip() if isinstance(text, str) else text)
    if parsed.tzinfo is not None:
        parsed = parsed.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(parsed, "s")


def _short_repr(value: Any) -> str:
    if value is None:
        return "missing"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."
