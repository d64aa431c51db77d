"""What the loaders return: labeled texts, games of rounds, and the file that was read."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Source:
    """The file that was read, so that results can name their data."""

    name: str  # of the file, without its folder
    sha256: str  # checksum; load_imdb describes that of a folder


@dataclass(frozen=True)
class Texts:
    """Texts with two classes, one row a text."""

    text: list[str]
    label: NDArray[np.int64]  # 1 if the text is positive
    part: NDArray[np.str_]  # "train" or "test"; "whole" where the source is not split
    sequence: NDArray[np.int64]  # id of each text
    source: Source
    complete: bool  # whether all texts of the published dataset were there


@dataclass(frozen=True)
class Rounds:
    """Games between two teams, by date; those of unknown date come last.

    The score after each round is the running sum of ``won``, and of ``1 - won`` for team 2.
    """

    won: list[NDArray[np.int8]]  # for each game, 1 in the rounds that team 1 won
    statistics: list[NDArray[np.float32]]  # for each game, a row a round
    statistic_names: tuple[str, ...]  # names of the columns of the statistics
    label: NDArray[np.int64]  # 1 if team 1 won the game
    game: NDArray[np.int64]  # id of each game
    match: NDArray[np.int64]  # id of the match that the game belongs to
    date: NDArray[np.datetime64]  # in seconds, UTC; NaT where unknown
    decided: NDArray[np.bool_]  # False where the rounds that ended the game are not recorded
    source: Source


def source_of(path: Path) -> Source:
    """Return the name of a file and its checksum."""
    return Source(path.name, _digest(path, hashlib.sha256))


def md5_of(path: Path) -> str:
    """Return the md5 checksum, with which older archives are published."""
    return _digest(path, lambda: hashlib.md5(usedforsecurity=False))


def _digest(path: Path, kind: Callable[[], Any]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()
