"""Bins in a single pass: the same to the bit as the usual way, which words the errors."""

import math
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import InputError
from tempocal.kernels import native
from tempocal.metrics import debiased_ece, ece, max_calibration_error
from tempocal.metrics.binsums import bin_sums
from tempocal.metrics.edges import equal_width
from tempocal.metrics.events import events_of
from tempocal.metrics.predictions import check_predictions
from tempocal.metrics.single_pass import CHUNK_ROWS, bin_sums_single_pass

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
FIELDS = ("count", "weight", "confidence", "outcome")


def the_usual_way(y, proba, edges, of):
    events = events_of(check_predictions(y, proba, None, None), of)
    return bin_sums(events.confidence, events.outcome, events.weight, edges)


def assert_same_bits(y, proba, bins, of):
    edges = equal_width(bins)
    found = bin_sums_single_pass(y, proba, edges, of_top=of == "top_label")
    assert found is not None
    wanted = the_usual_way(y, proba, edges, of)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(found, field), getattr(wanted, field), strict=True)


def simulate(n, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(n_classes, 0.5), size=n)
    y = (rng.random((n, 1)) > np.cumsum(proba, axis=1)).sum(axis=1).clip(0, n_classes - 1)
    y[:n_classes] = np.arange(n_classes)
    return y, proba


@pytest.mark.parametrize("n", [2, 63, 64, 65, 1000, CHUNK_ROWS, 2 * CHUNK_ROWS + 77])
@pytest.mark.parametrize("of", ["top_label", "positive_class"])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(
    "kinds", [("f8", "i8"), ("f8", "?"), ("f4", "i8"), ("f4", "?")], ids="-".join
)
def test_two_classes(loops, n, of, columns, kinds):
    dtype, labels = kinds
    y, proba = simulate(n)
    scores = (proba if columns == 2 else proba[:, 1]).astype(dtype)
    assert_same_bits(y.astype(labels), np.ascontiguousarray(scores), 15, of)


def test_a_column_of_a_table(loops):
    y, proba = simulate(2 * CHUNK_ROWS + 5)
    assert_same_bits(np.repeat(y, 2)[::2], proba[:, 1], 15, "top_label")
    assert_same_bits(y, np.asfortranarray(proba), 15, "top_label")


@pytest.mark.parametrize("n_classes", [3, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_classes(n_classes, dtype):
    y, proba = simulate(5000, n_classes)
    assert_same_bits(y, proba.astype(dtype), 15, "top_label")


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 10, 15, 49, 100, 4096])
@pytest.mark.parametrize("of", ["top_label", "positive_class"])
def test_edges_and_what_is_next_to_them(loops, bins, of):
    values = np.arange(bins + 1) / bins
    near = np.concatenate([values, np.nextafter(values, 0.0), np.nextafter(values, 1.0)])
    proba = np.concatenate([near, 1.0 - near, [0.0, 0.5, 1.0, 5e-324]]).clip(0.0, 1.0)
    # Rows next to edges among others, and on their own.
    for some in (proba, np.tile(proba, 64), np.insert(np.full(640, 0.3), 100, proba)):
        y = np.arange(len(some)) % 2
        assert_same_bits(y, some, bins, of)


@pytest.mark.parametrize("bins", [1, 2, 15, 4096])
@pytest.mark.parametrize("of", ["top_label", "positive_class"])
def test_what_is_nearly_next_to_an_edge(loops, bins, of):
    """By a few of the digits that tell where in its bin a row lies, or by parts of one."""
    away = np.array([-8.0, -2.0, -1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0, 2.0, 8.0]) / 2**20
    proba = ((np.arange(bins + 1)[:, None] + away) / bins).ravel()
    proba = proba[(proba >= 0.0) & (proba <= 1.0)]
    # One value many times, so that a row is not left to the careful way for its neighbors' sake.
    for some in (np.repeat(proba, 64), np.tile(proba, 64)):
        assert_same_bits(np.arange(len(some)) % 2, some, bins, of)


@pytest.mark.parametrize("n", [64, 66, 1000, CHUNK_ROWS + 1])
def test_rows_of_one_bin_are_added_up_exactly_enough(loops, n):
    proba = np.random.default_rng(n).uniform(0.41, 0.46, n)
    y = np.arange(n) % 2
    found = bin_sums_single_pass(y, proba, equal_width(15), of_top=False)
    assert found.confidence[6] == pytest.approx(math.fsum(proba), rel=1e-14)
    assert_same_bits(y, proba, 15, "positive_class")


