"""A line on the terminal while something takes long."""

import sys
import time
from types import TracebackType
from typing import Self

# Seconds before anything is said, and between two lines.
PATIENCE, PAUSE = 2.0, 0.5


class Progress:
    """Count steps, and show how far it is and how long it will take.

    Parameters
    ----------
    total : int
        How many steps there are.
    shown : bool or None
        Whether to show anything; None shows it on a terminal only.
    """

    def __init__(self, total: int, shown: bool | None = None) -> None:
        self._total = total
        self._shown = _is_terminal() if shown is None else shown
        self._start = self._last = time.monotonic()
        self._done = self._width = 0

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

    def step(self, doing: str) -> None:
        """One more step is done; ``doing`` is what it was."""
        self._done += 1
        now = time.monotonic()
        if not self._shown or now - self._start < PATIENCE or now - self._last < PAUSE:
            return
        self._last = now
        left = (now - self._start) / self._done * (self._total - self._done)
        line = f"{self._done} of {self._total}, about {left:.0f} s left: {doing}"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = max(self._width, len(line))


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # None where it was closed
