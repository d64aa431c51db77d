"""All calibrators, and data to fit them to."""

from typing import Any

import numpy as np

import tempocal as tc
from tempocal.calibrators.parametric import ParametricCalibrator
from tempocal.registry import public_names

ALL: list[Any] = [getattr(tc, name) for name in public_names("calibrators") if name != "Summary"]
PARAMETRIC: list[Any] = [kind for kind in ALL if issubclass(kind, ParametricCalibrator)]


def at_fixed_shrinkage(kind: Any) -> Any:
    """Return a calibrator whose strength does not depend on how the rows are dealt to folds."""
    if kind in (tc.MatrixScaling, tc.DirichletCalibration):
        return kind(shrinkage=1.0, regularization="l2")
    return kind(shrinkage=1.0) if kind in PARAMETRIC else kind()


def simulate(n_classes: int, n: int, seed: int = 0, slope: float = 0.6) -> tuple[Any, Any]:
    """Return overconfident logits, one column for two classes, and labels."""
    rng = np.random.default_rng(seed)
    if n_classes == 2:
        z = 2 * rng.normal(size=n)
        return z, (rng.random(n) < 1 / (1 + np.exp(-slope * z - 0.2))).astype(int)
    z = 2 * rng.normal(size=(n, n_classes))
    return z, (slope * z + rng.gumbel(size=z.shape)).argmax(axis=1)
