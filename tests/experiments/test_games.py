"""Games become arrays, and are split by date."""

import numpy as np
import pytest
from experiments.games import ALL, CALIBRATION, TRAIN, WholeGames, games_of, split_games

from tempocal.datasets import Rounds, Source


def rounds(n, *, dates=True, maps=2):
    rng = np.random.default_rng(0)
    won = [rng.integers(0, 2, rng.integers(13, 25)).astype(np.int8) for _ in range(n)]
    date = np.datetime64("2024-01-01", "s") + (np.arange(n) // maps).astype("m8[D]")
    return Rounds(
        won=won,
        statistics=[np.ones((len(one), 1), dtype=np.float32) for one in won],
        statistic_names=("side",),
        label=np.array([int(2 * one.sum() > len(one)) for one in won]),
        game=np.arange(n),
        match=1000 - np.arange(n) // maps,
        date=date if dates else np.full(n, "NaT", dtype="M8[s]"),
        decided=np.arange(n) % 3 > 0,
        source=Source("", ""),
    )


def test_what_a_round_is_described_by():
    one = rounds(5)
    games = games_of(one)
    for game, won in enumerate(one.won):
        after = np.cumsum(2 * won.astype(int) - 1)
        np.testing.assert_array_equal(games.difference[game, : len(won)], abs(after))
        np.testing.assert_allclose(games.rounds[game, : len(won), 3], after / 13, atol=1e-6)
        assert not games.rounds[game, len(won) :].any()
    # After its last round a game is decided, unless overtime follows that is not recorded.
    assert games.open.tolist() == [len(w) - d for w, d in zip(one.won, one.decided, strict=True)]


@pytest.mark.parametrize("dates", [True, False])
def test_the_papers_own_data_get_its_split(dates):
    parts = split_games(rounds(ALL, dates=dates, maps=1))
    assert len(parts.train) == TRAIN
    assert len(parts.calibration) == CALIBRATION
    assert len(parts.test) == 704


def test_later_games_are_tested_and_matches_stay_together():
    some = rounds(15_000)
    parts = split_games(some)
    assert abs(len(parts.train) - TRAIN) <= 2
    assert abs(len(parts.calibration) - CALIBRATION) <= 2
    assert len(parts.train) + len(parts.calibration) + len(parts.test) == 15_000
    assert some.date[parts.train].max() <= some.date[parts.calibration].min()
    assert some.date[parts.calibration].max() <= some.date[parts.test].min()
    matches = [set(some.match[which]) for which in (parts.train, parts.calibration, parts.test)]
    assert len(set.union(*matches)) == sum(map(len, matches))


def test_fewer_games_are_split_in_the_same_shares():
    parts = split_games(rounds(1236))
    assert abs(len(parts.train) - 875) <= 2
    assert abs(len(parts.test) - 70) <= 2


def test_the_end_of_a_game_is_not_learned_from():
    import torch  # noqa: PLC0415

    games = games_of(rounds(10))
    batches = WholeGames(games, np.arange(10), 4)
    found = [weights.sum().item() for _, _, weights in batches.shuffled(torch.Generator())]
    assert len(found) == len(batches) == 3
    assert sum(found) == games.open.sum()
