"""Games of Counter-Strike 2, each with the list of its rounds."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.datasets.columns import DatasetColumns
from tempocal.datasets.containers import Rounds, Source
from tempocal.datasets.dataset_checks import dates, integers, one_of, require_unique
from tempocal.errors import DatasetError

NEEDED = ("match", "date", "map", "team1_start", "rounds", "team1_won", "overtime")
# Rounds before the sides swap, and in total without overtime.
_HALF_ROUNDS, _MAX_ROUNDS = 12, 24


def from_lists(columns: DatasetColumns, source: Source) -> Rounds:
    """Validate and sort games given as one row a game."""
    file, values = columns.file, columns.values
    # So that the ids of games, ten times as large, still fit into 64 bits.
    match = integers(values["match"], "match", file, 0, 10**17)
    game = 10 * match + integers(values["map"], "map", file, 1, 9)
    date = dates(values["date"], "date", file)
    start = np.array(one_of(values["team1_start"], "team1_start", file, ("ct", "t")))
    label = integers(values["team1_won"], "team1_won", file, 0, 1)
    overtime = integers(values["overtime"], "overtime", file, 0, 1) == 1
    won = [_rounds(rounds, file, row) for row, rounds in enumerate(values["rounds"], 1)]
    require_unique(game, "the game (ten times its match, plus its map)", file)
    for row, rounds in enumerate(won):
        _require_outcome(rounds, int(label[row]), bool(overtime[row]), f"{file}, row {row + 1}")
    order = np.lexsort((game, date))
    return Rounds(
        won=[won[row] for row in order],
        statistics=[_side(start[row] == "ct", len(won[row])) for row in order],
        statistic_names=("side",),
        label=label[order],
        game=game[order],
        match=match[order],
        date=date[order],
        decided=~overtime[order],
        source=source,
    )


def _rounds(rounds: Any, file: str, row: int) -> NDArray[np.int8]:
    where = f"{file}, row {row}"
    if not isinstance(rounds, list):
        found = "missing" if rounds is None else repr(rounds)
        raise DatasetError(f"{where}: rounds must be a list of 0 and 1, but it is {found}")
    if not 1 <= len(rounds) <= _MAX_ROUNDS:
        raise DatasetError(
            f"{where}: rounds must have 1 to {_MAX_ROUNDS} entries, as those of overtime are not "
            f"recorded, but it has {len(rounds)}"
        )
    if not all(one in (0, 1) for one in rounds):
        raise DatasetError(f"{where}: rounds must be a list of 0 and 1, but it is {rounds}")
    return np.array(rounds, dtype=np.int8)


def _require_outcome(won: NDArray[np.int8], label: int, overtime: bool, where: str) -> None:
    """Refuse a game whose rounds contradict its outcome."""
    first, second = int(won.sum()), int((1 - won).sum())
    if overtime and first != second:
        raise DatasetError(
            f"{where}: the rounds stand {first} to {second}, but before overtime they must be level"
        )
    if not overtime and (first > second) != (label == 1):
        raise DatasetError(
            f"{where}: the rounds stand {first} to {second}, but team1_won is {label}"
        )
    if not overtime and first == second:
        raise DatasetError(
            f"{where}: the rounds stand {first} to {second}, but there was no overtime"
        )


def _side(counter_terrorists: bool, length: int) -> NDArray[np.float32]:
    first = 1.0 if counter_terrorists else -1.0
    side = np.where(np.arange(length) < _HALF_ROUNDS, first, -first)
    return side.astype(np.float32)[:, None]
