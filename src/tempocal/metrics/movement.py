"""What the martingale check returns: excess movement in numbers and in words."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import time_text
from tempocal.links import Array

# A p-value below this is called a sign, in words.
LEVEL = 0.05

Verdict = Literal["moves too much", "moves too little", "no sign"]
MEANING: dict[Verdict, str] = {
    "moves too much": "they react too strongly, forget what came before, or were too sure",
    "moves too little": "they react too weakly to what comes in",
    "no sign": "they move about as much as their uncertainty shrinks",
}


@dataclass(frozen=True, eq=False)
class MovementTable:
    """One entry for each time bin; a step belongs where its later row lies.

    The fields are columns of equal length: ``pandas.DataFrame(vars(table))`` is the table.

    Attributes
    ----------
    time_from, time_to : ndarray
        Earliest and latest time of the steps.
    steps : ndarray of int
        Pairs of successive rows.
    sequences : ndarray of int
        Sequences that they come from.
    excess : ndarray
        Excess movement in the time bin, on average over these sequences.
    error : ndarray
        Its standard error if nothing is wrong; NaN where there are steps of one group only.
    z : ndarray
        Their ratio; NaN there as well.
    """

    time_from: NDArray[Any]
    time_to: NDArray[Any]
    steps: NDArray[np.intp]
    sequences: NDArray[np.intp]
    excess: Array
    error: Array
    z: Array


@dataclass(frozen=True, eq=False)
class MartingaleCheck:
    """How much forecasts move beyond what their uncertainty shrinks by; printing it says it.

    Attributes
    ----------
    excess : float
        Movement less reduction of uncertainty, on average over sequences.
    error : float
        Its standard error if nothing is wrong.
    z : float
        ``excess / error``; 0 where no forecast ever moves.
    p_value : float
        Two-sided, from the normal distribution.
    movement : float
        Sum over all steps of ``(p' - p)**2``.
    reduction : float
        Sum over all steps of ``p * (1 - p) - p' * (1 - p')``.
    n_steps : int
        Pairs of successive rows.
    n_sequences : int
        Sequences of at least two rows.
    n_single : int
        Sequences of one row, which say nothing and do not count.
    n_groups : int
        Independent clusters that the sequences belong to.
    over_time : MovementTable or None
        The same over time bins; None where ``bins`` was not given.
    """

    excess: float
    error: float
    z: float
    p_value: float
    movement: float
    reduction: float
    n_steps: int
    n_sequences: int
    n_single: int
    n_groups: int
    over_time: MovementTable | None

    @property
    def verdict(self) -> Verdict:
        """The finding at the level 0.05, in three words or less."""
        if self.p_value >= LEVEL:
            return "no sign"
        return "moves too much" if self.excess > 0 else "moves too little"

    def __str__(self) -> str:
        lines = [
            f"{self.verdict}: {MEANING[self.verdict]}",
            f"excess movement {self.excess:+.3g} a sequence, standard error {self.error:.2g} "
            f"(z = {self.z:+.2f}, p = {self.p_value:.2g})",
            f"movement {self.movement:.4g}, reduction of uncertainty {self.reduction:.4g}",
            f"{self.n_steps} steps, {self.n_sequences} sequences of two rows or more "
            f"({self.n_single} of one row left out), {self.n_groups} groups",
        ]
        return "\n".join(lines if self.over_time is None else lines + _lines(self.over_time))


def _lines(table: MovementTable) -> list[str]:
    rows = [("from", "to", "steps", "sequences", "excess", "z")]
    columns = (table.time_from, table.time_to, table.steps, table.sequences, table.excess, table.z)
    for first, last, steps, sequences, excess, z in zip(*columns, strict=True):
        counts = str(steps), str(sequences)
        rows.append((time_text(first), time_text(last), *counts, f"{excess:+.3g}", f"{z:+.2f}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.rjust, row, widths)) for row in rows]
