"""Integers as codes relative to the smallest, in narrow types, on all cores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores

Codes = NDArray[np.intp]
MinMax = NDArray[np.int64]

# Numbers that are converted at a time: fewer are not worth a thread.
BLOCK = 2**17
# Values that are tried first.
HEAD = 2**10
# Codes below this fit two bytes.
NARROW = 2**16
LARGEST_INT = 2**31 - 1
# Integers up to here are exact as float64.
LARGEST = 2.0**53


@dataclass(frozen=True)
class IntegerCodes:
    """Integers as ``codes + low``."""

    codes: Codes  # (n,), of two or four bytes
    low: float
    span: int  # largest code plus one


def integer_codes(values: NDArray[Any], max_span: int) -> IntegerCodes | None:
    """Subtract the smallest of integers; None if one is a fraction or the span is too large.

    Parameters
    ----------
    values : ndarray of float64 or int64, shape (n,)
        At least one value; int64 must not be beyond 2**53.
    max_span : int
        Largest acceptable span.
    """
    first = float(values[:HEAD].min())
    if not abs(first) <= LARGEST or first != np.floor(first):
        return None
    codes: Codes = np.empty(len(values), dtype=np.uint16)
    min_max = _subtract(first, values, codes)
    if min_max is not None and NARROW <= min_max[1] - min_max[0] < max_span:
        # Two bytes hold only the last digits of such numbers.
        codes = np.empty(len(values), dtype=np.int32)
        min_max = _subtract(first, values, codes)
    if min_max is None or min_max[1] - min_max[0] >= max_span:
        return None
    low, high = min_max
    _subtract_low(codes, low)
    return IntegerCodes(codes, first + low, high - low + 1)


def renumbered(codes: Codes, present: NDArray[np.bool_], *, in_place: bool = False) -> Codes:
    """Index of each code among those that are present."""
    dtype: type = np.int32 if len(present) <= LARGEST_INT else np.int64
    index: NDArray[np.signedinteger[Any]] = np.cumsum(present, dtype=dtype)
    index -= 1
    count = int(index[-1]) + 1 if len(index) else 0
    return codes_in_blocks(lambda block: index[block], codes, count, codes if in_place else None)


def as_narrow_ints(codes: Codes, count: int) -> Codes:
    """Convert codes below ``count`` to the smallest type that holds them."""
    return codes.astype(_type_for(count))


def _type_for(count: int) -> type:
    if count > LARGEST_INT:
        return np.int64
    return np.uint16 if count <= NARROW else np.int32


def codes_in_blocks(
    codes_of: Callable[[NDArray[Any]], Codes],
    values: NDArray[Any],
    count: int,
    out: Codes | None = None,
) -> Codes:
    """Compute codes below ``count`` block by block, in the smallest type that holds them."""
    codes: Codes = np.empty(len(values), dtype=_type_for(count)) if out is None else out

    def work(rows: slice) -> None:
        codes[rows] = codes_of(values[rows])

    _map_blocks(work, len(values))
    return codes


def _subtract(first: float, values: NDArray[Any], codes: Codes) -> tuple[int, int] | None:
    """Fill ``codes`` with ``values - first``; return their minimum and maximum."""
    min_max = np.empty((-(-len(values) // BLOCK), 2), dtype=np.int64)
    subtract = _subtract_in_numpy if native is None else _subtract_compiled

    def work(rows: slice) -> bool:
        return subtract(first, values[rows], codes[rows], min_max[rows.start // BLOCK])

    # Most columns of fractions are rejected by their first values.
    if not (work(slice(0, HEAD)) and all(_map_blocks(work, len(values)))):
        return None
    return int(min_max[:, 0].min()), int(min_max[:, 1].max())


def _subtract_compiled(first: float, values: NDArray[Any], codes: Codes, min_max: MinMax) -> bool:
    values = np.ascontiguousarray(values)
    return bool(native.integer_codes(values, np.array([first]), codes, min_max))


def _subtract_in_numpy(first: float, values: NDArray[Any], codes: Codes, min_max: MinMax) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        difference = values - first
    low, high = difference.min(), difference.max()
    if not (low >= np.iinfo(np.int32).min and high <= np.iinfo(np.int32).max):
        return False
    integers = difference.astype(np.int32)
    codes[:] = integers.astype(codes.dtype)
    min_max[:] = low, high
    # The second comparison detects a fraction that is lost when the first is subtracted.
    return bool((integers == difference).all() and (difference + first == values).all())


def _subtract_low(codes: Codes, low: int) -> None:
    """Subtract ``low`` modulo the range of the type of the codes."""
    if low != 0:
        codes -= codes.dtype.type(low % NARROW if codes.dtype == np.uint16 else low)


def _map_blocks(work: Callable[[slice], Any], n_rows: int) -> list[Any]:
    return map_on_cores(work, [slice(start, start + BLOCK) for start in range(0, n_rows, BLOCK)])
