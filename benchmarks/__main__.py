"""Run all benchmarks."""

import argparse
import platform

import numpy as np
import sklearn

import tempocal as tc
from benchmarks import along_time, errors, fits, nonparametric


def main() -> None:
    """Print one table after the other, the larger ones last."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument(
        "--largest", type=int, default=10_000_000, help="most rows of a benchmark (10 million)"
    )
    largest = parser.parse_args().largest
    print(
        f"tempocal {tc.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}. The lowest time of all runs within a second, or of 5 "
        "that take longer, and its ratio to that of the first line."
    )
    for n in (10**5, 10**6, 10**7):
        if n <= largest:
            fits.binary(n)
    fits.multiclass(min(10**5, largest), 10)
    along_time.main(largest)
    for n in (10**6, 10**7):
        if n <= largest:
            errors.positive_class(n)
    for n in (10**5, 10**6):
        if n <= largest:
            nonparametric.isotonic(n)


if __name__ == "__main__":
    main()
