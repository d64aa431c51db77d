"""Expected calibration error, beside torchmetrics and a NumPy one."""

import numpy as np
import torch
from numpy.typing import NDArray
from torchmetrics.functional.classification import binary_calibration_error

from benchmarks.timing import lowest_time, print_table
from tempocal.links import Array
from tempocal.metrics import ece


def positive_class(n: int, bins: int = 15) -> None:
    """ECE of the positive class in equal-width bins."""
    rng = np.random.default_rng(0)
    p = rng.random(n)
    y = (rng.random(n) < p**1.2).astype(np.int64)
    p_tensor, y_tensor = torch.from_numpy(p), torch.from_numpy(y)

    def peer() -> float:
        return float(binary_calibration_error(p_tensor, y_tensor, n_bins=bins))

    timed = [
        lowest_time("tempocal", lambda: float(ece(y, p, bins=bins, of="positive_class"))),
        lowest_time("NumPy, digitize and bincount", lambda: numpy_ece(y, p, bins)),
        lowest_time("torchmetrics", peer),
        lowest_time("np.sum, for scale", lambda: float(np.sum(p) / n)),
    ]
    print_table(f"ECE, {n:,} rows, {bins} bins", "value", timed)


def numpy_ece(y: NDArray[np.int64], p: Array, bins: int) -> float:
    """Write it out as one would."""
    where = np.digitize(p, np.linspace(0, 1, bins + 1)[1:-1])
    gap = np.bincount(where, weights=y - p, minlength=bins)
    return float(np.abs(gap).sum() / len(p))
