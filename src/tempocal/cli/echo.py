"""What is said on a terminal, in characters that it shows and does not obey."""

import re
from contextlib import nullcontext, suppress

import click

# Control characters other than the end of a line and the tabulator, and halves of surrogate pairs,
# which no encoding can write. Names of columns, classes and files may hold any of them.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Return text with the replacement character where it cannot be shown.

    Examples
    --------
    >>> plain("red \x1b[31m")
    'red �[31m'
    """
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text)


def say(text: str, *, err: bool = False) -> None:
    """Print text, on standard error if it is a note."""
    # A note that cannot be written, as where the disk is full, does not undo what was done.
    with suppress(OSError) if err else nullcontext():
        click.echo(plain(text), err=err)
