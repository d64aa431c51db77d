"""Isotonic calibration, beside scikit-learn's isotonic regression; and the other two, for scale."""

import numpy as np
from sklearn.isotonic import IsotonicRegression

import tempocal as tc
from benchmarks.fits import simulate
from benchmarks.timing import lowest_time, print_table
from tempocal.calibrators.base import Calibrator


def isotonic(n: int) -> None:
    """Fit to one column of logits."""
    z, y = simulate(n, 2)

    def ours(kind: type[Calibrator]) -> float:
        return kind().fit(z, y).summary().nll_after

    def peer() -> float:
        IsotonicRegression(out_of_bounds="clip").fit(z, y)
        return np.nan

    timed = [
        lowest_time("tempocal IsotonicCalibration", lambda: ours(tc.IsotonicCalibration)),
        lowest_time("scikit-learn IsotonicRegression", peer),
        lowest_time("tempocal BayesianBinning", lambda: ours(tc.BayesianBinning)),
        lowest_time("tempocal NearIsotonicEnsemble", lambda: ours(tc.NearIsotonicEnsemble)),
        lowest_time("np.sort, for scale", lambda: float(np.sort(z)[0]) * np.nan),
    ]
    print_table(f"Isotonic, {n:,} rows", "NLL", timed)
