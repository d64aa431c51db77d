"""A deep averaging network: the mean of the word vectors, and two layers above it.

The mean of a prefix is a cumulative sum divided by the length of the prefix, so that one pass over
a text gives all its prefixes.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from experiments.words import WIDTH, Corpus


class DAN(nn.Module):
    """Layers of 512 and 256 units above the mean vector, then one logit."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(WIDTH, 512),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(512, 256),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(256, 1),
        )

    def forward(self, means: Tensor) -> Tensor:
        """Return the logit of each mean vector."""
        logits: Tensor = self.layers(means).squeeze(-1)
        return logits


def prefix_means(
    corpus: Corpus,
    vectors: NDArray[np.float32],
    sequence: NDArray[np.int64],
    length: NDArray[np.int64],
) -> Tensor:
    """Return the mean vector of each prefix: the first ``length`` words of text ``sequence``.

    The prefixes of a text stand together.
    """
    means = torch.empty((len(sequence), vectors.shape[1]))
    bounds = np.flatnonzero(np.diff(sequence)) + 1
    for rows in np.split(np.arange(len(sequence)), bounds):
        longest = length[rows].max()
        words = corpus.text(int(sequence[rows[0]]))[:longest]
        sums = np.cumsum(vectors[words], axis=0, dtype=np.float64)
        means[rows] = torch.from_numpy(
            (sums[length[rows] - 1] / length[rows, None]).astype(np.float32)
        )
    return means
