"""Moments of rows in cells of their size, and linear terms."""

import os

import numpy as np
import pytest

from tempocal.kernels import key_counts, native
from tempocal.rows import BinaryRows, compiled
from tempocal.rows.compiled import linear_terms, sum_cells

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
N, N_KEYS, CELLS, SCALE = 5000, 7, 16, 4.0
KEY_TYPES = [None, *key_counts.KEY_TYPES]


def simulate(dtype=np.float64, key_type=np.uint16):
    rng = np.random.default_rng(0)
    x, keys = 3.0 * rng.normal(size=N), rng.integers(0, N_KEYS, N)
    x[:3] = 1e30, 0.0, -CELLS / SCALE
    labels, weights = rng.integers(0, 2, N), rng.exponential(size=N)
    return x.astype(dtype), labels, weights, None if key_type is None else keys.astype(key_type)


def written_out(x, keys, values, *, cells=CELLS, scale=SCALE):
    """Sum values by key and cell, the last of which is for rows beyond the others."""
    index = np.minimum(np.abs(x.astype(float)) * scale, cells).astype(int)
    table = np.zeros((1 if keys is None else N_KEYS, cells + 1))
    np.add.at(table, (0 if keys is None else keys, index), values)
    return table


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("key_type", KEY_TYPES)
@pytest.mark.parametrize("given", ["labels", "weights", "neither", "both"])
def test_cells_are_those_written_out(loops, dtype, key_type, given, monkeypatch):
    x, labels, weights, keys = simulate(dtype, key_type)
    own_labels = labels if given in ("labels", "both") else None
    own_weights = weights if given in ("weights", "both") else None
    w, n_keys = 1.0 if own_weights is None else weights, 1 if keys is None else N_KEYS
    fourth = 1.0 if own_labels is None else (0.5 - labels) * x
    for small in (0, 2**19):
        # In one part and in several.
        monkeypatch.setattr(compiled, "SMALL_TABLES", small)
        monkeypatch.setattr(compiled, "PART", 1000)
        found = sum_cells(x, own_labels, own_weights, keys, n_keys=n_keys, cells=CELLS, scale=SCALE)
        size = np.abs(x.astype(float))
        for k, values in enumerate((w, w * size, w * size * size, fourth)):
            wanted = written_out(x, keys, values)
            np.testing.assert_allclose(found[..., k], wanted, rtol=1e-11, atol=1e-11)


def test_outliers_of_any_size_are_in_the_last_cell():
    far, sums = np.array([1e300, np.inf, -1e200]), np.zeros((1, 3, 4))
    native.sum_cells(far, None, np.zeros(3), None, np.ones(1), sums)
    assert sums[0, :, 3].tolist() == [0.0, 0.0, 3.0]


@pytest.mark.parametrize("weighted", [False, True])
def test_outliers_have_their_keys(weighted):
    rng = np.random.default_rng(0)
    x, y, keys = rng.normal(size=20_000), rng.integers(0, 2, 20_000), rng.integers(0, 5, 20_000)
    x[::100] *= 50.0
    order, w = np.argsort(keys, kind="stable"), np.ones(20_000)
    w[::7] = 3.0 if weighted else 1.0
    given = (w, w[order]) if weighted else (None, None)
    unsorted_rows = BinaryRows(x[None], y, keys=keys, n_keys=5, weights=given[0])._points
    sorted_rows = BinaryRows(x[order][None], y[order], keys=keys[order], n_keys=5, weights=given[1])
    for points in (unsorted_rows, sorted_rows._points):
        assert (np.diff(points.keys) >= 0).all()
        for power in range(2):
            found = np.bincount(points.keys, points.weights * points.sizes**power)
            wanted = np.bincount(keys, w * np.abs(x) ** power)
            np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("key_type", KEY_TYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.int64, np.bool_])
def test_linear_terms(dtype, key_type, weighted, kind, monkeypatch):
    x, labels, weights, keys = simulate(dtype, key_type)
    x[0] = 0.3
    targets = labels.astype(kind) if kind is not np.float64 else 0.9 * labels
    w, n_keys = weights if weighted else 1.0, 1 if keys is None else N_KEYS
    own = np.zeros(N, dtype=int) if keys is None else keys
    wanted = np.bincount(own, w * (0.5 - targets) * x, minlength=n_keys)
    for part in (1000, 2**16):
        monkeypatch.setattr(key_counts, "PART", part)
        given = np.stack([x, x]), targets, weights if weighted else None, keys, n_keys
        found = linear_terms(*given)
        np.testing.assert_allclose(
            found, np.stack([wanted, wanted], axis=1), rtol=1e-11, atol=1e-11
        )


@pytest.mark.parametrize("n", [0, 1, 3, 4, 255, 257])
def test_linear_terms_of_few_rows(n):
    x, labels, _, _ = simulate()
    found = np.zeros(1)
    native.linear_terms(x[1 : n + 1], labels[1 : n + 1], None, None, found)
    wanted = ((0.5 - labels) * x)[1 : n + 1].sum()
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("key", [-1, 2, 2**31 - 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_keys_out_of_range_are_refused(key, dtype, loops):
    keys, labels = np.array([0, key], dtype=dtype), np.ones(2, dtype=np.int64)
    for own in ((labels, None), (None, np.ones(2))):
        with pytest.raises(ValueError, match="do not go together"):
            loops.sum_cells(np.ones(2), *own, keys, np.ones(1), np.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match="do not go together"):
        native.linear_terms(np.ones(2), labels, None, keys, np.zeros(2))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels", np.zeros(5, dtype=np.int64)),
        ("weights", np.ones(7)),
        ("keys", np.zeros(5, dtype=np.int64)),
        ("scale", np.ones(2)),
        ("scale", np.array([-1.0])),
        ("scale", np.array([np.nan])),
        ("sums", np.zeros((1, 16, 3))),
        ("sums", np.zeros((0, 16, 4))),
        ("sums", np.zeros((1, 0, 4))),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(name, value):
    good = {
        "x": np.ones(6),
        "labels": np.zeros(6, dtype=np.int64),
        "weights": np.ones(6),
        "keys": np.zeros(6, dtype=np.int64),
        "scale": np.ones(1),
        "sums": np.zeros((1, 16, 4)),
    }
    native.sum_cells(*good.values())
    with pytest.raises(ValueError, match="do not go together"):
        native.sum_cells(*{**good, name: value}.values())
