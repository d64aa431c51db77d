"""Problems for the solver that several tests share."""

import numpy as np

from tempocal.rows import BinaryRows, PerClassRows, SurrogateRows
from tempocal.solve import Penalty, Problem


def with_surrogate(rows):
    """As in a calibrator: few rows before many of them."""
    few = rows.few()
    return rows if few is None else SurrogateRows(few, rows)


def problem_of(rows, identity, lower=-np.inf) -> Problem:
    """The same coefficients at all keys; those that are 0 in the identity are biases.

    Many rows have a surrogate.
    """
    identity = np.asarray(identity, dtype=float)
    slopes = np.asarray(identity != 0, dtype=float)
    return Problem(
        rows=with_surrogate(rows),
        basis=np.zeros(rows.n_keys, dtype=np.intp),
        identity=identity,
        penalties=(Penalty("slopes", slopes), Penalty("biases", 1.0 - slopes)),
        lower=np.full(identity.shape, lower, dtype=float),
        baseline_penalty=np.zeros_like(identity),
        moment=np.ones((1, 1)),
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
