"""Platt's smoothed targets with several classes: ``python -m benchmarks.smoothing``.

Held-out NLL minus that of doing nothing, with and without smoothing, on simulated logits that are
overconfident, calibrated and underconfident, and on random forests. Negative is better.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import tempocal as tc

SLOPES = {"overconfident": 0.5, "calibrated": 1.0, "underconfident": 2.0}


def gains(z: Any, y: Any, new_z: Any, new_y: Any, inputs: Any) -> list[float]:
    """Return the held-out NLL of both minus that of the identity."""
    methods = [
        tc.Identity(inputs=inputs),
        tc.PlattScaling(inputs=inputs, smooth_targets=True),
        tc.PlattScaling(inputs=inputs, smooth_targets=False),
    ]
    rows = np.arange(len(new_y))
    losses = [-m.fit(z, y).predict_log_proba(new_z)[rows, new_y].mean() for m in methods]
    return [float(loss - losses[0]) for loss in losses[1:]]


def simulated(slope: float, n: int, n_classes: int, seed: int) -> list[float]:
    """Fit n rows and judge on 4,000 others."""
    rng = np.random.default_rng(seed)
    z = 2 * rng.normal(size=(n + 4000, n_classes))
    y = (slope * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    return gains(z[:n], y[:n], z[n:], y[n:], "logits")


def forest(load: Any, seed: int) -> list[float]:
    """Fit a forest to two fifths, calibrate on three tenths, judge on the rest."""
    X, y = load(return_X_y=True)
    X, rest, y, rest_y = train_test_split(X, y, train_size=0.4, random_state=seed, stratify=y)
    cal, new, cal_y, new_y = train_test_split(
        rest, rest_y, train_size=0.5, random_state=seed, stratify=rest_y
    )
    model = RandomForestClassifier(random_state=seed).fit(X, y)
    return gains(model.predict_proba(cal), cal_y, model.predict_proba(new), new_y, "proba")


def report(name: str, runs: list[list[float]]) -> None:
    """Print the means and how often each was worse than doing nothing."""
    smoothed, plain = np.array(runs).T
    print(
        f"{name:32}{smoothed.mean():+9.4f}{plain.mean():+9.4f}"
        f"{(smoothed > 0).sum():7d}{(plain > 0).sum():5d} of {len(runs)}"
    )


def main() -> None:
    """Print one line for each kind of data."""
    warnings.simplefilter("ignore", tc.errors.TempocalWarning)
    print(f"{'':32}{'smoothed':>9}{'not':>9}   worse than nothing")
    for n_classes in (3, 5):
        for n in (60, 300):
            for name, slope in SLOPES.items():
                runs = [simulated(slope, n, n_classes, seed) for seed in range(40)]
                report(f"{n_classes} classes, {n} rows, {name}", runs)
    for name, load in (("wine", load_wine), ("iris", load_iris)):
        report(f"forest on {name}", [forest(load, seed) for seed in range(20)])


if __name__ == "__main__":
    main()
