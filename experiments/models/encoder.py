"""A pretrained encoder of the BERT architecture with frozen weights and a learned last layer.

The encoder reads in both directions, so every prefix is a text of its own. Its weights never
change: the features of a prefix are computed once and serve all seeds.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

MOST_TOKENS = 512  # with the two that mark beginning and end, as in the paper


class LastLayer(nn.Module):
    """The one layer that is learned: a logit from the features.

    Parameters
    ----------
    width : int
        Features of a text.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logit of each text."""
        logits: Tensor = self.layer(features).squeeze(-1)
        return logits


class Encoder:
    """An encoder from a Hugging Face folder. A text's features are the mean over its tokens.

    Parameters
    ----------
    folder : Path
        Holds ``config.json``, the weights and the tokenizer.
    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415 - takes seconds

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        self.first, self.last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text, without those that mark its ends, as many as fit."""
        encoded = self.tokenizer(
            list(texts), add_special_tokens=False, truncation=True, max_length=MOST_TOKENS - 2
        )
        return [tokens or [self.tokenizer.unk_token_id] for tokens in encoded["input_ids"]]

    @torch.inference_mode()
    def features(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Return features of texts given by their tokens, best of about the same length."""
        longest = max(map(len, texts)) + 2
        words = torch.full((len(texts), longest), self.tokenizer.pad_token_id)
        mask = torch.zeros((len(texts), longest), dtype=torch.long)
        for row, tokens in enumerate(texts):
            words[row, : len(tokens) + 2] = torch.tensor([self.first, *tokens, self.last])
            mask[row, : len(tokens) + 2] = 1
        hidden = self.model(input_ids=words, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        means: Tensor = (hidden * weights).sum(1) / weights.sum(1)
        return means
