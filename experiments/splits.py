"""Which texts are trained on, calibrated on and tested on, and where they are cut."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tempocal.datasets import Texts
from tempocal.sequences import truncate

CUTS = 5


@dataclass(frozen=True)
class Parts:
    """Numbers of the texts of each part."""

    train: NDArray[np.int64]
    calibration: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class Prefixes:
    """Cut texts: the first ``length`` words of text number ``text``."""

    text: NDArray[np.int64]
    length: NDArray[np.int64]
    calibration: NDArray[np.bool_]


def split(texts: Texts, seed: int) -> Parts:
    """Split texts as the paper does.

    Large Movie Review has a test set; a fifth of its training set, 5,000 of 25,000, is for
    calibration. Of Amazon Fine Food 450,000, 50,000 and 68,454 of its 568,454 reviews are taken,
    or as large a share of a sample.
    """
    rng = np.random.default_rng([seed, 0])
    if (texts.part == "whole").all():
        order = rng.permutation(len(texts.text))
        ends = np.round(np.array([450_000, 500_000]) / 568_454 * len(order)).astype(int)
        train, calibration, test = np.split(order, ends)
    else:
        order = rng.permutation(np.flatnonzero(texts.part == "train"))
        calibration, train = np.split(order, [len(order) // 5])
        test = np.flatnonzero(texts.part == "test")
    return Parts(np.sort(train), np.sort(calibration), np.sort(test))


def cut(parts: Parts, lengths: NDArray[np.int64], seed: int) -> Prefixes:
    """Cut the texts for calibration and test at five points each, uniform over their length."""
    texts = np.concatenate([parts.calibration, parts.test])
    cuts = truncate(lengths[texts], CUTS, seed=seed)
    calibration = cuts.sequence < len(parts.calibration)
    return Prefixes(texts[cuts.sequence], cuts.length, calibration)


def labels_of(texts: Texts, which: NDArray[np.int64]) -> Tensor:
    """Return labels of texts, as the loss wants them."""
    return torch.from_numpy(texts.label[which].astype(np.float32))
