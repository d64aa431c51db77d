"""CS:GO, a row a round."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from tempocal.datasets import load_cs_rounds
from tempocal.errors import DatasetError

# Game 5 is won 2 to 1 by team 1, game 3 is lost 0 to 1; rounds come in any order.
GAMES = {
    "game": [5, 3, 5, 5],
    "round": [3, 1, 1, 2],
    "winner": [1, 2, 1, 2],
    "survivors_1": [4, 0, 5, 0],
    "survivors_2": [1, 2, 0, 3],
    "score_1": [2, 0, 1, 1],
    "score_2": [1, 1, 0, 1],
}
EXTRA = {"match": [20, 30, 20, 20], "date": ["2019-03-01", "2019-04-01"] + 2 * ["2019-03-01"]}


def write_parquet(folder, columns):
    parquet.write_table(pa.table(columns), folder / "csgo_rounds.parquet")


def write_csv(folder, columns):
    csv.write_csv(pa.table(columns), folder / "csgo_rounds.csv")


WRITERS = {"csgo_rounds.parquet": write_parquet, "csgo_rounds.csv": write_csv}
each_layout = pytest.mark.parametrize("name", WRITERS)


def write(folder, name="csgo_rounds.parquet", **columns):
    columns = {key: one for key, one in (GAMES | columns).items() if one is not None}
    WRITERS[name](folder, columns)


@each_layout
def test_games_are_put_together(name, tmp_path):
    write(tmp_path, name)
    games = load_cs_rounds(tmp_path)
    assert games.game.tolist() == games.match.tolist() == [3, 5]
    assert games.label.tolist() == [0, 1]
    assert [won.tolist() for won in games.won] == [[0], [1, 0, 1]]
    assert games.statistic_names == ("survivors_1", "survivors_2")
    assert [one.tolist() for one in games.statistics] == [[[0, 2]], [[5, 0], [0, 3], [4, 1]]]
    assert np.isnat(games.date).all()
    assert games.decided.all()
    assert games.source.name == name
    content = (tmp_path / name).read_bytes()
    assert games.source.sha256 == hashlib.sha256(content).hexdigest()


@each_layout
def test_kinds_are_those_that_are_documented(name, tmp_path):
    write(tmp_path, name, **EXTRA)
    games = load_cs_rounds(tmp_path)
    assert {won.dtype for won in games.won} == {np.dtype(np.int8)}
    assert {one.dtype for one in games.statistics} == {np.dtype(np.float32)}
    assert games.label.dtype == games.game.dtype == games.match.dtype == np.int64
    assert games.date.dtype == np.dtype("datetime64[s]")
    assert games.decided.dtype == np.bool_


@each_layout
def test_with_dates_and_matches_games_come_by_these(name, tmp_path):
    write(tmp_path, name, **EXTRA)
    games = load_cs_rounds(tmp_path)
    assert games.game.tolist() == [5, 3]
    assert games.match.tolist() == [20, 30]
    assert games.date.astype("datetime64[D]").astype(str).tolist() == ["2019-03-01", "2019-04-01"]
    write(tmp_path, name, match=EXTRA["match"])
    assert load_cs_rounds(tmp_path).game.tolist() == [5, 3]


@each_layout
def test_unknown_dates_come_last(name, tmp_path):
    write(tmp_path, name, date=["2019-03-01", None, "2019-03-01", "2019-03-01"])
    games = load_cs_rounds(tmp_path)
    assert games.game.tolist() == [5, 3]
    assert np.isnat(games.date).tolist() == [False, True]


def test_whole_numbers_may_have_decimals(tmp_path):
    write(tmp_path, "csgo_rounds.csv", survivors_1=["4.0", "0.", "5.00", " 0"])
    first = load_cs_rounds(tmp_path)
    write(tmp_path, "csgo_rounds.parquet", survivors_1=[4.0, 0.0, 5.0, 0.0])
    second = load_cs_rounds(tmp_path)
    for one, other in zip(first.statistics, second.statistics, strict=True):
        np.testing.assert_array_equal(one, other)


def test_parquet_comes_before_csv(tmp_path):
    write(tmp_path, "csgo_rounds.csv")
    assert load_cs_rounds(tmp_path).source.name == "csgo_rounds.csv"
    write(tmp_path, "csgo_rounds.parquet")
    assert load_cs_rounds(tmp_path).source.name == "csgo_rounds.parquet"


@each_layout
@pytest.mark.parametrize("column", GAMES)
def test_a_missing_column_is_told(column, name, tmp_path):
    write(tmp_path, name, **{column: None})
    with pytest.raises(DatasetError, match=f"{name} has no column '{column}': its columns are"):
        load_cs_rounds(tmp_path)


@each_layout
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"round": [4, 1, 1, 2]},
            "game 5 must have the rounds 1 to 3, each once, .* round 3 belongs there is round 4",
        ),
        ({"round": [2, 1, 1, 2]}, "where round 3 belongs there is round 2"),
        ({"round": [3, 2, 1, 2]}, "game 3 must .* where round 1 belongs there is round 2"),
        ({"round": [3, 0, 1, 2]}, "row 2: round must be a whole number of at least 1"),
        ({"winner": [1, 0, 1, 2]}, "row 2: winner must be a whole number from 1 to 2, .* '?0"),
        ({"survivors_1": [4, None, 5, 0]}, "row 2: survivors_1 must be .* but it is missing"),
        ({"survivors_2": [1, 2, 6, 3]}, "row 3: survivors_2 must be .* from 0 to 5, .* '?6"),
        ({"survivors_2": [1.0, 2.5, 0.0, 3.0]}, r"row 2: survivors_2 must be .* is '?2\.5"),
        ({"survivors_2": [1.0, float("nan"), 0, 3]}, "row 2: survivors_2 must be .* is '?nan"),
        ({"survivors_2": ["1", "two", "0", "3"]}, "row 2: survivors_2 must be .* is 'two'"),
        ({"survivors_2": [float("inf"), 2, 0, 3]}, "row 1: survivors_2 must be .* is '?inf"),
        ({"score_1": [1, 0, 1, 1]}, "game 5, round 3: the score must be .* 2 to 1 .* is 1 to 1"),
        ({"score_2": [1, 0, 0, 1]}, "game 3, round 1: the score must be .* 0 to 1 .* is 0 to 0"),
        ({"game": ["five", "3", "5", "5"]}, "row 1: game must be a whole number, .* is 'five'"),
        ({"match": [20, 30, 20, 21]}, "game 5 has more than one match"),
        ({"match": [20, None, 20, 20]}, "row 2: match must be a whole number, but it is missing"),
        ({"date": ["2019-03-01", "2019-04-01", "2019-03-01", None]}, "5 has more than one date"),
        ({"date": ["2019-03-01", "April", "2019-03-01", None]}, "row 2: date must be a date such"),
    ],
)
def test_wrong_rounds_are_refused(columns, said, name, tmp_path):
    write(tmp_path, name, **columns)
    with pytest.raises(DatasetError, match=f"^{name}.*{said}"):
        load_cs_rounds(tmp_path)


@each_layout
def test_a_game_without_a_winner_is_refused(name, tmp_path):
    WRITERS[name](tmp_path, {key: [one[2], one[3]] for key, one in GAMES.items()})
    with pytest.raises(DatasetError, match="game 5 ends 1 to 1, and a game must have a winner"):
        load_cs_rounds(tmp_path)


@each_layout
def test_a_file_without_rows_is_refused(name, tmp_path):
    WRITERS[name](tmp_path, dict.fromkeys(GAMES, pa.array([], pa.int64())))
    with pytest.raises(DatasetError, match=f"{name} has no rows"):
        load_cs_rounds(tmp_path)
