"""Counter-Strike 2, a row a game."""

import hashlib
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tempocal.datasets import load_cs_rounds
from tempocal.errors import DatasetError

DAY = datetime(2024, 11, 12, 18, 30, tzinfo=UTC)
LEVEL = [1, 0] * 12
GAMES = {
    "match": [8, 8, 7, 9],
    "date": [DAY, DAY, DAY, DAY - timedelta(days=1)],
    "event": ["Major"] * 4,
    "map": [2, 1, 1, 1],
    "team1_start": ["ct", "t", "t", "ct"],
    "rounds": [[1] * 13, [0] * 13, LEVEL, [0, 1] * 8 + [1] * 5],
    "team1_won": [1, 0, 1, 1],
    "overtime": [False, False, True, False],
}


def write(folder, **columns):
    columns = {name: one for name, one in (GAMES | columns).items() if one is not None}
    parquet.write_table(pa.table(columns), folder / "cs2_rounds.parquet")


def test_games_come_by_date_match_and_map(tmp_path):
    write(tmp_path)
    games = load_cs_rounds(tmp_path)
    assert games.game.tolist() == [91, 71, 81, 82]
    assert games.match.tolist() == [9, 7, 8, 8]
    assert games.label.tolist() == [1, 1, 0, 1]
    assert [won.tolist() for won in games.won] == [GAMES["rounds"][at] for at in (3, 2, 1, 0)]
    assert games.date.astype(str).tolist() == ["2024-11-11T18:30:00"] + ["2024-11-12T18:30:00"] * 3
    assert games.decided.tolist() == [True, False, True, True]
    assert games.source.name == "cs2_rounds.parquet"
    content = (tmp_path / "cs2_rounds.parquet").read_bytes()
    assert games.source.sha256 == hashlib.sha256(content).hexdigest()


def test_kinds_are_those_that_are_documented(tmp_path):
    write(tmp_path)
    games = load_cs_rounds(tmp_path)
    assert {won.dtype for won in games.won} == {np.dtype(np.int8)}
    assert {one.dtype for one in games.statistics} == {np.dtype(np.float32)}
    assert games.label.dtype == games.game.dtype == games.match.dtype == np.int64
    assert games.date.dtype == np.dtype("datetime64[s]")
    assert games.decided.dtype == np.bool_


def test_sides_swap_after_twelve_rounds(tmp_path):
    write(tmp_path)
    games = load_cs_rounds(tmp_path)
    assert games.statistic_names == ("side",)
    assert [one[:, 0].tolist() for one in games.statistics] == [
        [1.0] * 12 + [-1.0] * 9,
        [-1.0] * 12 + [1.0] * 12,
        [-1.0] * 12 + [1.0],
        [1.0] * 12 + [-1.0],
    ]


@pytest.mark.parametrize(
    "day",
    [
        pa.array([DAY] * 4, pa.timestamp("ns", "UTC")),
        pa.array([DAY] * 4, pa.timestamp("ms", "Europe/Berlin")),
        [DAY + timedelta(milliseconds=750)] * 4,
        pa.array([DAY.replace(tzinfo=None)] * 4),
        ["2024-11-12T18:30:00Z"] * 4,
        ["2024-11-12 19:30:00+01:00"] * 4,
        [DAY.astimezone(timezone(timedelta(hours=-5))).isoformat()] * 4,
        ["2024-11-12 18:30"] * 4,
    ],
)
def test_dates_may_be_written_in_many_ways(day, tmp_path):
    write(tmp_path, date=day)
    games = load_cs_rounds(tmp_path)
    assert set(games.date.astype(str)) == {"2024-11-12T18:30:00"}
    assert games.game.tolist() == [71, 81, 82, 91]


@pytest.mark.parametrize(
    "days", [[None, None, date(2024, 1, 1), None], [None, None, "2024-01-01", None]]
)
def test_unknown_dates_come_last(days, tmp_path):
    write(tmp_path, date=days)
    games = load_cs_rounds(tmp_path)
    assert games.game.tolist() == [71, 81, 82, 91]
    assert np.isnat(games.date).tolist() == [False, True, True, True]


@pytest.mark.parametrize("name", [name for name in GAMES if name != "event"])
def test_a_missing_column_is_told(name, tmp_path):
    write(tmp_path, **{name: None})
    with pytest.raises(DatasetError, match=rf"cs2_rounds.parquet has no column '{name}'"):
        load_cs_rounds(tmp_path)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"rounds": [[1] * 13, [], LEVEL, [1] * 13]}, "row 2: rounds must have 1 to 24 .* has 0"),
        ({"rounds": [[1] * 25, [0], LEVEL, [1]]}, "row 1: rounds must have 1 to 24 .* has 25"),
        ({"rounds": [[1], None, LEVEL, [1]]}, "row 2: rounds must be a list .* but it is missing"),
        ({"rounds": [[1], [0, 2], LEVEL, [1]]}, r"row 2: rounds must be .* but it is \[0, 2\]"),
        ({"rounds": [[1], [0, None], LEVEL, [1]]}, r"row 2: rounds must be .* is \[0, None\]"),
        ({"rounds": ["1", "0", "1", "1"]}, "row 1: rounds must be a list .* but it is '1'"),
        ({"team1_won": [1, 0, 2, 1]}, "row 3: team1_won must be a whole number from 0 to 1, .* 2"),
        ({"team1_won": [1, 1, 1, 1]}, "row 2: the rounds stand 0 to 13, but team1_won is 1"),
        ({"team1_won": [0, 0, 1, 1]}, "row 1: the rounds stand 13 to 0, but team1_won is 0"),
        (
            {"overtime": [True, False, True, False]},
            "row 1: the rounds stand 13 to 0, but before overtime they must be level",
        ),
        (
            {"overtime": [False] * 4, "team1_won": [1, 0, 0, 1]},
            "row 3: the rounds stand 12 to 12, but there was no overtime",
        ),
        ({"overtime": ["no"] * 4}, "row 1: overtime must be a whole number .* but it is 'no'"),
        (
            {"team1_start": ["ct", "t", "left", "t"]},
            "row 3: team1_start must be 'ct' or 't', .*l",
        ),
        ({"map": [2, 1, 1, 10]}, "row 4: map must be a whole number from 1 to 9, but it is 10"),
        ({"map": [1, 1, 1, 1]}, r"the game \(ten times its match, plus its map\) 81 comes 2 times"),
        ({"match": [8, 8, -7, 9]}, "row 3: match must be .* but it is -7"),
        ({"match": [8, 8, 2**62, 9]}, "row 3: match must be .* but it is 4611686018427387904"),
        ({"match": ["a", "a", "b", "c"]}, "row 1: match must be a whole number .* but it is 'a'"),
        ({"date": ["12.11.2024"] * 4}, "row 1: date must be a date such as .* but it is '12.11"),
        ({"date": [20241112] * 4}, "row 1: date must be a date such as .* but it is 20241112"),
        ({name: [] for name in GAMES}, "cs2_rounds.parquet has no rows"),
    ],
)
def test_wrong_games_are_refused(columns, said, tmp_path):
    write(tmp_path, **columns)
    with pytest.raises(DatasetError, match=said):
        load_cs_rounds(tmp_path)
