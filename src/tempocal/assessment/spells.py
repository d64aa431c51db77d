"""When predictions are off: neighboring stretches whose error is sure, told as one."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from tempocal.metrics import OverTime

Direction = Literal["too sure", "too timid", "off in both directions"]


@dataclass(frozen=True, eq=False)
class Spell:
    """Stretches in a row in which predictions are off in the same way."""

    first: Any
    last: Any
    direction: Direction
    error: float  # mean over its rows
    overconfidence: float


def find_spells(errors: OverTime, overconfidence: OverTime) -> tuple[Spell, ...]:
    """Find the spells: stretches whose error is over twice its floor."""
    kinds = [
        None if errors.only_upper[k] else _direction(overconfidence, k) for k in range(len(errors))
    ]
    spells = []
    for kind, members in groupby(range(len(errors)), key=kinds.__getitem__):
        if kind is not None:
            spells.append(_spell(errors, overconfidence, list(members), kind))
    return tuple(spells)


def _direction(overconfidence: OverTime, stretch: int) -> Direction:
    if overconfidence.lower[stretch] > 0.0:
        return "too sure"
    return "too timid" if overconfidence.upper[stretch] < 0.0 else "off in both directions"


def _spell(errors: OverTime, over: OverTime, members: list[int], kind: Direction) -> Spell:
    share = errors.rows[members] / errors.rows[members].sum()
    return Spell(
        errors.time_from[members[0]],
        errors.time_to[members[-1]],
        kind,
        float(np.dot(share, errors.value[members])),
        float(np.dot(share, over.value[members])),
    )
