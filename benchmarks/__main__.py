"""Run all benchmarks."""

import argparse
import json
import os
import platform
from pathlib import Path

import numpy as np
import sklearn

import tempocal as tc
from benchmarks import along_time, errors, fits, nonparametric
from benchmarks.timing import PRINTED


def main() -> None:
    """Print one table after the other, the larger ones last."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument(
        "--largest", type=int, default=10_000_000, help="most rows of a benchmark (10 million)"
    )
    parser.add_argument("--save", type=Path, help="a file for docs/pictures/speed.py")
    asked = parser.parse_args()
    largest = asked.largest
    machine = (
        f"tempocal {tc.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}, {os.cpu_count()} cores"
    )
    print(
        f"{machine}. The lowest time of all runs within a second, or of 5 "
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
    if asked.save:
        asked.save.parent.mkdir(parents=True, exist_ok=True)
        asked.save.write_text(json.dumps({"machine": machine, "tables": PRINTED}, indent=1) + "\n")


if __name__ == "__main__":
    main()
