"""One live prediction: the scorer beside NumPy and scikit-learn, in one run, as ratios.

``python -m benchmarks.scorer``
"""

import math
import platform
import tempfile
import timeit
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import tempocal as tc
from tempocal import scorer
from tempocal.errors import AtBoundWarning

MATCHES = tc.datasets.simulate_match(300)
LOGIT, TIME = 0.7, 5.0
ROW = (0.7, -0.2, 0.1)
RUNS = 100


def main() -> None:
    """Print nanoseconds a call, and how many times as long as the first line each took."""
    warnings.simplefilter("ignore", AtBoundWarning)
    print(
        f"tempocal {tc.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}. The lowest of {RUNS} runs, for one prediction."
    )
    lines = {"scorer: temperature, exponential": _scorer(_fit(None, tc.ExponentialDecay()))}
    lines |= {f"scorer: {name}": _scorer(cal) for name, cal in _binary().items()}
    lines |= {f"scorer: {name}": _scorer(cal, ROW) for name, cal in _three_classes().items()}
    lines |= {"math.exp, called in a function": lambda: math.exp(LOGIT)} | _others()
    times = _nanoseconds(lines)
    first = next(iter(times.values()))
    for name, time in times.items():
        print(f"  {name:62}{time:12,.0f} ns {time / first:9.2f}x")


def _nanoseconds(lines: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the lowest of many short runs, taken in turns so that all meet the same machine."""
    timers = {name: timeit.Timer(call) for name, call in lines.items()}
    for timer in timers.values():
        timer.timeit(10)  # the first calls import and fill caches
    calls = {name: max(5, int(0.005 / timer.timeit(10) * 10)) for name, timer in timers.items()}
    lowest = dict.fromkeys(lines, math.inf)
    for _ in range(RUNS):
        for name, timer in timers.items():
            lowest[name] = min(lowest[name], 1e9 * timer.timeit(calls[name]) / calls[name])
    return lowest


def _scorer(cal: Any, logit: Any = LOGIT) -> Callable[[], Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        cal.save(path)
        score = scorer.load(path).score
    return (lambda: score(logit, TIME)) if hasattr(cal, "time_kinds_") else lambda: score(logit)


def _fit(calibrator: Any, curve: Any, logits: Any = MATCHES.logits, y: Any = MATCHES.label) -> Any:
    cal = tc.TemporalCalibrator(calibrator, curve)
    return cal.fit(logits, y, time=MATCHES.time, groups=MATCHES.sequence)


def _binary() -> dict[str, Any]:
    platt = tc.PlattScaling()
    return {
        "Platt": platt.fit(MATCHES.logits, MATCHES.label),
        "Platt, exponential": _fit(platt, tc.ExponentialDecay()),
        "temperature, per step": _fit(None, tc.PerStep()),
        "Platt, per step": _fit(platt, tc.PerStep()),
        "temperature, spline": _fit(None, tc.Spline()),
        "Platt, spline": _fit(platt, tc.Spline()),
        "beta, exponential": _fit(tc.BetaCalibration(), tc.ExponentialDecay()),
        "isotonic, per step": _fit(tc.IsotonicCalibration(), tc.PerStep(bins=5)),
    }


def _three_classes() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    logits = np.column_stack([MATCHES.logits, rng.normal(size=(len(MATCHES.logits), 2))])
    y = (0.6 * logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    kinds = (tc.TemperatureScaling(), tc.VectorScaling(), tc.PlattScaling())
    return {
        f"three classes, {type(kind).__name__}, exponential": _fit(
            kind, tc.ExponentialDecay(), logits, y
        )
        for kind in kinds
    }


def _others() -> dict[str, Callable[[], Any]]:
    """Return what else gives the calibrated probability of one row."""
    cal = _fit(None, tc.ExponentialDecay())
    X = MATCHES.logits[:, None]
    regression = LogisticRegression().fit(X, MATCHES.label)
    calibrated = CalibratedClassifierCV(FrozenEstimator(regression)).fit(X, MATCHES.label)
    row, time, one = np.array([LOGIT]), np.array([TIME]), np.array([[LOGIT]])
    end, start = cal.map_.tables[0][:, 0]
    rate = cal.map_.bases[0].rate

    def formula() -> Any:
        share = np.exp(-rate * time)
        return 1.0 / (1.0 + np.exp(-((1.0 - share) * end + share * start) * row))

    return {
        "NumPy, the formula of the first line on arrays of one row": formula,
        "tempocal, predict_proba of one row": lambda: cal.predict_proba(row, time=time),
        "scikit-learn, LogisticRegression.predict_proba": lambda: regression.predict_proba(one),
        "scikit-learn, CalibratedClassifierCV.predict_proba": lambda: calibrated.predict_proba(one),
    }


if __name__ == "__main__":
    main()
