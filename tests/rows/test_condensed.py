"""Few points stand for many rows."""

import numpy as np
import pytest

from tempocal.rows import BinaryRows

N, KEYS = 60_000, 12


def make_rows(*, weighted: bool, features: int = 1, far: float = 0.0, n: int = N) -> BinaryRows:
    rng = np.random.default_rng(3)
    x, keys = 3 * rng.normal(size=(features, n)), rng.integers(KEYS, size=n)
    x[0, 0] += far
    weights = rng.random(n) + 0.5 if weighted else None
    # Nothing under the last key; targets that are smoothed.
    return BinaryRows(x, 0.9 * rng.random(n), weights=weights, keys=keys, n_keys=KEYS + 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_points_have_about_the_sums_of_the_rows(weighted):
    rows = make_rows(weighted=weighted)
    few = rows.condensed()
    assert few is not None
    assert few._features.shape[1] < N / 8
    np.testing.assert_allclose(few.key_weights, rows.key_weights, rtol=1e-12)
    for slope in (0.0, 0.3, 1.0, -0.7):
        theta = np.full((KEYS + 1, 1), slope)
        got, expected = few.sums(theta), rows.sums(theta)
        np.testing.assert_allclose(got.loss, expected.loss, rtol=1e-7)
        np.testing.assert_allclose(got.hessian, expected.hessian, rtol=1e-5)
        atol = 1e-6 * rows.total_weight / KEYS
        np.testing.assert_allclose(got.gradient, expected.gradient, atol=atol)


def test_one_row_far_out_leaves_the_others_their_cells():
    rows, theta = make_rows(weighted=False, far=1e9), np.full((KEYS + 1, 1), 0.5)
    few = rows.condensed()
    assert few is not None
    np.testing.assert_allclose(few.sums(theta).hessian, rows.sums(theta).hessian, rtol=1e-3)


def test_there_are_none_of_few_rows_of_several_features_or_of_nothing():
    assert make_rows(weighted=False, n=500).condensed() is None
    assert make_rows(weighted=False, features=2).condensed() is None
    assert BinaryRows(np.zeros((1, N)), np.ones(N)).condensed() is None


def test_keys_without_weight_are_not_condensed():
    weights = np.repeat([0.0, 1.0], N // 2)
    x, keys = np.linspace(-3, 3, N)[None], np.repeat([0, 1], N // 2)
    assert BinaryRows(x, np.ones(N), weights=weights, keys=keys, n_keys=2).condensed() is None
