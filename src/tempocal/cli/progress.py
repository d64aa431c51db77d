"""A line on the terminal while something takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

# Seconds before anything is said.
PATIENCE = 2.0


@contextmanager
def waiting(doing: str) -> Iterator[Callable[[str], None]]:
    """Show what is done, on standard error, on a terminal, after two seconds.

    Parameters
    ----------
    doing : str
        What is being done.

    Yields
    ------
    callable
        Call it to say how far it is.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    from tempocal.cli.echo import plain

    status = Status(Text(plain(doing)), console=Console(stderr=True))
    timer = Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda far: status.update(Text(plain(f"{doing}: {far}")))
    finally:
        timer.cancel()
        timer.join()
        status.stop()
