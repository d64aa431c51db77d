"""Labeled texts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.datasets.source import Source


@dataclass(frozen=True)
class Texts:
    """Texts with two classes, one row a text."""

    text: list[str]
    label: NDArray[np.int64]  # 1 if the text is positive
    part: NDArray[np.str_]  # "train" or "test"; "whole" where the source is not split
    sequence: NDArray[np.int64]  # id of each text
    source: Source
    complete: bool  # whether all texts of the published dataset were there
