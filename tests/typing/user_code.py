"""A user's code, which mypy checks in strict mode and nobody runs."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import tempocal as tc


def calibrate(logits: list[float], labels: list[str]) -> NDArray[np.float64]:
    """Fit, read off, predict, save and load."""
    cal = tc.TemperatureScaling(shrinkage=0.5).fit(logits, labels)
    assert_type(cal, tc.TemperatureScaling)
    assert_type(cal.inverse_temperature_, float)
    assert_type(cal.summary(), tc.Summary)
    assert_type(cal.summary().nll_before, float)
    cal.save("model.json")
    proba: NDArray[np.float64] = tc.load("model.json").predict_proba(logits)
    return proba


def judge(labels: list[int], proba: NDArray[np.float64]) -> float:
    """Metrics are floats that know more."""
    error = tc.metrics.ece(labels, proba, bins=10)
    assert_type(error.estimator, str)
    assert_type(error.bins.confidence, NDArray[np.float64])
    return error + tc.metrics.nll(labels, proba)


def watch(forecasts: list[float]) -> bool:
    """Predict, finish, look."""
    monitor = tc.live.Monitor([6, 12], alpha=0.01)
    for name, proba in enumerate(forecasts):
        monitor.predict(name, proba, time=0)
        monitor.finish(name, 1)
    assert_type(monitor.status(), tc.live.Status)
    assert_type(monitor.status().stretches[0].e_value, float)
    return monitor.status().alarm


def mistaken() -> None:
    """What mypy must object to."""
    tc.TemperatureScaling(shrinkage="strong")  # type: ignore[arg-type]
    tc.PlattScaling(inputs="odds")  # type: ignore[arg-type]
    tc.live.Monitor().finish(1.5, 0)  # type: ignore[arg-type]
    tc.metrics.ece([0], [0.5], binning="wide")  # type: ignore[arg-type]
