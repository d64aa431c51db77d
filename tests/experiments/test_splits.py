"""Splits and cuts are the paper's."""

import numpy as np
from experiments.splits import CUTS, cut, split

from tempocal.datasets import Source, Texts


def texts(n, part):
    label = np.arange(n) % 2
    return Texts(["a"] * n, label, np.array(part), np.arange(n), Source("", ""), complete=True)


def test_large_movie_review():
    parts = split(texts(50_000, ["train"] * 25_000 + ["test"] * 25_000), seed=3)
    assert (len(parts.train), len(parts.calibration), len(parts.test)) == (20_000, 5_000, 25_000)
    assert set(parts.train) | set(parts.calibration) == set(range(25_000))
    np.testing.assert_array_equal(parts.test, np.arange(25_000, 50_000))


def test_amazon_fine_food():
    parts = split(texts(568_454, ["whole"] * 568_454), seed=0)
    assert (len(parts.train), len(parts.calibration), len(parts.test)) == (450_000, 50_000, 68_454)
    assert len(np.unique(np.concatenate([parts.train, parts.calibration, parts.test]))) == 568_454


def test_another_seed_splits_otherwise():
    some = texts(100, ["train"] * 50 + ["test"] * 50)
    assert set(split(some, 0).train) != set(split(some, 1).train)
    np.testing.assert_array_equal(split(some, 0).train, split(some, 0).train)


def test_five_cuts_uniform_over_the_length():
    some = texts(4000, ["train"] * 2000 + ["test"] * 2000)
    parts, lengths = split(some, 0), np.full(4000, 10)
    prefixes = cut(parts, lengths, seed=0)
    assert len(prefixes.text) == CUTS * 2400
    np.testing.assert_array_equal(np.unique(prefixes.text[prefixes.calibration]), parts.calibration)
    np.testing.assert_array_equal(np.unique(prefixes.text[~prefixes.calibration]), parts.test)
    counts = np.bincount(prefixes.length, minlength=11)[1:]
    # Each length is expected 1,200 times, give or take 33.
    assert counts.sum() == len(prefixes.text)
    assert (abs(counts - 1200) < 4 * 33).all()
    # The prefixes of a text stand together, the shortest first.
    assert (np.diff(prefixes.text.reshape(-1, CUTS)) == 0).all()
    assert (np.diff(prefixes.length.reshape(-1, CUTS)) >= 0).all()
