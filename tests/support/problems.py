"""Problems for the solver that several tests share."""

import numpy as np

from tempocal.rows import BinaryRows, PerClassRows
from tempocal.solve import Problem


def problem_of(rows, identity, lower=None) -> Problem:
    identity = np.asarray(identity, dtype=float)
    return Problem.around(
        rows, identity, biases=identity == 0, lower=-np.inf if lower is None else lower
    )


def line(n=500, seed=0, scale=3.0) -> Problem:
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    t = (rng.random(n) < 1 / (1 + np.exp(-2 * u - 0.4))).astype(float)
    return problem_of(BinaryRows(np.stack([scale * u, np.ones(n)]), t), [1.0, 0.0])


def softmax(diagonal: bool, n=600, seed=0, n_classes=3) -> Problem:
    rng = np.random.default_rng(seed)
    z = 2 * rng.normal(size=(n_classes, n))
    y = (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=0)
    full = np.eye(n_classes, n_classes + 1).ravel()
    identity = np.tile([1.0, 0.0], n_classes) if diagonal else full
    return problem_of(PerClassRows(z, y, n_classes, diagonal=diagonal), identity)
