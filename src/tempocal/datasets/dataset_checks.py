"""What the values of a column must be; the row of the first that is not is named."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import DatasetError

_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,18})(\.0*)?\s*")
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def whole_numbers(
    values: Any, column: str, where: str, low: int = _LOWEST, high: int = _HIGHEST
) -> NDArray[np.int64]:
    """Return whole numbers, which may be written as text, true or false, or with decimals of 0."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and len(values):
        lowest, highest = int(values.min()), int(values.max())
        if low <= lowest and highest <= high:
            return values.astype(np.int64)
    numbers = [_whole(value, low, high) for value in values]
    if None in numbers:
        at = numbers.index(None)
        bounds = "" if low == _LOWEST else f" of at least {low}"
        bounds = bounds if high == _HIGHEST else f" from {low} to {high}"
        raise DatasetError(
            f"{where}, row {at + 1}: {column} must be a whole number{bounds}, but it is "
            f"{_shown(values[at])}"
        )
    return np.array(numbers, dtype=np.int64)


def words(values: Sequence[Any], column: str, where: str) -> list[str]:
    """Return texts, none of which is missing or empty."""
    for at, value in enumerate(values):
        if not isinstance(value, str) or not value:
            said = "empty" if value == "" else _shown(value)
            raise DatasetError(f"{where}, row {at + 1}: {column} must be text, but it is {said}")
    return list(values)


def one_of(values: Sequence[Any], column: str, where: str, allowed: tuple[str, ...]) -> list[str]:
    """Return texts that are each one of a few words."""
    for at, value in enumerate(values):
        if value not in allowed:
            raise DatasetError(
                f"{where}, row {at + 1}: {column} must be {' or '.join(map(repr, allowed))}, "
                f"but it is {_shown(value)}"
            )
    return list(values)


def dates(values: Any, column: str, where: str) -> NDArray[np.datetime64]:
    """Return moments in seconds, UTC: from dates, or from text that follows ISO 8601."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values.astype("datetime64[s]")
    read: dict[Any, np.datetime64] = {None: np.datetime64("NaT", "s")}
    for at, value in enumerate(values):
        if value not in read:
            try:
                read[value] = _moment(value)
            except (TypeError, ValueError) as error:
                raise DatasetError(
                    f"{where}, row {at + 1}: {column} must be a date such as 2020-07-13 or "
                    f"2020-07-13T18:30, but it is {_shown(value)}"
                ) from error
    return np.array([read[value] for value in values], dtype="datetime64[s]")


def require_unique(ids: NDArray[np.int64], what: str, file: str) -> None:
    """Refuse ids that come twice."""
    unique, counts = np.unique(ids, return_counts=True)
    if len(unique) < len(ids):
        at = int(np.argmax(counts > 1))
        raise DatasetError(f"{file}: {what} {unique[at]} comes {counts[at]} times, not once")


def _whole(value: Any, low: int, high: int) -> int | None:
    if isinstance(value, str):
        written = _WHOLE.fullmatch(value)
        number = int(written[1]) if written else None
    else:
        try:
            number = int(value) if int(value) == value else None
        except (TypeError, ValueError, OverflowError):
            number = None
    return number if number is not None and low <= number <= high else None


def _moment(text: str) -> np.datetime64:
    moment = datetime.fromisoformat(text.strip() if isinstance(text, str) else text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment, "s")


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
