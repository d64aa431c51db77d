"""The one training loop: Adam with its defaults on the logistic loss."""

import math
from collections.abc import Callable, Iterable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

# Inputs of the model, labels, and weights of the labels (0 where there is only padding).
Batch = tuple[tuple[Tensor, ...], Tensor, Tensor]
# Told how much of the work is done, from 0 to 1.
Report = Callable[[float], None]


class Batches(Protocol):
    """Cuts the training set into batches, each time in another order."""

    def __len__(self) -> int: ...

    def shuffled(self, generator: torch.Generator) -> Iterable[Batch]:
        """Return the batches of one epoch."""
        ...


def train(model: nn.Module, batches: Batches, *, epochs: int, seed: int, report: Report) -> None:
    """Train a model in place. The seed orders the batches; the caller seeds weights and dropout."""
    optimizer = torch.optim.Adam(model.parameters())
    generator = torch.Generator().manual_seed(seed)
    model.train()
    for epoch in range(epochs):
        for number, (inputs, labels, weights) in enumerate(batches.shuffled(generator), start=1):
            optimizer.zero_grad()
            losses = functional.binary_cross_entropy_with_logits(
                model(*inputs), labels, reduction="none"
            )
            loss = (losses * weights).sum() / weights.sum()
            loss.backward()
            optimizer.step()
            report((epoch + number / len(batches)) / epochs)
    model.eval()


class Rows:
    """Batches of single rows: one tensor of inputs."""

    def __init__(self, inputs: Tensor, labels: Tensor, size: int) -> None:
        self.inputs, self.labels, self.size = inputs, labels, size

    def __len__(self) -> int:
        return math.ceil(len(self.labels) / self.size)

    def shuffled(self, generator: torch.Generator) -> Iterable[Batch]:
        """Return the rows in random order, ``size`` at a time."""
        for rows in torch.randperm(len(self.labels), generator=generator).split(self.size):
            labels = self.labels[rows]
            yield (self.inputs[rows],), labels, torch.ones_like(labels)
