"""Games of Counter-Strike as one array, and which are trained on, calibrated on and tested on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.splits import Parts
from experiments.training import Batch
from tempocal.datasets import Rounds

# Games of the paper's training and calibration sets, and of all three.
TRAIN, CALIBRATION, ALL = 8751, 2907, 12362


@dataclass(frozen=True)
class Games:
    """Games as one array, padded with zeros to the longest."""

    rounds: NDArray[np.float32]  # (games, rounds, features)
    open: NDArray[np.int64]  # rounds of each after which it was not decided yet
    label: NDArray[np.int64]
    match: NDArray[np.int64]  # numbered from 0
    difference: NDArray[np.int64]  # (games, rounds): of the scores after each round, absolute


def games_of(rounds: Rounds) -> Games:
    """Describe each round: who won it, the score after it, its number, and what else is known.

    Scores and numbers are divided by those of a short game, so that all features are of one size.
    """
    played = np.array([len(won) for won in rounds.won])
    extra = len(rounds.statistic_names)
    features = np.zeros((len(played), played.max(), 5 + extra), dtype=np.float32)
    difference = np.zeros(features.shape[:2], dtype=np.int64)
    for game, (won, statistics) in enumerate(zip(rounds.won, rounds.statistics, strict=True)):
        number = np.arange(1, len(won) + 1)
        first = np.cumsum(won)
        second = number - first
        columns = [2 * won - 1, first / 13, second / 13, (first - second) / 13, number / 24]
        features[game, : len(won), :5] = np.array(columns).T
        features[game, : len(won), 5:] = statistics
        difference[game, : len(won)] = np.abs(first - second)
    _, match = np.unique(rounds.match, return_inverse=True)
    return Games(features, played - rounds.decided, rounds.label, match, difference)


def split_games(rounds: Rounds) -> Parts:
    """Split games by date: as many to train and calibrate on as in the paper, later ones to test.

    Games of one match stay together, so that a few more or less are taken. Of fewer games than the
    paper's, as large a share is. Where dates are not known, matches are drawn at random.
    """
    _, match = np.unique(rounds.match, return_inverse=True)
    count = np.bincount(match)
    if np.isnat(rounds.date).any():
        order = np.random.default_rng(0).permutation(len(count))
    else:
        begun = np.full(len(count), np.datetime64("9999-12-31", "s"))
        np.minimum.at(begun, match, rounds.date)
        order = np.argsort(begun, kind="stable")
    scale = min(1.0, len(match) / ALL)
    ends = np.array([TRAIN, TRAIN + CALIBRATION]) * scale
    # Each match goes where the middle of its games falls.
    middle = np.cumsum(count[order]) - count[order] / 2
    part = np.empty(len(count), dtype=np.int64)
    part[order] = np.searchsorted(ends, middle)
    train, calibration, test = (np.flatnonzero(part[match] == number) for number in range(3))
    return Parts(train, calibration, test)


class WholeGames:
    """Batches of games; every round counts but the last, after which the game is decided.

    Parameters
    ----------
    games : Games
        All games.
    which : array of int
        Numbers of the games to train on.
    size : int
        Games in a batch.
    """

    def __init__(self, games: Games, which: NDArray[np.int64], size: int) -> None:
        rounds = games.rounds.shape[1]
        self.rounds = torch.from_numpy(games.rounds[which])
        self.labels = torch.from_numpy(
            np.repeat(games.label[which, None], rounds, axis=1).astype(np.float32)
        )
        self.weights = torch.from_numpy(
            (np.arange(rounds) < games.open[which, None]).astype(np.float32)
        )
        self.size = size

    def __len__(self) -> int:
        return math.ceil(len(self.rounds) / self.size)

    def shuffled(self, generator: torch.Generator) -> Iterable[Batch]:
        """Return the games in random order."""
        for rows in torch.randperm(len(self.rounds), generator=generator).split(self.size):
            yield (self.rounds[rows],), self.labels[rows], self.weights[rows]