@given(
    st.lists(st.floats(0.0, 1.0, width=64), min_size=2, max_size=200),
    st.integers(1, 60),
    st.sampled_from(["top_label", "positive_class"]),
)
def test_any_probabilities(proba, bins, of):
    y = np.arange(len(proba)) % 2
    assert_same_bits(y, np.array(proba), bins, of)


def test_more_cores_give_the_same_bits(monkeypatch):
    y, proba = simulate(5 * CHUNK_ROWS + 11)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(
            "tempocal.kernels.thread_pool._available_cores", lambda cores=cores: cores
        )
        found.append(ece(y, proba[:, 1]))
        assert bin_sums_single_pass(y, proba[:, 1], equal_width(15), of_top=True) is not None
    assert found[0] == found[1] == found[2]


BAD = {
    "NaN": lambda y, p: (y, put(p, 100, np.nan)),
    "infinity": lambda y, p: (y, put(p, 100, np.inf)),
    "below 0": lambda y, p: (y, put(p, 100, -1e-300)),
    "above 1": lambda y, p: (y, put(p, 100, np.nextafter(1.0, 2.0))),
    "far below 0": lambda y, p: (y, put(p, 100, -0.5)),
    "far above 1": lambda y, p: (y, put(p, 100, 1e300)),
    "as far below": lambda y, p: (y, put(p, 100, -1e300)),
    "minus NaN": lambda y, p: (y, put(p, 100, -np.nan)),
    "what the digits cancel": lambda y, p: (y, put(p, 100, -(1.5 * 2**32 + 2**-20) / 15)),
    "minus infinity": lambda y, p: (y, put(p, 100, -np.inf)),
    "a label below 0": lambda y, p: (put(y, 100, -1), p),
    "one of two columns below 0": lambda y, p: (y, put(pair(p), 100, [1.0, -0.0005])),
    "one of two columns above 1": lambda y, p: (y, put(pair(p), 100, [1.0005, 0.0])),
    "NaN in one of two columns": lambda y, p: (y, put(pair(p), 100, [0.5, np.nan])),
    "in the last row": lambda y, p: (y, put(p, -1, 2.0)),
    "one class": lambda y, p: (np.zeros_like(y), p),
    "three classes": lambda y, p: (put(y, 100, 2), p),
    "a sum of 1.002": lambda y, p: (y, np.stack([1.002 - p, p], axis=1)),
    "more labels": lambda y, p: (np.append(y, 0), p),
    "no rows": lambda y, p: (y[:0], p[:0]),
}


def put(values, row, value):
    changed = values.copy()
    changed[row] = value
    return changed


def pair(proba):
    return np.stack([1.0 - proba, proba], axis=1)


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("metric", [ece, max_calibration_error])
@pytest.mark.parametrize("of", ["top_label", "positive_class"])
def test_what_is_wrong_is_refused_in_words(loops, kind, metric, of):
    y, proba = simulate(300)
    with pytest.raises(InputError):
        metric(*BAD[kind](y, proba[:, 1].clip(0.1, 0.9)), of=of)


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y + 1,
        lambda y: y.astype(np.int8),
        lambda y: y.astype(float),
        lambda y: y.tolist(),
        lambda y: y.astype(">i8"),
        lambda y: np.where(y == 1, "won", "lost"),
    ],
)
def test_other_labels_go_the_usual_way(change):
    y, proba = simulate(300)
    assert bin_sums_single_pass(change(y), proba, equal_width(15), of_top=True) is None
    assert ece(change(y), proba) == ece(y, proba)


def test_a_sum_that_is_nearly_1_is_taken():
    y, proba = simulate(300)
    off = proba.copy()
    off[:, 0] += 0.9995e-3
    off = off[off.max(axis=1) <= 1.0]
    y = y[: len(off)]
    assert bin_sums_single_pass(y, off, equal_width(15), of_top=True) is None
    assert ece(y, off) > 0.0


@pytest.mark.parametrize("metric", [ece, max_calibration_error, debiased_ece])
def test_metrics_are_the_same_without_the_loops(metric, monkeypatch):
    y, proba = simulate(3000)
    found = metric(y, proba, binning="equal_width")
    monkeypatch.setattr("tempocal.metrics.single_pass.native", None)
    wanted = metric(y, proba, binning="equal_width")
    assert found == wanted
    assert found.estimator == wanted.estimator
    for name, column in vars(wanted.bins).items():
        np.testing.assert_array_equal(getattr(found.bins, name), column)
