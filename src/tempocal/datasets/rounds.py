"""Games as sequences of rounds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.datasets.source import Source


@dataclass(frozen=True)
class Rounds:
    """Games between two teams, by date; those of unknown date come last.

    The score after each round is the running sum of ``won``, and of ``1 - won`` for team 2.
    """

    won: list[NDArray[np.int8]]  # for each game, 1 in the rounds that team 1 won
    statistics: list[NDArray[np.float32]]  # for each game, a row a round
    statistic_names: tuple[str, ...]  # what the columns of the statistics are
    label: NDArray[np.int64]  # 1 if team 1 won the game
    game: NDArray[np.int64]  # id of each game
    match: NDArray[np.int64]  # games of one match belong together
    date: NDArray[np.datetime64]  # in seconds, UTC; NaT where unknown
    decided: NDArray[np.bool_]  # False where the rounds that ended the game are not recorded
    source: Source
