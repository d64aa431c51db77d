"""Which open sequences ``tempocal monitor`` abandons."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import click

from tempocal.cli.terminal import echo
from tempocal.live import Monitor

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")


@dataclass(frozen=True)
class Abandoning:
    """An age at which open sequences are abandoned, some of them by name, and the clock."""

    age: Any = None  # a number, or a duration
    names: tuple[str, ...] = ()
    clock: str | None = None  # the column
    unrelated: bool = False

    @classmethod
    def of(
        cls, age: str | None, names: tuple[str, ...], clock: str | None, *, unrelated: bool
    ) -> "Abandoning":
        """Read the options."""
        if unrelated and not names:
            raise click.UsageError(
                "--unrelated-to-outcome is about sequences that --abandon names: that a sequence "
                "is still open may have to do with its outcome"
            )
        return cls(None if age is None else _read_age(age), names, clock, unrelated)

    def apply(self, monitor: Monitor) -> None:
        """Abandon what is to be abandoned, and say how many."""
        for name in self.names:
            monitor.abandon(name, unrelated_to_outcome=self.unrelated)
        if self.age is None:
            return
        found = monitor.abandon_after(self.age)
        if found:
            echo(
                f"abandoned {len(found):,} sequences that were still open, the first of them "
                f"{found[0]!r}",
                err=True,
            )


def _read_age(text: str) -> Any:
    """Return a whole number, a number, or a duration."""
    found = _DURATION.fullmatch(text.strip())
    if found:
        return timedelta(**{_UNITS[found[2]]: float(found[1])})
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise click.BadParameter(
            f"{text!r} is neither a number above 0 nor a duration such as 30d, 12h or 45m.",
            param_hint="'--abandon-after'",
        )
    return int(number) if number.is_integer() else number
