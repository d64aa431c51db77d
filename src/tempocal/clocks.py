"""Measures of the progress of a sequence, to pass as ``time``.

The results are known at prediction time if the arguments are. Datetimes and timedeltas are
converted to seconds; a datetime without a time zone is taken as UTC.
"""

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import (
    Groups,
    Times,
    check_groups,
    check_time,
    require_finite,
    require_same_length,
)
from tempocal.links import Array

__all__ = ["elapsed", "fraction", "remaining", "score_difference", "step"]


def step(groups: Any, *, start: int = 0) -> NDArray[np.int64]:
    """Count the rows of the same sequence that came before each row.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Sequence of each row. The rows of a sequence must be in temporal order; rows of different
        sequences may be interleaved.
    start : int
        Value for the first row of a sequence.

    Returns
    -------
    ndarray of shape (n,), int64

    Examples
    --------
    >>> from tempocal.clocks import step
    >>> step(["a", "b", "a", "a", "b"]).tolist()
    [0, 0, 1, 2, 1]
    """
    start = _check_start(start)
    codes = _check_sequences(groups).codes
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    before = np.cumsum(sizes) - sizes  # rows of sequences that sort earlier
    steps = np.empty(len(codes), dtype=np.int64)
    steps[order] = np.arange(start, start + len(codes)) - np.repeat(before, sizes)
    return steps


def elapsed(time: Any, groups: Any) -> Array:
    """Measure the time since the earliest row of the same sequence.

    Parameters
    ----------
    time : array-like of shape (n,)
        Numbers, datetimes or timedeltas.
    groups : array-like of shape (n,)
        Sequence of each row. The rows may be in any order.

    Returns
    -------
    ndarray of shape (n,), float64
        In seconds for datetimes and timedeltas.

    Examples
    --------
    >>> import numpy as np
    >>> from tempocal.clocks import elapsed
    >>> elapsed([7, 3, 9, 4], groups=["a", "b", "a", "b"]).tolist()
    [0.0, 0.0, 2.0, 1.0]
    >>> moments = np.array(["2026-05-01T12:00", "2026-05-01T12:05"], dtype="datetime64[m]")
    >>> elapsed(moments, groups=[1, 1]).tolist()
    [0.0, 300.0]
    """
    moments = _check_rows(time, "time").values
    sequences = _check_sequences(groups)
    require_same_length(sequences.codes, "groups", len(moments), "time")
    first = np.full(sequences.count, np.inf)
    np.minimum.at(first, sequences.codes, moments)
    return _difference(moments, first[sequences.codes], "time minus its first")


def fraction(time: Any, horizon: Any) -> Array:
    """Measure the share of a known horizon that has passed.

    Parameters
    ----------
    time : array-like of shape (n,)
        Time since the start, not negative: numbers or timedeltas.
    horizon : scalar or array-like of shape (n,)
        Total duration, positive and of the same kind. It must be known at prediction time, like the
        90 minutes of a match, and must not be the final length of the sequence.

    Returns
    -------
    ndarray of shape (n,), float64
        At least 0; above 1 in overtime.

    Examples
    --------
    >>> from tempocal.clocks import fraction
    >>> fraction([0, 45, 99], horizon=90).tolist()
    [0.0, 0.5, 1.1]
    """
    passed = _check_rows(time, "time")
    if passed.kinds == ("datetime",):
        raise InputError(
            "time must be the time since the start, but it is datetimes: pass clocks.elapsed of it"
        )
    length = _check_same_kind(horizon, "horizon", passed)
    _require(length > 0.0, "horizon must be above 0", length)
    _require(passed.values >= 0.0, "time must not be negative", passed.values)
    with np.errstate(over="ignore"):
        share = passed.values / length
    require_finite(share, "time / horizon")
    return share


def score_difference(ours: Any, theirs: Any) -> Array:
    """Measure the absolute difference of two scores.

    Parameters
    ----------
    ours, theirs : array-like of shape (n,)
        The two scores at each row, as numbers.

    Returns
    -------
    ndarray of shape (n,), float64

    Examples
    --------
    >>> from tempocal.clocks import score_difference
    >>> score_difference([3, 5, 5], [3, 4, 9]).tolist()
    [0.0, 1.0, 4.0]
    """
    first, second = _check_rows(ours, "ours"), _check_rows(theirs, "theirs")
    require_same_length(second.values, "theirs", len(first.values), "ours")
    for name, scores in (("ours", first), ("theirs", second)):
        if scores.kinds != ("number",):
            raise InputError(f"{name} must be numbers, but it is {scores.kinds[0]}s")
    return np.abs(_difference(first.values, second.values, "ours minus theirs"))


def remaining(time: Any, end: Any) -> Array:
    """Measure the time left until an end that is known in advance.

    .. warning::
       Pass an end that is known at prediction time: a deadline, a departure, the last round of a
       match of fixed length. The final length of a sequence is known only in retrospect. A
       calibrator fitted with it uses information from the future and cannot be used live.

    Parameters
    ----------
    time : array-like of shape (n,)
        Numbers, datetimes or timedeltas.
    end : scalar or array-like of shape (n,)
        Of the same kind, and not before ``time``.

    Returns
    -------
    ndarray of shape (n,), float64
        In seconds for datetimes and timedeltas.

    Examples
    --------
    >>> from datetime import datetime
    >>> from tempocal.clocks import remaining
    >>> remaining([0, 10, 24], end=24).tolist()
    [24.0, 14.0, 0.0]
    >>> remaining([datetime(2026, 5, 1, 11, 59)], end=datetime(2026, 5, 1, 12)).tolist()
    [60.0]
    """
    moments = _check_rows(time, "time")
    left = _difference(_check_same_kind(end, "end", moments), moments.values, "end minus time")
    _require(left >= 0.0, "end must not be before time: the time left must be at least 0", left)
    return left


def _check_rows(values: Any, name: str) -> Times:
    return check_time(values, _count_rows(values) or 0, name=name)


def _check_same_kind(values: Any, name: str, times: Times) -> Array:
    """Return one value for all rows or one per row, of the same kind as the times."""
    is_scalar = _count_rows(values) is None
    checked = _check_rows([values] if is_scalar else values, name)
    if checked.kinds != times.kinds:
        raise InputError(
            f"{name} must be of the same kind as time, but time is {times.kinds[0]}s "
            f"and {name} {checked.kinds[0]}s"
        )
    if not is_scalar:
        require_same_length(checked.values, name, len(times.values), "time")
    return checked.values


def _check_sequences(groups: Any) -> Groups:
    sequences = check_groups(groups, _count_rows(groups) or 0)
    if sequences is None:
        raise InputError("groups is None: pass the id of the sequence of each row")
    return sequences


def _check_start(start: Any) -> int:
    try:
        number = index(start)
    except TypeError:
        number = None
    if number is None or isinstance(start, bool):
        raise InputError(f"start must be a whole number, but it is {start!r}")
    return number


def _count_rows(values: Any) -> int | None:
    """Return the number of rows; None for a scalar."""
    try:
        return len(values)
    except TypeError:
        return None


def _difference(later: Array, earlier: Array, name: str) -> Array:
    with np.errstate(over="ignore"):
        difference = later - earlier
    require_finite(difference, name)
    return difference


def _require(condition: NDArray[np.bool_], message: str, values: Array) -> None:
    if not condition.all():
        row = int(np.argmin(condition))
        where = f"row {row} has" if len(values) > 1 else "it is"
        raise InputError(f"{message}, but {where} {values[row]:g}")
