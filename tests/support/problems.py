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


def softmax(diagonal: bool, n=600, seed=0) -> Problem:
    rng = np.random.default_rng(seed)
    z = 2 * rng.normal(size=(3, n))
    y = (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=0)
    identity = np.tile([1.0, 0.0], 3) if diagonal else np.eye(3, 4).ravel()
    return problem_of(PerClassRows(z, y, 3, diagonal=diagonal), identity)
