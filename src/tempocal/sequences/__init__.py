"""Prefixes of sequences, and train/test splits that keep sequences together.

A model is calibrated along time on prefixes of sequences: `truncate` cuts each sequence at random
points, as the paper does, and `prefixes` at all points. Prefixes of one sequence share their label
and most of their elements, so they belong in the same part of every split: `split_by_sequence`
splits at random, `split_in_time` by the start of the sequences.
"""

from tempocal.sequences.prefixes import Prefixes, prefixes
from tempocal.sequences.random_split import split_by_sequence
from tempocal.sequences.time_split import split_in_time
from tempocal.sequences.truncate import truncate

__all__ = ["Prefixes", "prefixes", "split_by_sequence", "split_in_time", "truncate"]


def __dir__() -> list[str]:
    return __all__
