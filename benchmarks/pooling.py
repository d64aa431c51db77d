"""Pooled classes: ``python -m benchmarks.pooling``.

Mean divergence from the truth, in thousandths of NLL, of calibrators of several classes on
simulated logits: calibrated, twice too large, with another slope for each class, and with classes
that are mixed up. Each number is the mean over eight sets of rows.
"""

from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

import tempocal as tc

METHODS = (
    tc.Identity,
    tc.TemperatureScaling,
    tc.VectorScaling,
    tc.MatrixScaling,
    tc.DirichletCalibration,
)
TRUTHS = ("calibrated", "too large", "by class", "mixed up")
SETS, NEW_ROWS = 8, 4000


def weights(truth: str, n_classes: int) -> Any:
    """Matrix by which logits are to be multiplied."""
    if truth == "by class":
        return np.diag(np.linspace(0.5, 1.5, n_classes))
    if truth == "mixed up":
        matrix = 0.7 * np.eye(n_classes)
        matrix[0, 1], matrix[1, 0], matrix[2, 0] = 0.4, 0.3, -0.3
        return matrix
    return (0.5 if truth == "too large" else 1.0) * np.eye(n_classes)


def simulate(n: int, truth: str, n_classes: int, seed: int) -> tuple[Any, Any, Any]:
    """Return logits, labels and true logits."""
    rng = np.random.default_rng(seed)
    z = 2.0 * rng.normal(size=(n, n_classes))
    z -= z.mean(axis=1, keepdims=True)
    true = z @ weights(truth, n_classes).T
    return z, (true + rng.gumbel(size=true.shape)).argmax(axis=1), true


def excess(n: int, truth: str, n_classes: int, seed: int) -> list[float]:
    """Fit every method to n rows; return its divergence from the truth on new ones."""
    z, y, _ = simulate(n, truth, n_classes, seed)
    new, _, true = simulate(NEW_ROWS, truth, n_classes, seed + 1000)
    log_p, p = log_softmax(true, axis=1), softmax(true, axis=1)
    found = []
    for method in METHODS:
        log_q = method(classes=range(n_classes)).fit(z, y).predict_log_proba(new)
        found.append(float((p * (log_p - log_q)).sum(axis=1).mean()))
    return found


def main() -> None:
    """Print a table."""
    names = [method.__name__ for method in METHODS]
    print("| classes | rows | logits | " + " | ".join(names) + " |")
    print("|---" * (3 + len(names)) + "|")
    for n_classes in (3, 11):
        for n in (60, 200, 1000):
            for truth in TRUTHS:
                means = np.mean([excess(n, truth, n_classes, seed) for seed in range(SETS)], axis=0)
                numbers = " | ".join(f"{1000 * value:.1f}" for value in means)
                print(f"| {n_classes} | {n} | {truth} | {numbers} |")


if __name__ == "__main__":
    main()
