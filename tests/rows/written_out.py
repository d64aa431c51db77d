"""The sums over rows, written out as a loop over rows.

Every model is a softmax of ``eta = design @ theta`` with a design matrix of shape (classes,
coefficients) for each row, and a target probability for each class.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from tempocal.rows import BinaryRows, PerClassRows, Rows, SharedRows, Sums

KINDS = ["binary", "shared", "diagonal", "full"]
N_CLASSES = 3


@dataclass(frozen=True)
class Case:
    """Some rows under some keys."""

    kind: str
    z: np.ndarray  # (classes, n)
    targets: np.ndarray
    weights: np.ndarray | None
    keys: np.ndarray
    n_keys: int

    @classmethod
    def random(cls, kind: str, keys: np.ndarray, n_keys: int, *, weighted: bool, seed=0) -> "Case":
        rng = np.random.default_rng(seed)
        n = len(keys)
        z = 2 * rng.normal(size=(N_CLASSES, n))
        targets = rng.random(n) if kind == "binary" else rng.integers(0, N_CLASSES, n)
        return cls(kind, z, targets, rng.random(n) if weighted else None, keys, n_keys)

    def rows(self) -> Rows:
        common = {"weights": self.weights, "keys": self.keys, "n_keys": self.n_keys}
        if self.kind == "binary":
            return BinaryRows(self.z, self.targets, **common)
        if self.kind == "shared":
            return SharedRows(self.z, self.targets, **common)
        diagonal = self.kind == "diagonal"
        return PerClassRows(self.z, self.targets, N_CLASSES, diagonal=diagonal, **common)

    def theta(self, seed=1) -> np.ndarray:
        width = self._design(0).shape[1]
        return np.random.default_rng(seed).normal(size=(self.n_keys, width))

    def sums(self, theta: np.ndarray) -> Sums:
        total = Sums.zeros(self.n_keys, theta.shape[1], hessian=True)
        for i, key in enumerate(self.keys):
            loss, gradient, hessian = self.row(i, theta)
            total.loss[key] += loss
            total.gradient[key] += gradient
            total.hessian[key] += hessian
        return total

    def row(self, i: int, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        design, target = self._design(i), self._target(i)
        eta = design @ theta[self.keys[i]]
        log_p = eta - np.logaddexp.reduce(eta)
        p = np.exp(log_p)
        weight = 1.0 if self.weights is None else self.weights[i]
        variance = np.diag(p) - np.outer(p, p)
        return (
            -weight * (target @ log_p),
            weight * (design.T @ (p - target)),
            weight * (design.T @ variance @ design),
        )

    def _design(self, i: int) -> np.ndarray:
        x = self.z[:, i]
        if self.kind == "binary":
            return np.stack([0 * x, x])
        if self.kind == "shared":
            return x[:, None]
        if self.kind == "full":
            return np.kron(np.eye(N_CLASSES), np.append(x, 1.0))
        return block_diag(*([value, 1.0] for value in x))

    def _target(self, i: int) -> np.ndarray:
        t = self.targets[i]
        return np.array([1 - t, t]) if self.kind == "binary" else np.eye(N_CLASSES)[t]
