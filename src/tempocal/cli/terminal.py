"""Output to the terminal: text, tables, JSON, and progress."""

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from threading import Timer
from typing import Any

import click

# Seconds before progress is shown.
PROGRESS_DELAY = 2.0
# Seconds between lines where it is no terminal.
LOG_INTERVAL = 10.0
# Control characters other than newline and tab, and surrogates, which no encoding can write. Names
# of columns, classes and files may contain any of them.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Replace control characters, so that a terminal does not interpret them.

    Examples
    --------
    >>> printable("red \x1b[31m")
    'red �[31m'
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def echo(text: str, *, err: bool = False) -> None:
    """Print text, or a note on standard error."""
    # A note that cannot be written, as on a full disk, does not undo the work.
    with suppress(OSError) if err else nullcontext():
        click.echo(printable(text), err=err)


def echo_note(note: str | None) -> None:
    """Print a note on standard error, if there is one."""
    if note is not None:
        echo(note, err=True)


def show_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, the first column left-aligned and the others right-aligned."""
    if sys.stdout is None:  # closed
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for k, name in enumerate(head):
        is_text = k == 0 or name == "verdict"
        table.add_column(printable(name), justify="left" if is_text else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(printable, row))
    # Wide enough for every table: a narrow terminal wraps lines, but no number is truncated.
    console = Console(
        file=sys.stdout,
        width=400,
        force_terminal=sys.stdout.isatty(),
        highlight=False,
        markup=False,
    )
    click.secho(printable(title), bold=True)
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def show_json(content: Any) -> None:
    """Print JSON; numbers that are not finite become null."""
    echo(json.dumps(_finite(content), indent=2, ensure_ascii=False))


def number(value: float, digits: int = 4) -> str:
    """Return a number with a few decimals."""
    return f"{value:.{digits}f}" if math.isfinite(value) else str(value)


@contextmanager
def show_progress(doing: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done on standard error, after a delay.

    On a terminal it is a line that is rewritten; elsewhere what is called is a line at most every
    ten seconds.

    Parameters
    ----------
    doing : str
        The task, for the status line.

    Yields
    ------
    callable
        Call it with text to update the status line.
    """
    if sys.stderr is None:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        yield _log_lines(doing)
        return
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    status = Status(Text(printable(doing)), console=Console(stderr=True))
    timer = Timer(PROGRESS_DELAY, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda text: status.update(Text(printable(f"{doing}: {text}")))
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def _log_lines(doing: str) -> Callable[[str], None]:
    """Return a callback that writes lines, not too many."""
    last = time.monotonic()

    def say(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= LOG_INTERVAL:
            last = time.monotonic()
            echo(f"{doing}: {text}", err=True)

    return say


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(part) for part in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content
