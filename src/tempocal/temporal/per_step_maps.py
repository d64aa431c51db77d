"""Nonparametric calibrators along time: a separate map for each step."""

from typing import Any

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.curves.curve import Curve, Track
from tempocal.errors import InputError
from tempocal.maps import BinBasis, MapPerStep, StepBasis

# With more steps than this, at least this many rows per step are required on average.
MAX_UNCHECKED_STEPS, MIN_ROWS_PER_STEP = 100, 5


def fit_each_step(calibrator: Calibrator, curve: Curve, track: Track, data: FitData) -> MapPerStep:
    """Fit the calibrator separately to the rows of each step."""
    basis = track.shape(()).basis if track.n_rates == 0 else None
    if not isinstance(basis, StepBasis | BinBasis) or not track.shape(()).separate:
        raise InputError(
            f"{type(calibrator).__name__} has no coefficients that could follow {curve!r}: along "
            "time it goes with PerStep(), or with PerStep(bins=...) for stretches of time"
        )
    if getattr(basis, "unseen", None) == "interpolate":
        raise InputError(
            f'{type(calibrator).__name__} has no coefficients between which unseen="interpolate" '
            'could draw a line: unseen="nearest" or "error" it must be'
        )
    if track.grid.n_keys > max(MAX_UNCHECKED_STEPS, data.n_rows / MIN_ROWS_PER_STEP):
        raise InputError(
            f"time has {track.grid.n_keys} distinct values in {data.n_rows} rows, too few "
            f"of each for {type(calibrator).__name__}: PerStep(bins=20) cuts time into stretches"
        )
    order = np.argsort(track.grid.keys, kind="stable")
    stops = np.cumsum(np.bincount(track.grid.keys, minlength=track.grid.n_keys))
    maps: list[Any] = [
        calibrator._fit_map(data.take(rows)).map for rows in np.split(order, stops[:-1])
    ]
    return MapPerStep(basis, tuple(maps))
