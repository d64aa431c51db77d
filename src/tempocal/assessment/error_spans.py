"""When predictions are off: neighboring stretches whose error is sure, told as one."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from tempocal.metrics import OverTime

# Share of the error that must go in one direction, to call it by that.
ONE_WAY = 0.6
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
    """Find the spells: stretches whose error is more than chance shows in any of all stretches."""
    kinds = [direction(errors, overconfidence, k) for k in range(len(errors))]
    spells = []
    for kind, members in groupby(range(len(errors)), key=kinds.__getitem__):
        if kind is not None:
            spells.append(_spell(errors, overconfidence, list(members), kind))
    return tuple(spells)


def direction(errors: OverTime, overconfidence: OverTime, stretch: int) -> Direction | None:
    """Say which way most of the error goes, or that it goes both ways; None if it may be chance."""
    sure = errors.value[stretch] > errors.chance_ratio * errors.floor[stretch]
    if errors.only_upper[stretch] or not sure:
        return None
    one_way = overconfidence.value[stretch]
    if abs(one_way) < ONE_WAY * errors.value[stretch]:
        return "off in both directions"
    return "too sure" if one_way > 0.0 else "too timid"


def _spell(errors: OverTime, over: OverTime, members: list[int], kind: Direction) -> Spell:
    share = errors.rows[members] / errors.rows[members].sum()
    return Spell(
        errors.time_from[members[0]],
        errors.time_to[members[-1]],
        kind,
        float(np.dot(share, errors.value[members])),
        float(np.dot(share, over.value[members])),
    )
