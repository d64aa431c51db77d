"""How far ahead rows of a model learn from forecasts, as its file says it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tempocal.errors import DamagedModelFileError
from tempocal.predictor.entries import require_keys

_KEYS_OF_SEQUENCES = {"td_horizon", "mean_length"}


@dataclass(frozen=True)
class SequenceHorizon:
    """How far ahead rows of a model learn from forecasts.

    Attributes
    ----------
    td_horizon : float
        The horizon, as a share of a typical sequence.
    mean_length : float
        Rows of a typical sequence.
    """

    td_horizon: float
    mean_length: float

    @property
    def decay(self) -> float:
        """Weight of what comes one row later."""
        return float(np.exp(-1.0 / (self.td_horizon * self.mean_length)))

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return what ``asdict`` described; anything else is refused."""
        require_keys(content, _KEYS_OF_SEQUENCES)
        found = cls(horizon_from(content["td_horizon"]), content["mean_length"])
        if not _is_number(found.mean_length) or not 1.0 <= found.mean_length < np.inf:
            raise DamagedModelFileError(
                "the rows of a typical sequence must be a number of at least 1, but they are "
                f"{found.mean_length!r:.80}"
            )
        return found


def horizon_from(value: Any) -> float:
    """Return a finite horizon."""
    if not _is_number(value) or not 0.0 < value < np.inf:
        raise DamagedModelFileError(
            f"td_horizon must be a share of a sequence above 0, but it is {value!r:.80}"
        )
    horizon: float = value
    return horizon


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 2**1000
