"""A recurrent network over the rounds of a game: a prediction after every round."""

from torch import Tensor, nn


class RoundsGRU(nn.Module):
    """A GRU of 96 units and two layers of 96 units above it, then one logit.

    Parameters
    ----------
    features : int
        Numbers that describe a round.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.recurrent = nn.GRU(features, 96, batch_first=True)
        self.head = nn.Sequential(
            nn.Linear(96, 96),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(96, 96),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(96, 1),
        )

    def forward(self, rounds: Tensor) -> Tensor:
        """Return a logit after each round, of shape (games, rounds)."""
        outputs, _ = self.recurrent(rounds)
        logits: Tensor = self.head(outputs).squeeze(-1)
        return logits
