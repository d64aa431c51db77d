"""The base of all parts of a fitted model: maps, bases of time, bands.

A part is a frozen dataclass of numbers, arrays and other parts. It is registered by being defined;
saving and loading (`maps.document`) go by its fields.

Numbers are bounded, so that no logit (within 2**53) and no time (within 8e307) makes a product or a
difference overflow: what is loaded predicts finite probabilities. The bounds are far beyond any
fit: logits of 1e-100, the smallest that are taken, give slopes of about 1e100. `tempocal.scorer`
has the same ones.
"""

from abc import ABC
from typing import Any, ClassVar

import numpy as np

from tempocal.links import Array
from tempocal.registry import Registry

LARGEST_COEFFICIENT = 1e200
LARGEST_TIME = 8.9e307  # differences of two are finite

PARTS = Registry("part")


class Part(ABC):  # noqa: B024 - of its subclasses some are abstract
    """A piece of a fitted model.

    ``schema`` is that of the model files that can hold it. A class with ``saved=False`` is not
    registered.
    """

    schema: ClassVar[int] = 1

    def __init_subclass__(cls, *, saved: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if saved:
            PARTS.add(cls)

    def validate(self) -> None:  # noqa: B027 - some have nothing that could be wrong
        """Raise a ValueError if no fit could have left these numbers behind."""


def require(holds: bool, what: str) -> None:
    """Raise a ValueError unless something holds."""
    if not holds:
        raise ValueError(what)


def require_coefficients(numbers: Array) -> None:
    """Refuse coefficients whose product with a logit could overflow."""
    require(bool((np.abs(numbers) <= LARGEST_COEFFICIENT).all()), "coefficients are too large")


def require_time(*times: float) -> None:
    """Refuse times whose differences overflow."""
    require(all(abs(time) <= LARGEST_TIME for time in times), "times are too large")


def require_ascending(times: Array) -> None:
    """Refuse times that are not strictly ascending."""
    require(times.ndim == 1 and bool((times[1:] > times[:-1]).all()), "times do not ascend")
    require_time(*times[[0, -1]] if len(times) else ())
