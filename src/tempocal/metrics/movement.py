"""Result of the martingale check: excess movement as numbers and in words."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import time_text
from tempocal.links import Array

# Significance level of the verdict.
LEVEL = 0.05

Verdict = Literal["moves too much", "moves too little", "no sign"]
MEANING: dict[Verdict, str] = {
    "moves too much": "they react too strongly, forget what came before, or were too sure",
    "moves too little": "they react too weakly to what comes in",
    "no sign": "they move about as much as their uncertainty shrinks",
}


@dataclass(frozen=True, eq=False)
class MovementTable:
    """Excess movement in each time bin; a step belongs to the time of its later row.

    The fields are columns of equal length: ``pandas.DataFrame(vars(table))`` is the table.

    Attributes
    ----------
    time_from, time_to : ndarray
        Earliest and latest time of the steps.
    steps : ndarray of int
        Number of steps: pairs of successive rows.
    sequences : ndarray of int
        Number of sequences with steps in the time bin.
    excess : ndarray
        Mean excess movement per sequence.
    error : ndarray
        Its standard error under the null hypothesis; NaN with a single group.
    z : ndarray
        ``excess / error``; NaN with a single group.
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
    """Movement of forecasts minus the reduction of their uncertainty; ``print`` says it in words.

    Attributes
    ----------
    excess : float
        Movement minus reduction of uncertainty, mean per sequence.
    error : float
        Its standard error under the null hypothesis.
    z : float
        ``excess / error``; 0 if no forecast ever moves.
    p_value : float
        Two-sided p-value, from the normal distribution.
    movement : float
        Sum over all steps of ``(p' - p)**2``.
    reduction : float
        Sum over all steps of ``p * (1 - p) - p' * (1 - p')``.
    n_steps : int
        Number of steps: pairs of successive rows.
    n_sequences : int
        Number of sequences with at least two rows.
    n_single : int
        Number of sequences with one row, which are left out.
    n_groups : int
        Number of independent clusters of sequences.
    over_time : MovementTable or None
        The same in each time bin; None if ``bins`` was not given.
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
        """The result at the significance level 0.05, in three words or less."""
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
