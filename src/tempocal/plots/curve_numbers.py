"""Evaluate the parameters of a calibrator for plots, by its public methods only."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import check_time, from_seconds
from tempocal.links import Array

# With more distinct times than this, an evenly spaced grid is drawn instead.
MAX_TIMES = 300
# With more distinct values of a clock than this, they are binned into as many cells.
MAX_CELLS = 60


def count_clocks(time: Any) -> int:
    """Return the number of clocks in an array of times."""
    shape = np.shape(time) if not isinstance(time, tuple) else (0, len(time))
    return 2 if len(shape) == 2 and shape[1] == 2 else 1


def times_to_draw(time: Any) -> NDArray[Any]:
    """Return the distinct times in order, or an evenly spaced grid if there are many."""
    times = check_time(time, len(time))
    distinct = np.unique(times.values)
    if len(distinct) > MAX_TIMES:
        distinct = np.linspace(distinct[0], distinct[-1], MAX_TIMES)
    return from_seconds(distinct, times.kinds[0])


def read_curve(estimator: Any, times: NDArray[Any], level: float) -> dict[str, Any]:
    """Evaluate parameters and bands at some times, as arguments of a `CurveDisplay`."""
    curve: dict[str, Any] = {"values": estimator.parameters_at(times)}
    if hasattr(estimator, "interval_at"):
        bands = estimator.interval_at(times, level=level)
        curve["lower"] = {name: band.lower for name, band in bands.items()}
        curve["upper"] = {name: band.upper for name, band in bands.items()}
        curve["grouped"] = all(getattr(band, "n_groups", 0) is not None for band in bands.values())
    return curve


def one_point_per_model(
    times: NDArray[Any], values: dict[str, Array]
) -> tuple[NDArray[Any], dict[str, Array]]:
    """Merge successive times with equal parameters into one point at their middle."""
    columns = np.column_stack([each.reshape(len(times), -1) for each in values.values()])
    starts = np.flatnonzero(np.append(True, (np.diff(columns, axis=0) != 0.0).any(axis=1)))
    stops = np.append(starts[1:], len(times)) - 1
    middle = times[starts] + (times[stops] - times[starts]) / 2
    return middle, {name: each[starts] for name, each in values.items()}


def read_grid(estimator: Any, time: Any) -> tuple[tuple[Any, Any], dict[str, Array]]:
    """Evaluate parameters on the grid of two clocks; NaN in cells that no rows surround."""
    n_rows = len(time[0]) if isinstance(time, tuple) else len(time)
    times = check_time(time, n_rows, clocks=2)
    (centers_1, cell_1), (centers_2, cell_2) = (_cells(clock) for clock in times.values.T)
    has_rows = np.zeros((len(centers_1), len(centers_2)), dtype=bool)
    has_rows[cell_1, cell_2] = True
    is_defined = _between(has_rows)
    first = from_seconds(centers_1, times.kinds[0])
    second = from_seconds(centers_2, times.kinds[1])
    grid = (np.repeat(first, len(second)), np.tile(second, len(first)))
    found = {}
    for name, values in estimator.parameters_at(grid).items():
        numbers = np.array(values, dtype=np.float64).reshape(*has_rows.shape, *values.shape[1:])
        numbers[~is_defined] = np.nan
        found[name] = numbers
    return (first, second), found


def _between(has_rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Fill in cells with rows on both sides, along either clock, until none is left.

    A surface is defined there too. Beyond its rows it would be an extrapolation.
    """
    filled, before = has_rows, None
    while before is None or (filled != before).any():
        before = filled
        for axis in (0, 1):
            below = np.logical_or.accumulate(filled, axis=axis)
            above = np.flip(np.logical_or.accumulate(np.flip(filled, axis), axis=axis), axis)
            filled = filled | (below & above)
    return filled


def _cells(values: Array) -> tuple[Array, NDArray[np.intp]]:
    """Centers of cells and the cell of each value; one for each distinct value if these are few."""
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        raise InputError("a heat map needs at least two distinct times on each clock")
    if len(distinct) <= MAX_CELLS:
        return distinct, codes
    edges = np.linspace(distinct[0], distinct[-1], MAX_CELLS + 1)
    return 0.5 * (edges[1:] + edges[:-1]), np.searchsorted(edges[1:-1], values)
