"""The ways to calibrate that are compared: the paper's three, and ours beside them.

The paper's are fitted by maximum likelihood (``shrinkage=0``), unless there is no finite optimum;
ours as anybody would use them.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tempocal as tc
from experiments.predictions import Predictions
from tempocal.errors import NoFiniteOptimumError, TempocalWarning

# Where steps have no finite optimum: a strength that others with hundreds of rows do not feel.
HARDLY_SHRUNK = 0.01


@dataclass(frozen=True)
class Method:
    """A calibrator and the clock that it follows."""

    name: str
    paper: bool  # whether it is the paper's
    make: Callable[[], Any] | None  # None for no calibration
    clock: Callable[[Predictions], Any] | None = None  # None where it knows no time


def by_length(rows: Predictions) -> Any:
    """Time is the length of the prefix: words, tokens or rounds."""
    return rows.length


def by_difference(rows: Predictions) -> Any:
    """Time is the absolute difference of the scores."""
    return rows.difference


def by_both(rows: Predictions) -> Any:
    """Two clocks: rounds and the difference of the scores."""
    return np.column_stack([rows.length, by_difference(rows)])


def per_step() -> Any:
    """Return the paper's discrete method: a temperature for each step."""
    return tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(), shrinkage=0)


NONE = Method("No calibration", True, None)
GLOBAL = Method("Global temperature", True, lambda: tc.TemperatureScaling(shrinkage=0))
SPLINE = Method(
    "Temperature, spline",
    False,
    lambda: tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline()),
    by_length,
)
SLOPE_AND_BIAS = Method(
    "Slope and bias, spline",
    False,
    lambda: tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()),
    by_length,
)
AUTO = Method("Auto", False, lambda: tc.AutoTemporalCalibrator(combine="choose"), by_length)
EXPONENTIAL = Method(
    "Temporal temperature",
    True,
    lambda: tc.TemporalCalibrator(tc.TemperatureScaling(), tc.ExponentialDecay(), shrinkage=0),
    by_length,
)
BY_ROUND = Method("Temporal (round)", True, per_step, by_length)
BY_SCORE = Method("Temporal (score)", True, per_step, by_difference)
SURFACE = Method(
    "Surface (round, score)",
    False,
    lambda: tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Surface(tc.Spline(), tc.Spline())),
    by_both,
)

TEXT = (NONE, GLOBAL, EXPONENTIAL, SPLINE, SLOPE_AND_BIAS, AUTO)
ROUNDS = (NONE, GLOBAL, BY_ROUND, BY_SCORE, SPLINE, SLOPE_AND_BIAS, SURFACE, AUTO)


def calibrate(method: Method, predictions: Predictions) -> tuple[Any, Any]:
    """Fit on the rows for calibration; return the fitted calibrator and logits of the test rows.

    Without calibration, the first is None. Probabilities would be rounded to 0 and 1, where a model
    is that sure of itself.
    """
    learn, test = (predictions.part(calibration=which) for which in (True, False))
    if method.make is None:
        return None, test.logit.astype(np.float64)
    keywords = {} if method.clock is None else {"time": method.clock(learn)}
    rows = {"groups": learn.groups, **keywords}
    calibrator = method.make()
    try:
        fitted = calibrator.fit(learn.logit, learn.label, **rows)
    except NoFiniteOptimumError as error:
        # Adam would stop somewhere on the way to infinity; where that is, the paper does not say.
        warnings.warn(f"{HARDLY_SHRUNK:g} of shrinkage: {error}", TempocalWarning, stacklevel=2)
        calibrator.set_params(shrinkage=HARDLY_SHRUNK)
        fitted = calibrator.fit(learn.logit, learn.label, **rows)
    at = {} if method.clock is None else {"time": method.clock(test)}
    return fitted, fitted.decision_function(test.logit, **at)
