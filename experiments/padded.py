"""Batches of texts of about the same length, so that little is padded."""

import math
from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from experiments.training import Batch
from experiments.words import Corpus

# Texts are shuffled, and sorted by length within a pool of so many batches.
POOL = 50


class PaddedTexts:
    """Batches of whole texts for training.

    Parameters
    ----------
    corpus : Corpus
        All texts.
    texts : array of int
        Numbers of the texts to train on.
    labels : Tensor
        Their labels.
    size : int
        Texts in a batch.
    """

    def __init__(self, corpus: Corpus, texts: NDArray[np.int64], labels: Tensor, size: int) -> None:
        self.corpus, self.texts, self.labels, self.size = corpus, texts, labels, size

    def __len__(self) -> int:
        return math.ceil(len(self.texts) / self.size)

    def shuffled(self, generator: torch.Generator) -> Iterable[Batch]:
        """Return the batches of one epoch, in random order."""
        order = torch.randperm(len(self.texts), generator=generator)
        lengths = torch.from_numpy(self.corpus.lengths[self.texts])
        batches: list[Tensor] = []
        for pool in order.split(POOL * self.size):
            batches.extend(pool[torch.argsort(lengths[pool], stable=True)].split(self.size))
        for number in torch.randperm(len(batches), generator=generator).tolist():
            rows = batches[number]
            words = pad(self.corpus, self.texts[rows.numpy()])
            labels = self.labels[rows].unsqueeze(1)
            yield (words, lengths[rows].unsqueeze(1)), labels, torch.ones_like(labels)


def pad(corpus: Corpus, texts: NDArray[np.int64], most: int | None = None) -> Tensor:
    """Return the words of texts as a matrix, the first ``most`` of each; zeros fill its rows."""
    rows = [corpus.text(int(text))[:most] for text in texts]
    words = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for row, text in zip(words, rows, strict=True):
        row[: len(text)] = text
    return torch.from_numpy(words)
