"""A progress line on the terminal for long computations."""

import sys
import time
from types import TracebackType
from typing import Self

# Seconds before the first line, and between updates.
INITIAL_DELAY, UPDATE_INTERVAL = 2.0, 0.5


class Progress:
    """Count steps, and show the progress and the estimated time left.

    Parameters
    ----------
    total : int
        Number of steps.
    shown : bool or None
        Whether to show anything; None shows it on a terminal only.
    """

    def __init__(self, total: int, shown: bool | None = None) -> None:
        self._total = total
        self._shown = _is_terminal() if shown is None else shown
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
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def step(self, name: str) -> None:
        """Count one step; ``name`` is shown."""
        self._n_done += 1
        now = time.monotonic()
        if (
            not self._shown
            or now - self._start < INITIAL_DELAY
            or now - self._last_update < UPDATE_INTERVAL
        ):
            return
        self._last_update = now
        seconds_left = (now - self._start) / self._n_done * (self._total - self._n_done)
        line = f"{self._n_done} of {self._total}, about {seconds_left:.0f} s left: {name}"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = max(self._width, len(line))


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # None where it was closed
