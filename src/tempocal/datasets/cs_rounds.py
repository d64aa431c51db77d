"""Rounds of Counter-Strike: the third of the paper's datasets, and a similar one."""

from tempocal.datasets.columns import read_csv, read_parquet
from tempocal.datasets.containers import Rounds, source_of
from tempocal.datasets.cs_lists import NEEDED, from_lists
from tempocal.datasets.cs_table import EXTRA, NEEDED_OF_TABLE, from_table
from tempocal.datasets.folder import DatasetFiles, Folder, data_folder, find, not_found

_LISTS = "cs2_rounds.parquet"
_FILES = DatasetFiles(
    "a dataset of Counter-Strike rounds",
    (_LISTS, "csgo_rounds.parquet", "csgo_rounds.csv"),
    "help(tempocal.datasets.load_cs_rounds) describes these files, for which no public address is "
    "known to us",
)


def load_cs_rounds(folder: Folder = None) -> Rounds:
    """Read games of Counter-Strike, round by round.

    The first of these that is in the data folder is read:

    - ``cs2_rounds.parquet``, a row a game of Counter-Strike 2, with the columns match, date, map
      (the number of the game within its match), team1_start ("ct" or "t"), rounds (a list: 1 where
      team 1 won the round, else 0), team1_won and overtime. The statistic is the ``side`` that team
      1 played: 1 as counter-terrorists, -1 as terrorists; sides swap after 12 rounds. Rounds of
      overtime are not recorded, so games that went there are not ``decided``.
    - ``csgo_rounds.parquet`` or ``csgo_rounds.csv``, a row a round, with the columns game, round
      (1, 2, ...), winner (1 or 2), survivors_1, survivors_2, score_1, score_2 (after the round),
      and perhaps match and date. The statistics are the survivors. Team 1 won the game if it won
      more rounds; games are assumed to be complete. The authors' own files are not public: this
      layout is our reading of the paper, where an element of a sequence "includes information such
      as the round winner, number of surviving players and current score" (section 4.2).

    Dates may be text that follows ISO 8601, and those without a time zone are taken as UTC.

    Parameters
    ----------
    folder : path, optional
        The data folder. By default, that of the environment variable ``TEMPOCAL_DATA``.

    Returns
    -------
    Rounds
        Sorted by date, match and map or game. The id of a game of Counter-Strike 2 is ten times
        its match, plus its map. Without a column match, every game is a match of its own.

    Examples
    --------
    >>> from tempocal.datasets import load_cs_rounds
    >>> games = load_cs_rounds("data")  # doctest: +SKIP
    >>> scores = [won.cumsum() for won in games.won]  # doctest: +SKIP
    """
    directory = data_folder(folder, _FILES)
    path = find(directory, _FILES)
    if path is None:
        raise not_found(directory, _FILES)
    if path.name == _LISTS:
        return from_lists(read_parquet(path, NEEDED), source_of(path))
    read = read_csv if path.suffix == ".csv" else read_parquet
    return from_table(read(path, NEEDED_OF_TABLE, EXTRA), source_of(path))
