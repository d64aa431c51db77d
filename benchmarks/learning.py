"""Learning from batches beside fitting all rows again: losses on new rows, widths of bands, time.

``python -m benchmarks.learning``
"""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

import tempocal as tc
from tempocal.errors import TempocalWarning

BATCHES, SIZE = 100, 40
FIRSTS = (1, 10)
NEW = 4000
CALIBRATORS = (tc.TemperatureScaling(), tc.PlattScaling(), tc.BetaCalibration())
CURVES = (tc.Constant(), tc.ExponentialDecay(), tc.PerStep(), tc.Spline(), tc.RandomWalk())


def main() -> None:
    """Print a line for each calibrator along each curve."""
    warnings.simplefilter("ignore", TempocalWarning)
    matches = tc.datasets.simulate_match(BATCHES * SIZE + NEW, seed=3)
    print(
        f"{BATCHES} batches of {SIZE} matches, of which 1 or 10 are the first call. NLL on {NEW:,} "
        "other matches\nless that of the same rows in one batch after the first, and of a "
        "fit to all rows. Width of bands beside that fit."
    )
    print(f"{'':42}{'first':>6}{'one batch':>12}{'refit':>12}{'band':>7}{'ms a batch':>12}")
    for calibrator in CALIBRATORS:
        for curve in CURVES:
            for first in FIRSTS:
                _line(tc.TemporalCalibrator(calibrator, curve), first, matches)


def _line(cal: tc.TemporalCalibrator, first: int, matches: Any) -> None:
    batches = list(_batches(matches, first))
    learned = clone(cal).partial_fit(**batches[0])
    start = time.perf_counter()
    for batch in batches[1:]:
        learned.partial_fit(**batch)
    spent = (time.perf_counter() - start) / len(batches[1:])
    everything = _rows(matches, 0, BATCHES * SIZE)
    rest = _rows(matches, first * SIZE, BATCHES * SIZE)
    same, full = clone(cal).partial_fit(**batches[0]), clone(cal).fit(**everything)
    same.partial_fit(**rest)
    loss = _loss(learned, matches)
    name = f"{type(cal.calibrator).__name__}, {type(cal.curve).__name__}"
    print(
        f"{name:42}{first:6}{loss - _loss(same, matches):+12.1e}"
        f"{loss - _loss(full, matches):+12.1e}{_width(learned) / _width(full):7.2f}"
        f"{1e3 * spent:12.1f}",
        flush=True,
    )


def _batches(matches: Any, first: int) -> Iterator[dict[str, Any]]:
    yield _rows(matches, 0, first * SIZE)
    for start in range(first * SIZE, BATCHES * SIZE, SIZE):
        yield _rows(matches, start, start + SIZE)


def _rows(matches: Any, start: int, stop: int) -> dict[str, Any]:
    own = (matches.sequence >= start) & (matches.sequence < stop)
    return {
        "logits": matches.logits[own],
        "y": matches.label[own],
        "time": matches.time[own],
        "groups": matches.sequence[own],
    }


def _loss(cal: tc.TemporalCalibrator, matches: Any) -> float:
    rows = _rows(matches, BATCHES * SIZE, BATCHES * SIZE + NEW)
    proba = cal.predict_proba(rows["logits"], time=rows["time"])
    return float(tc.metrics.nll(rows["y"], proba))


def _width(cal: tc.TemporalCalibrator) -> float:
    bands = cal.interval_at(np.arange(24)).values()
    return float(np.mean([np.mean(band.upper - band.lower) for band in bands]))


if __name__ == "__main__":
    main()
