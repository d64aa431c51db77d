"""A paired gain over time as a table, and the stretches where it is sure to help or to hurt."""

from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import time_text
from tempocal.links import Array
from tempocal.metrics.estimates import IntervalEstimate
from tempocal.notebook import FrameLibrary, HtmlTable, as_frame, render

Effect = Literal["helps", "hurts", ""]

# With fewer groups intervals of skewed gains are too short, and what is called sure is too often
# wrong.
MIN_GROUPS = 100

_HEAD = ("from", "to", "rows", "sequences", "before", "after", "gain", "lower", "upper", "")


@dataclass(frozen=True, eq=False)
class GainStretch:
    """A run of adjacent time bins where the predictions after surely help, or surely hurt.

    Attributes
    ----------
    time_from, time_to : object
        Earliest and latest time of its rows.
    effect : {"helps", "hurts"}
        Which of the two.
    value : float
        Gain, mean over its rows.
    rows : int
        Number of its rows.
    """

    time_from: Any
    time_to: Any
    effect: Effect
    value: float
    rows: int


@dataclass(frozen=True, eq=False)
class GainOverTime:
    """A metric before minus after, over time: a table with one row for each time bin.

    ``pandas.DataFrame(table.columns())`` is the table.

    Attributes
    ----------
    time_from, time_to, time_middle : ndarray
        Earliest, latest and mean time of the rows in each time bin, in the type of the input.
    rows, sequences : ndarray of int
        Number of rows and of groups; without groups, every row is its own group.
    before, after : ndarray
        The metric of either set of predictions.
    value : ndarray
        The gain: before minus after, positive if the predictions after are better.
    lower, upper : ndarray
        Confidence interval of the gain in this time bin.
    lower_all, upper_all : ndarray
        Simultaneous confidence intervals: with probability ``level`` all of them hold together.
    effect : ndarray of str
        "helps" where ``lower_all`` is above 0, "hurts" where ``upper_all`` is below 0, else "".
        With fewer than 100 groups in total always "".
    mean : IntervalEstimate
        Mean gain over the time bins, with its own interval.
    estimator : str
        Name of the estimator, in words.
    level : float
        Confidence level.
    n_groups : int or None
        Total number of groups; None if rows were taken as independent.
    """

    time_from: NDArray[Any]
    time_to: NDArray[Any]
    time_middle: NDArray[Any]
    rows: NDArray[np.intp]
    sequences: NDArray[np.intp]
    before: Array
    after: Array
    value: Array
    lower: Array
    upper: Array
    lower_all: Array
    upper_all: Array
    effect: NDArray[np.str_]
    mean: IntervalEstimate
    estimator: str
    level: float
    n_groups: int | None

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in values.items() if isinstance(column, np.ndarray)}

    @property
    def _n_units(self) -> int:
        """Number of groups, or of rows where they are taken as independent."""
        return int(self.rows.sum()) if self.n_groups is None else self.n_groups

    def stretches(self, effect: Effect | None = None) -> tuple[GainStretch, ...]:
        """Return the runs of time bins that surely help or hurt, or those of one effect."""
        if effect not in (None, "helps", "hurts", ""):
            raise InputError(f'effect must be "helps", "hurts" or None, but it is {effect!r:.80}')
        found = []
        for kind, bins in groupby(range(len(self)), key=self.effect.tolist().__getitem__):
            if kind and effect in (None, kind):
                found.append(self._stretch(list(bins), kind))
        return tuple(found)

    def _stretch(self, bins: list[int], effect: Effect) -> GainStretch:
        share = self.rows[bins] / self.rows[bins].sum()
        mean = float(np.dot(share, self.value[bins]))
        first, last = self.time_from[bins[0]], self.time_to[bins[-1]]
        return GainStretch(first, last, effect, mean, int(self.rows[bins].sum()))

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a row for each time bin as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            What makes it; by default the first of these that is installed.
        """
        return as_frame(self.columns(), library)

    def __len__(self) -> int:
        return len(self.value)

    def _repr_html_(self) -> str:
        rows = [self._line(k) for k in range(len(self))]
        notes = [*effect_sentences(self), *self._why_no_claims()]
        return render(HtmlTable(self._title(), _HEAD, rows), *notes)

    def _title(self) -> str:
        units = "rows, taken as independent"
        if self.n_groups is not None:
            units = f"{self.n_groups} groups"
        return f"{self.estimator}, {self.level:.0%} intervals over {units}"

    def __str__(self) -> str:
        lines: list[tuple[str, ...]] = [_HEAD]
        lines += [self._line(k) for k in range(len(self))]
        widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
        text = [self._title(), *("".join(map(str.rjust, line, widths)).rstrip() for line in lines)]
        return "\n".join([*text, *effect_sentences(self), *self._why_no_claims()])

    def _why_no_claims(self) -> list[str]:
        if self._n_units >= MIN_GROUPS:
            return []
        units = "rows" if self.n_groups is None else "groups"
        return [
            f"Nothing is said to help or hurt for sure: that takes {MIN_GROUPS} {units}, and "
            f"there are {self._n_units}."
        ]

    def _line(self, k: int) -> tuple[str, ...]:
        numbers = (self.before[k], self.after[k])
        signed = (self.value[k], self.lower[k], self.upper[k])
        return (
            time_text(self.time_from[k]),
            time_text(self.time_to[k]),
            str(self.rows[k]),
            str(self.sequences[k]),
            *(f"{number:.4f}" for number in numbers),
            *(f"{number:+.4f}" for number in signed),
            str(self.effect[k]),
        )


def effect_sentences(
    table: GainOverTime, subject: str = "it", effect: Effect | None = None
) -> list[str]:
    """Say where the subject surely helps or hurts; the simultaneous intervals decide."""
    metric = table.estimator.removeprefix("gain in ")
    return [_sentence(one, metric, subject) for one in table.stretches(effect)]


def _sentence(stretch: GainStretch, metric: str, subject: str) -> str:
    one, other = time_text(stretch.time_from), time_text(stretch.time_to)
    when = f"At time {one}" if one == other else f"From time {one} to {other}"
    which = "lower" if stretch.effect == "helps" else "higher"
    by = f"{which} by {abs(stretch.value):.4f}"
    return f"{when} {subject} surely {stretch.effect}: {metric} {by}."
