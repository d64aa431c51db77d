"""A recurrent network: the sum of a GRU's hidden outputs, and one layer above it.

The sum up to a word is a cumulative sum, so that one pass over a text gives all its prefixes.
"""

import torch
from torch import Tensor, nn

from experiments.models.recurrent import Recurrent
from experiments.words import WIDTH


class GRU(nn.Module):
    """A GRU of 256 units whose summed outputs go through a layer of 256 units to one logit.

    Parameters
    ----------
    vectors : Tensor of shape (words, 300)
        Word vectors, which are not learned.
    """

    vectors: Tensor

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.recurrent = Recurrent(WIDTH, 256)
        self.head = nn.Sequential(
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(256, 1),
        )

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return logits of the prefixes of padded texts.

        Parameters
        ----------
        words : Tensor of int, shape (texts, words)
            Rows of the word vectors.
        lengths : Tensor of int, shape (texts, prefixes)
            Words of each prefix. Words beyond a prefix do not touch its logit.
        """
        sums = torch.cumsum(self.recurrent(self.vectors, words), dim=1)
        ends = (lengths - 1).unsqueeze(-1).expand(-1, -1, sums.shape[-1])
        logits: Tensor = self.head(torch.gather(sums, 1, ends)).squeeze(-1)
        return logits
