"""From whole sequences to the prefixes that a calibrator learns from, and to parts of the data.

A model is calibrated along time on sequences that were cut short: `truncate` cuts each at random
moments, as the paper does, and `prefixes` at all of them. Prefixes of one sequence share their
label and most of their elements, so they belong on one side of every split: `split_by_sequence`
splits at random, `split_in_time` by when the sequences started.
"""

from tempocal.sequences.prefixes import Prefixes, prefixes
from tempocal.sequences.random_split import split_by_sequence
from tempocal.sequences.time_split import split_in_time
from tempocal.sequences.truncate import truncate

__all__ = ["Prefixes", "prefixes", "split_by_sequence", "split_in_time", "truncate"]
