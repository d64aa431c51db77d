"""What a fit starts from."""

from dataclasses import replace

import numpy as np
import pytest

from tempocal.calibrators import fit_data
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.online_state import OnlineState
from tempocal.inputs import Groups
from tempocal.kernels import key_counts


@pytest.mark.parametrize("most", [0, 2**26])
def test_groups_of_each_key_are_counted_once(monkeypatch, most):
    monkeypatch.setattr(key_counts, "MAX_PAIRS", most)
    rng = np.random.default_rng(0)
    keys, codes = rng.integers(0, 5, 300), rng.integers(0, 40, 300)
    rows = FitData(np.zeros(300), np.zeros(300, dtype=int), None, Groups(codes, 40), 2)
    found = rows.groups_by_key(keys, 7)
    assert found.tolist() == [len(set(codes[keys == key])) for key in range(7)]
    assert found.dtype == np.float64


@pytest.mark.parametrize("most", [0, 2**26])
def test_pairs_of_narrow_codes_do_not_overflow(monkeypatch, most):
    monkeypatch.setattr(key_counts, "MAX_PAIRS", most)
    keys, codes = np.arange(3000) % 900, (np.arange(3000) % 700).astype(np.uint16)
    rows = FitData(np.zeros(3000), np.zeros(3000, dtype=int), None, Groups(codes, 700), 2)
    found = rows.groups_by_key(keys.astype(np.uint16), 900)
    assert found.tolist() == [len(set(codes[keys == key].tolist())) for key in range(900)]


def simulated(n_classes, weighted):
    rng = np.random.default_rng(0)
    z, weights = rng.normal(size=(1000, n_classes)), rng.exponential(size=1000)
    labels = rng.integers(0, n_classes, 1000)
    return FitData(z, labels, weights if weighted else None, None, n_classes)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [64, 2**15])
def test_losses_and_squares_are_those_of_all_blocks(monkeypatch, weighted, block):
    monkeypatch.setattr(fit_data, "BLOCK", block)
    rows = simulated(3, weighted)
    w = np.ones(1000) if rows.weights is None else rows.weights
    losses = (
        np.log(np.exp(rows.raw_logits).sum(axis=1)) - rows.raw_logits[np.arange(1000), rows.labels]
    )
    assert rows.nll() == pytest.approx(np.average(losses, weights=w), rel=1e-12)
    x = np.concatenate([rows.raw_logits, np.ones((1000, 1))], axis=1)
    squares = 2 / 9 * (w[:, None] * x).T @ x
    np.testing.assert_allclose(rows.moment(of_log_proba=False), squares, rtol=1e-12)


def test_one_column_has_the_squares_of_the_two_that_it_stands_for():
    two = simulated(2, weighted=False)
    one = FitData(two.raw_logits[:, 1] - two.raw_logits[:, 0], two.labels, None, None, 2)
    found, wanted = (rows.moment(of_log_proba=True) for rows in (one, two))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert found.all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights_are_those_of_the_rows_that_are_left(n_classes, weighted):
    rng = np.random.default_rng(0)
    labels = rng.choice(n_classes, 500, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
    weights = rng.exponential(size=500) if weighted else None
    counts, earlier = np.bincount(labels), np.arange(1.0, n_classes + 1)
    rows = FitData(np.zeros(500), labels, weights, None, n_classes, class_counts=counts)
    np.testing.assert_array_equal(rows.class_weights, np.bincount(labels, weights))
    kept = rng.random(500) < 0.3
    some = replace(rows.take(kept), earlier=OnlineState((), earlier))
    wanted = np.bincount(labels[kept], None if weights is None else weights[kept]) + earlier
    np.testing.assert_array_equal(some.class_weights, wanted)
    assert some.class_weights.dtype == np.float64
