"""ECE of 40 million float32 rows beside its exact value: ``python -m benchmarks.precision``.

The probabilities are whole multiples of 2**-20, so that sums of whole numbers give the truth.
"""

import numpy as np

from benchmarks.memory import peak
from tempocal.metrics import ece

UNIT = 2**20


def main(n: int = 40_000_000, bins: int = 16) -> None:
    """Compare the metric, the truth and sums in float32."""
    rng = np.random.default_rng(0)
    steps = rng.integers(1, UNIT + 1, size=n, dtype=np.int32)
    y = rng.random(n, dtype=np.float32) < steps / np.float32(UNIT)
    proba = (steps / np.float32(UNIT)).astype(np.float32)
    bin_of = (steps - 1) // (UNIT // bins)
    # Whole numbers below 2**53 are exact in float64.
    gaps = np.bincount(bin_of, weights=steps - y * UNIT, minlength=bins)
    truth = float(np.abs(gaps).sum() / UNIT / n)
    naive = sum(abs(np.cumsum((proba - y)[bin_of == b], dtype=np.float32)[-1]) for b in range(bins))
    before = peak()
    value = float(ece(y, proba, bins=bins, of="positive_class"))
    print(f"exact     {truth:.12f}")
    print(f"tempocal  {value:.12f}   off by {abs(value - truth):.1e}")
    print(f"float32   {naive / n:.12f}   off by {abs(naive / n - truth):.1e}")
    print(f"peak memory {before:.1f} GB before the metric, {peak():.1f} GB after")


if __name__ == "__main__":
    main()
