"""The experiments that there are."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.methods import ROUNDS, TEXT, Method

# The paper does not say how long it trained, nor on batches of what size: these are ours.
EPOCHS = {"dan": 10, "gru": 5, "encoder": 20, "rounds": 10}
BATCH = 64


@dataclass(frozen=True)
class Experiment:
    """A model on a data set, and the ways to calibrate it."""

    name: str
    dataset: str  # "imdb", "amazon" or "rounds"
    model: str  # "dan", "gru", "encoder" or "rounds"
    data_title: str
    model_title: str
    methods: Sequence[Method]
    epochs: int
    batch: int = BATCH

    @property
    def steps(self) -> bool:
        """Whether errors are taken for each step, and not in stretches of length."""
        return self.dataset == "rounds"


def _text(dataset: str, data_title: str) -> list[Experiment]:
    titles = {"dan": "DAN", "gru": "GRU", "encoder": "Encoder"}
    return [
        Experiment(f"{dataset}-{model}", dataset, model, data_title, title, TEXT, EPOCHS[model])
        for model, title in titles.items()
    ]


EXPERIMENTS = {
    one.name: one
    for one in [
        *_text("imdb", "Large Movie Review"),
        Experiment(
            "rounds", "rounds", "rounds", "Counter-Strike rounds", "GRU", ROUNDS, EPOCHS["rounds"]
        ),
        *_text("amazon", "Amazon Fine Food"),
    ]
}
