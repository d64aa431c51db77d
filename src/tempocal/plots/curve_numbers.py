"""Reading parameters off a calibrator, of which nothing is known but its methods."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import check_time, from_seconds
from tempocal.links import Array

# More distinct times than this are drawn as so many evenly spaced ones.
MAX_TIMES = 300
# Cells of a clock that has more distinct values.
MAX_CELLS = 60


def count_clocks(time: Any) -> int:
    """How many clocks times are on."""
    shape = np.shape(time) if not isinstance(time, tuple) else (0, len(time))
    return 2 if len(shape) == 2 and shape[1] == 2 else 1


def times_to_draw(time: Any) -> NDArray[Any]:
    """Distinct times in order, or evenly spaced ones where there are many."""
    times = check_time(time, len(time))
    found = np.unique(times.values)
    if len(found) > MAX_TIMES:
        found = np.linspace(found[0], found[-1], MAX_TIMES)
    return from_seconds(found, times.kinds[0])


def read_curve(estimator: Any, moments: NDArray[Any], level: float) -> dict[str, Any]:
    """Read parameters and bands off at some times."""
    read: dict[str, Any] = {"values": estimator.parameters_at(moments)}
    if hasattr(estimator, "interval_at"):
        bands = estimator.interval_at(moments, level=level)
        read["lower"] = {name: band.lower for name, band in bands.items()}
        read["upper"] = {name: band.upper for name, band in bands.items()}
        read["grouped"] = all(getattr(band, "n_groups", 0) is not None for band in bands.values())
    return read


def one_point_per_model(
    moments: NDArray[Any], values: dict[str, Array]
) -> tuple[NDArray[Any], dict[str, Array]]:
    """Keep one point for each model: where successive times have the same, it is at the middle."""
    every = np.column_stack([each.reshape(len(moments), -1) for each in values.values()])
    starts = np.flatnonzero(np.append(True, (np.diff(every, axis=0) != 0.0).any(axis=1)))
    stops = np.append(starts[1:], len(moments)) - 1
    middle = moments[starts] + (moments[stops] - moments[starts]) / 2
    return middle, {name: each[starts] for name, each in values.items()}


def read_grid(estimator: Any, time: Any) -> tuple[tuple[Any, Any], dict[str, Array]]:
    """Read parameters off at every pair of times; where there is no row, NaN."""
    n_rows = len(time[0]) if isinstance(time, tuple) else len(time)
    times = check_time(time, n_rows, clocks=2)
    (one, at_one), (other, at_other) = (_cells(clock) for clock in times.values.T)
    seen = np.zeros((len(one), len(other)), dtype=bool)
    seen[at_one, at_other] = True
    first, second = from_seconds(one, times.kinds[0]), from_seconds(other, times.kinds[1])
    grid = (np.repeat(first, len(other)), np.tile(second, len(one)))
    found = {}
    for name, values in estimator.parameters_at(grid).items():
        numbers = np.array(values, dtype=np.float64).reshape(*seen.shape, *values.shape[1:])
        numbers[~seen] = np.nan
        found[name] = numbers
    return (first, second), found


def _cells(values: Array) -> tuple[Array, NDArray[np.intp]]:
    """Middles of cells and the cell of each value; each distinct value its own, if few."""
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        raise InputError("a heat map needs at least two distinct times on each clock")
    if len(distinct) <= MAX_CELLS:
        return distinct, codes
    edges = np.linspace(distinct[0], distinct[-1], MAX_CELLS + 1)
    return 0.5 * (edges[1:] + edges[:-1]), np.searchsorted(edges[1:-1], values)
