"""Progress of long computations: a line that is rewritten, or lines of a log."""

import sys
import time
from types import TracebackType
from typing import Self

# Seconds before the first line, and between updates.
INITIAL_DELAY, UPDATE_INTERVAL = 2.0, 0.5
# The same where lines cannot be rewritten, as in the log of a job.
LOG_DELAY, LOG_INTERVAL = 10.0, 10.0


class Progress:
    """Count steps, and show the progress and the estimated time left.

    Parameters
    ----------
    total : int
        Number of steps.
    shown : bool or None
        Whether to show anything; None shows it on a terminal and in a notebook. Elsewhere True
        writes a line at most every ten seconds.
    """

    def __init__(self, total: int, shown: bool | None = None) -> None:
        self._total = total
        self._rewrites = _is_terminal() or _is_notebook()
        self._shown = self._rewrites if shown is None else shown and sys.stderr is not None
        self._start = self._last_update = time.monotonic()
        self._n_done = self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clear()

    def step(self, name: str) -> None:
        """Count one step as done; ``name`` is shown."""
        self._n_done += 1
        passed = time.monotonic() - self._start
        seconds_left = passed / self._n_done * (self._total - self._n_done)
        self._show(f"{self._n_done} of {self._total}, about {seconds_left:.0f} s left: {name}")

    def begin(self, name: str) -> None:
        """Say which step begins, and count it."""
        self._n_done += 1
        # What the step shows of itself writes to the same line.
        self._clear()
        self._show(f"step {self._n_done} of {self._total}: {name}")

    def _show(self, line: str) -> None:
        now = time.monotonic()
        delay = INITIAL_DELAY if self._rewrites else LOG_DELAY
        interval = UPDATE_INTERVAL if self._rewrites else LOG_INTERVAL
        if not self._shown or now - self._start < delay or now - self._last_update < interval:
            return
        self._last_update = now
        sys.stderr.write("\r" + line.ljust(self._width) if self._rewrites else line + "\n")
        sys.stderr.flush()
        self._width = max(self._width, len(line)) if self._rewrites else 0

    def _clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # None where it was closed


def _is_notebook() -> bool:
    """Whether this is a kernel of Jupyter, whose output understands a carriage return."""
    shell = sys.modules.get("IPython")
    found = shell and shell.get_ipython()
    return type(found).__name__ == "ZMQInteractiveShell"
