"""Fits along time: a model for each step beside a loop, the exponential beside general solvers."""

import argparse
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import tempocal as tc
from benchmarks.timing import lowest_time, print_table

Array = NDArray[np.float64]


def simulate(n: int, steps: int) -> tuple[Array, NDArray[np.int64], Array]:
    """Return logits that are too sure early on, labels and times."""
    rng = np.random.default_rng(0)
    time = rng.integers(steps, size=n).astype(np.float64)
    z = 3 * rng.normal(size=n)
    true = (1.0 - 0.6 * np.exp(-5.0 * time / steps)) * z
    return z, (rng.random(n) < expit(true)).astype(np.int64), time


def per_step(n: int, steps: int) -> None:
    """One temperature for each step; the value is the mean NLL."""
    z, y, time = simulate(n, steps)

    def ours(curve: Any = None, shrinkage: Any = 0, **given: Any) -> float:
        cal = tc.TemporalCalibrator(curve=curve or tc.PerStep(), shrinkage=shrinkage)
        return cal.fit(z, y, time=time, **given).summary().nll_after

    def loop(solver: str) -> float:
        total = 0.0
        for step in range(steps):
            rows = time == step
            model = LogisticRegression(C=np.inf, fit_intercept=False, solver=solver)
            slope = float(model.fit(z[rows, None], y[rows]).coef_[0, 0])
            total += _loss(slope * z[rows], y[rows]).sum()
        return total / n

    timed = [lowest_time("tempocal PerStep, maximum likelihood", ours)]
    groups, weights = np.arange(n) // 25, np.ones(n)
    timed.append(lowest_time("the same, groups of 25 rows", lambda: ours(groups=groups)))
    timed.append(lowest_time("the same, weights", lambda: ours(sample_weight=weights)))
    usual = {"shrinkage": "auto", "groups": groups}
    mixed = {**usual, "groups": np.random.default_rng(0).permutation(groups)}
    for name, given in (
        ("PerStep, groups, shrinkage from the data", usual),
        ("the same, rows of a group far apart", mixed),
        (
            "ExponentialDecay, groups, shrinkage from the data",
            usual | {"curve": tc.ExponentialDecay()},
        ),
        ("Spline, groups, shrinkage from the data", usual | {"curve": tc.Spline()}),
    ):
        timed.append(lowest_time(name, lambda given=given: ours(**given)))  # type: ignore[misc]
    for solver in ("lbfgs", "newton-cholesky"):
        name = f"loop over scikit-learn LogisticRegression, {solver}"
        timed.append(lowest_time(name, lambda solver=solver: loop(solver), repeats=3))  # type: ignore[misc]
    print_table(f"Temperature per step, {n:,} rows x {steps} steps", "NLL", timed)


def exponential(n: int, steps: int) -> None:
    """Fit the paper's g(t); the value is the mean NLL."""
    z, y, time = simulate(n, steps)
    scaled = time / time.max()

    def ours() -> tuple[float, int]:
        cal = tc.TemporalCalibrator(shrinkage=0).fit(z, y, time=time)
        return cal.summary().nll_after, cal.summary().details["passes"]

    timed = [
        lowest_time("tempocal ExponentialDecay", lambda: ours()[0]),
        lowest_time("scipy L-BFGS-B on NumPy, one start", lambda: _scipy(z, y, scaled), repeats=2),
        lowest_time(
            "Adam in PyTorch, 500 steps, one start", lambda: _adam(z, y, scaled), repeats=1
        ),
    ]
    print_table(f"Exponential, {n:,} rows x {steps} steps", "NLL", timed)
    print(f"  tempocal made {ours()[1]} pass(es) over rows or samples of them")


def auto(n: int) -> None:
    """Choose among the default candidates, on simulated matches; the value is the mean NLL."""
    matches = tc.datasets.simulate_match(n // 20)
    rows = slice(0, n)

    def ours() -> float:
        cal = tc.AutoTemporalCalibrator().fit(
            matches.logits[rows],
            matches.label[rows],
            time=matches.time[rows],
            groups=matches.sequence[rows],
        )
        return cal.summary().nll_after

    timed = [lowest_time("tempocal AutoTemporalCalibrator", ours, repeats=1)]
    print_table(f"Auto, {len(matches.logits[rows]):,} rows in sequences", "NLL", timed)


def _loss(eta: Array, y: NDArray[np.int64]) -> Array:
    return np.asarray(np.logaddexp(0.0, eta) - y * eta)


def _scipy(z: Array, y: NDArray[np.int64], time: Array) -> float:
    def objective(x: Array) -> tuple[float, Array]:
        gamma, alpha, beta = x
        decay = np.exp(-beta * time)
        eta = (gamma - alpha * decay) * z
        residual = (expit(eta) - y) * z
        slopes = [residual.mean(), -(residual * decay).mean()]
        return float(_loss(eta, y).mean()), np.array(
            [*slopes, (residual * alpha * time * decay).mean()]
        )

    return float(minimize(objective, [1.0, 0.1, 1.0], jac=True, method="L-BFGS-B").fun)


def _adam(z: Array, y: NDArray[np.int64], time: Array) -> float:
    logits, labels, times = (torch.tensor(each, dtype=torch.float64) for each in (z, y, time))
    x = torch.tensor([1.0, 0.1, 1.0], dtype=torch.float64, requires_grad=True)
    solver = torch.optim.Adam([x], lr=0.02)
    loss: Any = None
    for _ in range(500):
        solver.zero_grad()
        eta = (x[0] - x[1] * torch.exp(-x[2] * times)) * logits
        loss = torch.nn.functional.binary_cross_entropy_with_logits(eta, labels)
        loss.backward()
        solver.step()
    return float(loss.detach())


def main(largest: int = 10**6) -> None:
    """Print all tables."""
    for n in (10**5, 10**6):
        if n <= largest:
            per_step(n, 36)
            per_step(n, 1000)
            exponential(n, 36)
            auto(n)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.along_time", description=__doc__)
    parser.add_argument("--largest", type=int, default=10**6, help="most rows (1 million)")
    main(parser.parse_args().largest)
