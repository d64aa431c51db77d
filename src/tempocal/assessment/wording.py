"""Numbers, times and names of methods as text."""

from typing import Any

from tempocal.inputs import time_text
from tempocal.metrics import IntervalEstimate


def printable(text: object) -> str:
    """Replace control characters in a name from the data."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(text))


# What each method is called, and what it does.
METHOD_NAMES: dict[str, tuple[str, str]] = {
    "raw": ("raw predictions", "as they are"),
    "global": ("one temperature", "temperature scaling, the same at all times"),
    "along time": ("calibrated along time", "candidates averaged by cross-validation"),
}
_CALIBRATORS = {
    "TemperatureScaling": "temperature scaling",
    "PlattScaling": "Platt scaling (slope and bias)",
    "VectorScaling": "vector scaling (slope and bias of each class)",
    "BetaCalibration": "beta calibration",
    "MatrixScaling": "matrix scaling",
    "DirichletCalibration": "Dirichlet calibration",
    "QuadraticScaling": "quadratic scaling (slope, curvature and bias)",
    "IsotonicCalibration": "isotonic regression",
    "NearIsotonicEnsemble": "near-isotonic regression",
    "HistogramBinning": "histogram binning",
    "BayesianBinning": "Bayesian binning",
}
_CURVES = {
    "Constant": "the same at all times",
    "ExponentialDecay": "along an exponential curve",
    "Spline": "along a spline",
    "RandomWalk": "along a random walk",
    "Logarithmic": "along a logarithm",
    "PerStep": "with a fit for each step",
}


def method_text(name: str) -> str:
    """Return a candidate, such as "TemperatureScaling, Spline", or an average in words."""
    average, led_by, leader = name.partition("led by ")
    if led_by:
        return f"{average}{led_by}{method_text(leader)}"
    if name == "Identity":
        return "the raw predictions"
    calibrator, _, curve = name.partition(", ")
    if calibrator not in _CALIBRATORS or curve not in _CURVES:
        return name
    return f"{_CALIBRATORS[calibrator]} {_CURVES[curve]}"


def span_text(first: Any, last: Any, time_name: str) -> str:
    """Return a span of time in words."""
    one, other = time_text(first), time_text(last)
    return f"at {time_name} {one}" if one == other else f"from {time_name} {one} to {other}"


def interval_text(estimate: IntervalEstimate, digits: int = 3) -> str:
    """Return a number with its interval, or with its upper bound only."""
    if estimate.only_upper:
        return f"{estimate:.{digits}f} (at most {estimate.upper:.{digits}f})"
    interval = f"{estimate.lower:.{digits}f} to {estimate.upper:.{digits}f}"
    return f"{estimate:.{digits}f} ({interval})"


def points_text(share: float) -> str:
    """Return a difference of probabilities in percentage points."""
    return f"{100.0 * abs(share):.1f} percentage points"
