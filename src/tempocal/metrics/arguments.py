"""Settings of the metrics, checked with a worded error."""

from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import check_bins, check_choice, check_whole

__all__ = ["check_bins", "check_choice", "check_level", "check_two_classes", "check_whole"]


def check_two_classes(of: str, n_classes: int, instead: str) -> None:
    """Refuse to speak of a positive class where there are more than two."""
    if of == "positive_class" and n_classes != 2:
        raise InputError(
            f'of="positive_class" needs two classes, but proba has {n_classes}: use {instead}'
        )


def check_level(level: Any) -> None:
    """Refuse what is no share of intervals."""
    if not isinstance(level, int | float | np.number) or not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, but it is {level!r}")
