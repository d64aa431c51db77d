"""Standard streams that whoever started the command has closed."""

import os
import sys


def occupy_closed() -> None:
    """Open the null device in place of each closed standard stream.

    Else the next file that is opened would get its number, and what a library prints would go into
    that file. ``sys.stdin`` and ``sys.stdout`` stay None, so that rows that were to come from there
    or go there are refused; nobody listens to the rest. Without ``sys.stderr``, click would print
    errors among the rows.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
