"""Peak memory and time of the two largest models: ``python -m benchmarks.memory``.

Matrix scaling and Dirichlet calibration of 100,000 rows of 100 classes have 10,100 coefficients.
"""

import argparse
import resource
import sys
from time import perf_counter

import tempocal as tc
from benchmarks.fits import simulate

# Kilobytes on Linux, bytes on macOS.
GIGABYTE = 1e9 if sys.platform == "darwin" else 1e6


def peak() -> float:
    """Return the most memory that this process ever had, in gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIGABYTE


def main(n: int = 100_000, n_classes: int = 100) -> None:
    """Fit both at a given strength, and with the strength from the data."""
    z, y = simulate(n, n_classes)
    print(f"{n:,} rows x {n_classes} classes: {z.nbytes / 1e9:.2f} GB of logits")
    print(f"peak memory before: {peak():.2f} GB")
    for kind in (tc.MatrixScaling, tc.DirichletCalibration):
        for shrinkage in (100.0, "auto"):
            start = perf_counter()
            summary = kind(shrinkage=shrinkage).fit(z, y).summary()
            print(
                f"{kind.__name__}(shrinkage={shrinkage!r}): {perf_counter() - start:.0f} s, "
                f"{summary.details['passes']} passes, NLL {summary.nll_before:.4f} -> "
                f"{summary.nll_after:.4f}, peak memory so far {peak():.2f} GB",
                flush=True,
            )


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__).parse_args()
    main()
