"""Games of CS:GO as a table with a row per round, our reading of the paper."""

import numpy as np
from numpy.typing import NDArray

from tempocal.datasets.columns import DatasetColumns
from tempocal.datasets.containers import Rounds, Source
from tempocal.datasets.dataset_checks import dates, integers
from tempocal.errors import DatasetError

NEEDED_OF_TABLE = (
    "game",
    "round",
    "winner",
    "survivors_1",
    "survivors_2",
    "score_1",
    "score_2",
)
EXTRA = ("match", "date")
_TEAM_SIZE = 5

Integers = NDArray[np.int64]


def from_table(columns: DatasetColumns, source: Source) -> Rounds:
    """Validate and sort games given as one row a round, in any order."""
    file, values = columns.file, columns.values
    game = integers(values["game"], "game", file)
    number = integers(values["round"], "round", file, 1)
    won = (integers(values["winner"], "winner", file, 1, 2) == 1).astype(np.int8)
    survivors = np.stack([_survivors(columns, team) for team in (1, 2)], axis=1)
    score = np.stack([_score(columns, team) for team in (1, 2)], axis=1)
    match = integers(values["match"], "match", file) if "match" in values else game
    no_dates = np.full(len(columns), "NaT", dtype="datetime64[s]")
    date = dates(values["date"], "date", file) if "date" in values else no_dates

    order = np.lexsort((number, game))
    ids, starts = np.unique(game[order], return_index=True)
    games = np.split(order, starts[1:])
    for rows in games:
        _require_all_rounds(number[rows], f"{file}: game {game[rows[0]]}")
        _require_scores(won[rows], score[rows], f"{file}: game {game[rows[0]]}")
        # Dates as integers, since NaT differs from itself.
        for name, column in (("match", match), ("date", date.astype(np.int64))):
            if (column[rows] != column[rows[0]]).any():
                raise DatasetError(f"{file}: game {game[rows[0]]} has more than one {name}")

    first = order[starts]
    by_date = np.lexsort((ids, match[first], date[first]))
    games = [games[k] for k in by_date]
    final = np.array([score[rows[-1]] for rows in games])
    return Rounds(
        won=[won[rows] for rows in games],
        statistics=[survivors[rows].astype(np.float32) for rows in games],
        statistic_names=("survivors_1", "survivors_2"),
        label=(final[:, 0] > final[:, 1]).astype(np.int64),
        game=ids[by_date],
        match=match[first][by_date],
        date=date[first][by_date],
        decided=np.ones(len(games), dtype=np.bool_),
        source=source,
    )


def _survivors(columns: DatasetColumns, team: int) -> Integers:
    name = f"survivors_{team}"
    return integers(columns.values[name], name, columns.file, 0, _TEAM_SIZE)


def _score(columns: DatasetColumns, team: int) -> Integers:
    name = f"score_{team}"
    return integers(columns.values[name], name, columns.file, 0)


def _require_all_rounds(number: Integers, where: str) -> None:
    wrong = number != np.arange(1, len(number) + 1)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise DatasetError(
            f"{where} must have the rounds 1 to {len(number)}, each once, but where round {k + 1} "
            f"belongs there is round {number[k]}"
        )


def _require_scores(won: NDArray[np.int8], score: Integers, where: str) -> None:
    expected = np.cumsum(np.stack([won, 1 - won], axis=1), axis=0, dtype=np.int64)
    wrong = (score != expected).any(axis=1)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise DatasetError(
            f"{where}, round {k + 1}: the score must be that after the round, "
            f"{expected[k, 0]} to {expected[k, 1]} by the winners so far, but it is "
            f"{score[k, 0]} to {score[k, 1]}"
        )
    if score[-1, 0] == score[-1, 1]:
        raise DatasetError(
            f"{where} ends {score[-1, 0]} to {score[-1, 1]}, and a game must have a winner"
        )
