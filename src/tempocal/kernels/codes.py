"""Whole numbers as codes that are counted from the lowest, in few bytes, on all cores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores, parts_for

Codes = NDArray[np.intp]
Ends = NDArray[np.int64]

# Numbers that are looked at together: fewer are not worth a thread.
BLOCK = 2**17
# The first few show most columns of fractions, and as a rule the lowest of few whole numbers.
GLANCE = 2**10
# So many codes go into two bytes.
NARROW = 2**16
LARGEST_INT = 2**31 - 1
# A double tells whole numbers up to here from the next one.
LARGEST = 2.0**53


@dataclass(frozen=True)
class Whole:
    """Whole numbers: how far each is from the lowest, and how many there are up to the highest."""

    codes: Codes  # (n,), in two bytes or four
    low: float
    span: int


def whole_codes(values: NDArray[Any], most: int) -> Whole | None:
    """Count whole numbers from the lowest; None if one is a fraction, or there are too many.

    Parameters
    ----------
    values : ndarray of float64 or int64, shape (n,)
        At least one, none of the integers beyond 2**53.
    most : int
        Largest span that will do.
    """
    first = float(values[:GLANCE].min())
    if not abs(first) <= LARGEST or first != np.floor(first):
        return None
    codes: Codes = np.empty(len(values), dtype=np.uint16)
    ends = _count_from(first, values, codes)
    if ends is not None and NARROW <= ends[1] - ends[0] < most:
        # Two bytes hold no more than the end of such numbers.
        codes = np.empty(len(values), dtype=np.int32)
        ends = _count_from(first, values, codes)
    if ends is None or ends[1] - ends[0] >= most:
        return None
    _from_lowest(codes, ends[0])
    return Whole(codes, first + ends[0], ends[1] - ends[0] + 1)


def renumbered(codes: Codes, present: NDArray[np.bool_], *, in_place: bool = False) -> Codes:
    """Position of each code among those that are present."""
    dtype: type = np.int32 if len(present) <= LARGEST_INT else np.int64
    places: NDArray[np.signedinteger[Any]] = np.cumsum(present, dtype=dtype)
    places -= 1
    count = int(places[-1]) + 1 if len(places) else 0
    return in_blocks(lambda some: places[some], codes, count, codes if in_place else None)


def in_few_bytes(codes: Codes, most: int) -> Codes:
    """Codes below ``most``, in two bytes or four if that is enough."""
    return codes.astype(_type_for(most))


def _type_for(most: int) -> type:
    if most > LARGEST_INT:
        return np.int64
    return np.uint16 if most <= NARROW else np.int32


def in_blocks(
    codes_of: Callable[[NDArray[Any]], Codes],
    values: NDArray[Any],
    most: int,
    into: Codes | None = None,
) -> Codes:
    """Codes below ``most`` of some values, in no more bytes than they need, block by block."""
    codes: Codes = np.empty(len(values), dtype=_type_for(most)) if into is None else into

    def work(rows: slice) -> None:
        codes[rows] = codes_of(values[rows])

    _in_blocks(work, len(values))
    return codes


def _count_from(first: float, values: NDArray[Any], codes: Codes) -> tuple[int, int] | None:
    """Fill ``codes`` with how far values are from ``first``; return the lowest and the highest."""
    count = _count_in_numpy if native is None else _count_compiled
    glance = values[:GLANCE]
    return count(first, glance, codes[:GLANCE]) and count(first, values, codes)


def _count_compiled(first: float, values: NDArray[Any], codes: Codes) -> tuple[int, int] | None:
    ends = np.empty((parts_for(len(values)), 2), dtype=np.int64)
    if not native.whole_codes(np.ascontiguousarray(values), np.array([first]), codes, ends):
        return None
    return int(ends[:, 0].min()), int(ends[:, 1].max())


def _count_in_numpy(first: float, values: NDArray[Any], codes: Codes) -> tuple[int, int] | None:
    """Do that in blocks."""
    ends = np.empty((-(-len(values) // BLOCK), 2), dtype=np.int64)

    def work(rows: slice) -> bool:
        return _count_block(first, values[rows], codes[rows], ends[rows.start // BLOCK])

    if not all(_in_blocks(work, len(values))):
        return None
    return int(ends[:, 0].min()), int(ends[:, 1].max())


def _count_block(first: float, values: NDArray[Any], codes: Codes, ends: Ends) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        since = values - first
    low, high = since.min(), since.max()
    if not (low >= np.iinfo(np.int32).min and high <= np.iinfo(np.int32).max):
        return False
    whole = since.astype(np.int32)
    codes[:] = whole.astype(codes.dtype)
    ends[:] = low, high
    # The second tells a number too small to be told from the first.
    return bool((whole == since).all() and (since + first == values).all())


def _from_lowest(codes: Codes, low: int) -> None:
    """Count from the lowest, around the end of what two bytes hold."""
    if low != 0:
        codes -= codes.dtype.type(low % NARROW if codes.dtype == np.uint16 else low)


def _in_blocks(work: Callable[[slice], Any], n_rows: int) -> list[Any]:
    """Do some work on blocks of the rows, on all cores."""
    return map_on_cores(work, [slice(at, at + BLOCK) for at in range(0, n_rows, BLOCK)])
