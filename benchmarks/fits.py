"""Fits of temperature scaling, beside scikit-learn."""

from typing import Any

import numpy as np
from sklearn.calibration import _TemperatureScaling
from sklearn.linear_model import LogisticRegression

import tempocal as tc
from benchmarks.timing import lowest_time, print_table


def simulate(n: int, n_classes: int) -> tuple[Any, Any]:
    """Return overconfident logits and labels."""
    rng = np.random.default_rng(0)
    if n_classes == 2:
        z = 3 * rng.normal(size=n)
        return z, (rng.random(n) < 1 / (1 + np.exp(-0.6 * z))).astype(np.int64)
    z = 2 * rng.normal(size=(n, n_classes))
    return z, (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=1)


def binary(n: int) -> None:
    """Temperature on one column of logits; the value is the inverse temperature."""
    z, y = simulate(n, 2)
    column = z[:, None]

    def ours(shrinkage: Any) -> float:
        return tc.TemperatureScaling(shrinkage=shrinkage).fit(z, y).inverse_temperature_

    def logistic(solver: str) -> float:
        model = LogisticRegression(C=np.inf, fit_intercept=False, solver=solver)
        return float(model.fit(column, y).coef_[0, 0])

    timed = [
        lowest_time("tempocal, maximum likelihood", lambda: ours(0)),
        lowest_time("tempocal, shrinkage from the data", lambda: ours("auto")),
        lowest_time("scikit-learn temperature scaling", lambda: _sklearn_temperature(z, y, 2.0)),
    ]
    for solver in ("lbfgs", "newton-cholesky", "newton-cg"):
        name = f"scikit-learn LogisticRegression, {solver}"
        timed.append(lowest_time(name, lambda solver=solver: logistic(solver)))  # type: ignore[misc]
    print_table(f"Temperature, {n:,} binary rows", "1/tau", timed)


def multiclass(n: int, n_classes: int) -> None:
    """Temperature on K columns of logits."""
    z, y = simulate(n, n_classes)

    def ours(shrinkage: Any) -> float:
        return tc.TemperatureScaling(shrinkage=shrinkage).fit(z, y).inverse_temperature_

    timed = [
        lowest_time("tempocal, maximum likelihood", lambda: ours(0)),
        lowest_time("tempocal, shrinkage from the data", lambda: ours("auto")),
        lowest_time("scikit-learn temperature scaling", lambda: _sklearn_temperature(z, y, 1.0)),
    ]
    print_table(f"Temperature, {n:,} rows x {n_classes} classes", "1/tau", timed)

    def logistic() -> float:
        model = LogisticRegression(C=np.inf, max_iter=1000).fit(z, y)
        return float(-model.predict_log_proba(z)[np.arange(n), y].mean())

    def matrix() -> float:
        return tc.MatrixScaling(shrinkage=0).fit(z, y).summary().nll_after

    timed = [
        lowest_time("tempocal MatrixScaling, maximum likelihood", matrix),
        lowest_time("scikit-learn LogisticRegression, lbfgs", logistic),
    ]
    print_table(f"Matrix scaling, {n:,} rows x {n_classes} classes", "NLL", timed)


def _sklearn_temperature(z: Any, y: Any, doubled: float) -> float:
    """Undo that it turns one column into two, (-z, z), and so finds half of the paper's number."""
    return doubled * float(_TemperatureScaling().fit(z, y).beta_)
