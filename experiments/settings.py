"""Everything that the predictions of a seed depend on: they are kept under its hash."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class TextRun:
    """Settings of one seed of a model of texts."""

    dataset: str  # "imdb" or "amazon"
    model: str  # "dan", "gru" or "encoder"
    seed: int
    epochs: int
    batch: int
    data: str  # sha256 of the texts
    reader: str  # hash of the word vectors or of the encoder
    code: str  # hash of what the model and its training do
    torch: str = torch.__version__


@dataclass(frozen=True)
class RoundRun:
    """Settings of one seed of the model of rounds."""

    seed: int
    epochs: int
    batch: int
    data: str  # sha256 of the games
    code: str  # hash of what the model and its training do
    torch: str = torch.__version__
