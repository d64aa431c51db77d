"""Numbers and times as a reader wants them."""

from typing import Any

import numpy as np

from tempocal.metrics import IntervalEstimate

_CALIBRATORS = {
    "TemperatureScaling": "temperature scaling",
    "PlattScaling": "Platt scaling (slope and bias)",
    "VectorScaling": "vector scaling (slope and bias of each class)",
    "BetaCalibration": "beta calibration",
}
_CURVES = {
    "Constant": "the same at all times",
    "ExponentialDecay": "along an exponential curve",
    "Spline": "along a spline",
    "RandomWalk": "along a random walk",
}


def method_text(name: str) -> str:
    """Return a candidate, such as "TemperatureScaling, Spline", in words."""
    calibrator, _, curve = name.partition(", ")
    if calibrator not in _CALIBRATORS or curve not in _CURVES:
        return name
    return f"{_CALIBRATORS[calibrator]} {_CURVES[curve]}"


def time_text(value: Any) -> str:
    """Return a time in words that are as short as it allows."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("M8[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00").removesuffix(":00")
    if isinstance(value, np.timedelta64):
        return _duration(float(value / np.timedelta64(1, "s")))
    return f"{float(value):.4g}" if abs(float(value)) < 1e5 else f"{float(value):,.0f}"


def span_text(first: Any, last: Any) -> str:
    """Return a stretch of time in words."""
    one, other = time_text(first), time_text(last)
    return f"at time {one}" if one == other else f"from time {one} to {other}"


def interval_text(estimate: IntervalEstimate, digits: int = 3) -> str:
    """Return a number with its interval, or with its bound alone."""
    if estimate.only_upper:
        return f"{estimate:.{digits}f} (at most {estimate.upper:.{digits}f})"
    ends = f"{estimate.lower:.{digits}f} to {estimate.upper:.{digits}f}"
    return f"{estimate:.{digits}f} ({ends})"


def points_text(share: float) -> str:
    """Return a difference of shares in percentage points."""
    return f"{100.0 * abs(share):.1f} percentage points"


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if abs(seconds) >= 2.0 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
