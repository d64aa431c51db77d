"""The command line: one module for each subcommand, all of them on files of predictions.

Imports are lazy: help needs only click, and `apply` does not need scikit-learn.
"""

import os
import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line, or print which package is missing."""
    _replace_closed_streams()
    if find_spec("click") is None:
        sys.stderr.write(
            'Error: the command line needs click, which is missing: pip install "tempocal[cli]"\n'
        )
        raise SystemExit(1)
    from tempocal.cli.group import tempocal

    tempocal(prog_name="tempocal")


def _replace_closed_streams() -> None:
    """Open the null device in place of each closed standard stream.

    Otherwise the next file that is opened would get its number, and what a library prints would go
    into that file. ``sys.stdin`` and ``sys.stdout`` stay None, so that reading rows from there or
    writing rows there is refused. Without ``sys.stderr``, click would print errors among the rows.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
