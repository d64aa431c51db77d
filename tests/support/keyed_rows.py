"""Rows of one slope under many keys, for points with their moments."""

import numpy as np

from tempocal.rows import BinaryRows

N, KEYS = 60_000, 12


def make_rows(*, weighted: bool, features: int = 1, far: float = 0.0, n: int = N) -> BinaryRows:
    rng = np.random.default_rng(3)
    x, keys = 3 * rng.normal(size=(features, n)), rng.integers(KEYS, size=n)
    x[0, 0] += far
    weights = rng.random(n) + 0.5 if weighted else None
    # Nothing under the last key; targets that are smoothed.
    return BinaryRows(x, 0.9 * rng.random(n), weights=weights, keys=keys, n_keys=KEYS + 1)
