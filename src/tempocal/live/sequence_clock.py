"""The clock by which the age of open sequences is counted: times of predictions, or sequences."""

from dataclasses import dataclass
from typing import Any, Literal

from tempocal.errors import InputError
from tempocal.inputs import TimeKind, check_positive_int, check_time
from tempocal.links import Array

Kind = TimeKind | Literal["count"]


@dataclass
class SequenceClock:
    """What kind of clock the first prediction had; "count": none, so sequences are counted."""

    kind: Kind | None = None

    def read(self, clock: Any, n_rows: int) -> tuple[Array | None, Kind]:
        """Return when predictions were made, in seconds, and the kind of clock; keep nothing."""
        if clock is None:
            self._require_kind("count")
            return None, "count"
        times = check_time(clock, n_rows, name="clock")
        self._require_kind(times.kinds[0])
        return times.values, times.kinds[0]

    def read_age(self, age: Any) -> float:
        """Return an age in the unit of this clock."""
        if self.kind in (None, "count"):
            return float(check_positive_int(age, "age"))
        times = check_time([age], 1, name="age")
        wanted = "timedelta" if self.kind == "datetime" else self.kind
        if times.kinds[0] != wanted or times.values[0] <= 0.0:
            raise InputError(
                f"age is {age!r:.80}, but the clock is {self.kind}: it must be a {wanted} above 0"
            )
        return float(times.values[0])

    def _require_kind(self, kind: Kind) -> None:
        if self.kind in (None, kind):
            return
        given, before = ("not given" if one == "count" else f"{one}" for one in (kind, self.kind))
        raise InputError(
            f"clock is {given} and was {before} before: all predictions of a monitor have one "
            "clock, or none has"
        )
