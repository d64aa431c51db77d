"""Which open sequences ``tempocal monitor`` abandons."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import click
from numpy.typing import NDArray

from tempocal.cli.terminal import echo
from tempocal.errors import InputError
from tempocal.live import Monitor

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_HINT = "'--abandon-after'"
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
        read = None if age is None else _read_age(age)
        if isinstance(read, timedelta) and clock is None:
            raise click.UsageError(
                f"--abandon-after {age} is a duration, and a duration needs --clock: name the "
                "column of when predictions were made, or give a number of sequences"
            )
        return cls(read, names, clock, unrelated)

    def check(self, made: NDArray[Any] | None) -> None:
        """Refuse an age of another kind than the times of the clock, if there are any."""
        if self.age is None or made is None or not len(made):
            return
        is_dates, is_duration = made.dtype.kind == "M", isinstance(self.age, timedelta)
        if is_dates and not is_duration:
            raise InputError(
                f"--abandon-after {self.age} is a number, but --clock {self.clock} holds dates: "
                f"give a duration, such as {self.age}d"
            )
        if is_duration and made.dtype.kind == "f":
            raise InputError(
                f"--abandon-after is a duration, but --clock {self.clock} holds numbers: give a "
                "number"
            )

    def apply(self, monitor: Monitor) -> None:
        """Abandon what is to be abandoned, and say how many."""
        for name in self.names:
            monitor.abandon(name, unrelated_to_outcome=self.unrelated)
        if self.age is None:
            return
        found = monitor.abandon_after(self.age)
        if found:
            echo(f"abandoned {_counted(found)}", err=True)


def _read_age(text: str) -> Any:
    """Return a whole number, a number, or a duration."""
    found = _DURATION.fullmatch(text.strip())
    if found:
        return _duration(text, **{_UNITS[found[2]]: float(found[1])})
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise click.BadParameter(
            f"{text!r} is neither a number above 0 nor a duration such as 30d, 12h or 45m.",
            param_hint=_HINT,
        )
    return int(number) if number.is_integer() else number


def _duration(text: str, **amount: float) -> timedelta:
    try:
        age = timedelta(**amount)
    except OverflowError:
        raise click.BadParameter(
            f"{text!r} is longer than any duration can be.", param_hint=_HINT
        ) from None
    if not age:
        raise click.BadParameter(f"{text!r} is no time at all.", param_hint=_HINT)
    return age


def _counted(found: Sequence[Any]) -> str:
    if len(found) == 1:
        return f"1 sequence that was still open, {found[0]!r}"
    return f"{len(found):,} sequences that were still open, the first of them {found[0]!r}"
