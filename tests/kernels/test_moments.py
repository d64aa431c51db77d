"""Points with the moments of many rows, which the compiled loops count."""

import os

import numpy as np
import pytest

from support.keyed_rows import KEYS, N, make_rows
from tempocal.kernels import native

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)


@pytest.fixture(autouse=True)
def no_rows_are_small(monkeypatch):
    """Match moments however few rows there are."""
    monkeypatch.setattr("tempocal.rows.sigmoid.SMALL", 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_points_have_about_the_sums_of_the_rows(weighted):
    rows = make_rows(weighted=weighted)
    matched = rows.moment_matched()
    assert matched is not None
    assert matched._features.shape[1] < N / 8
    np.testing.assert_allclose(matched.key_weights, rows.key_weights, rtol=1e-12)
    for slope in (0.0, 0.3, 1.0, -0.7):
        theta = np.full((KEYS + 1, 1), slope)
        got, expected = matched.sums(theta), rows.sums(theta)
        np.testing.assert_allclose(got.loss, expected.loss, rtol=1e-7)
        np.testing.assert_allclose(got.hessian, expected.hessian, rtol=1e-5)
        atol = 1e-6 * rows.total_weight / KEYS
        np.testing.assert_allclose(got.gradient, expected.gradient, atol=atol)


def test_one_outlier_leaves_the_others_their_cells():
    rows, theta = make_rows(weighted=False, far=1e9), np.full((KEYS + 1, 1), 0.5)
    matched = rows.moment_matched()
    assert matched is not None
    got, expected = matched.sums(theta), rows.sums(theta)
    np.testing.assert_allclose(got.loss, expected.loss, rtol=1e-7)
    np.testing.assert_allclose(got.hessian, expected.hessian, rtol=1e-4)
