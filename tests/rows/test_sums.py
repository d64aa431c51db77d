"""Sums over rows: right values, right derivatives, right keys."""

import numpy as np
import pytest

from tempocal.rows import BinaryRows, PerClassRows, Rows, SharedRows
from tempocal.rows.sums import mean_squares_of

N, N_CLASSES, N_KEYS = 700, 4, 3


def make_rows(kind: str, weighted: bool, keyed: bool) -> Rows:
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=(N_CLASSES, N))
    labels = rng.integers(0, N_CLASSES, N)
    common = {
        "weights": rng.random(N) if weighted else None,
        "keys": rng.integers(0, N_KEYS, N) if keyed else None,
        "n_keys": N_KEYS if keyed else 1,
    }
    if kind == "binary":
        return BinaryRows(z[:3], rng.random(N), **common)
    if kind == "shared":
        return SharedRows(z, labels, **common)
    return PerClassRows(z, labels, N_CLASSES, diagonal=kind == "diagonal", **common)


KINDS = ["binary", "shared", "diagonal", "full"]
every_kind = pytest.mark.parametrize("kind", KINDS)
weighted_or_not = pytest.mark.parametrize("weighted", [False, True])
keyed_or_not = pytest.mark.parametrize("keyed", [False, True])


def random_theta(rows: Rows) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(rows.n_keys, rows.n_coefficients))


@every_kind
@weighted_or_not
@keyed_or_not
def test_derivatives_match_finite_differences(kind, weighted, keyed):
    rows = make_rows(kind, weighted, keyed)
    theta = random_theta(rows)
    sums = rows.sums(theta)
    for j in range(rows.n_coefficients):
        step = np.zeros_like(theta)
        step[:, j] = 1e-5
        above, below = rows.sums(theta + step), rows.sums(theta - step)
        np.testing.assert_allclose(
            sums.gradient[:, j], (above.loss - below.loss) / 2e-5, rtol=1e-6, atol=1e-5
        )
        np.testing.assert_allclose(
            sums.hessian[:, :, j], (above.gradient - below.gradient) / 2e-5, rtol=1e-6, atol=1e-5
        )


@weighted_or_not
def test_binary_loss_is_the_written_out_one(weighted):
    rng = np.random.default_rng(0)
    x, t, theta = 5 * rng.normal(size=(2, N)), rng.random(N), np.array([[0.7, -1.3]])
    w = rng.random(N) if weighted else None
    eta = theta[0] @ x
    losses = t * np.logaddexp(0, -eta) + (1 - t) * np.logaddexp(0, eta)
    expected = losses.sum() if w is None else w @ losses
    assert BinaryRows(x, t, weights=w).sums(theta).loss[0] == pytest.approx(expected, rel=1e-13)


@weighted_or_not
@pytest.mark.parametrize("diagonal", [False, True])
def test_softmax_loss_is_the_written_out_one(weighted, diagonal):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(3, N)), rng.integers(0, 3, N)
    w = rng.random(N) if weighted else np.ones(N)
    coefficients = rng.normal(size=(3, 2 if diagonal else 4))
    matrix = np.diag(coefficients[:, 0]) if diagonal else coefficients[:, :-1]
    eta = matrix @ x + coefficients[:, -1:]
    p = np.exp(eta) / np.exp(eta).sum(axis=0)
    expected = -(w * np.log(p[labels, np.arange(N)])).sum()
    rows = PerClassRows(x, labels, 3, diagonal=diagonal, weights=w if weighted else None)
    assert rows.sums(coefficients.reshape(1, -1)).loss[0] == pytest.approx(expected, rel=1e-13)


@every_kind
@weighted_or_not
def test_keys_are_separate_problems(kind, weighted):
    """Sums with different coefficients for each key are the sums of each key's rows alone."""
    together = make_rows(kind, weighted, keyed=True)
    theta = random_theta(together)
    sums = together.sums(theta)
    for key in range(N_KEYS):
        same = together.sums(np.tile(theta[key], (N_KEYS, 1)))
        assert sums.loss[key] == same.loss[key]
        np.testing.assert_array_equal(sums.gradient[key], same.gradient[key])
    merged = make_rows(kind, weighted, keyed=False).sums(theta[:1])
    tiled = together.sums(np.tile(theta[0], (N_KEYS, 1)))
    np.testing.assert_allclose(tiled.hessian.sum(axis=0), merged.hessian[0], rtol=1e-10, atol=1e-9)


@every_kind
def test_without_hessian_the_rest_is_the_same(kind):
    rows = make_rows(kind, weighted=True, keyed=True)
    theta = random_theta(rows)
    with_it, without = rows.sums(theta), rows.sums(theta, hessian=False)
    assert without.hessian is None
    # Blocks differ in size, so sums may differ in the last bits.
    np.testing.assert_allclose(without.loss, with_it.loss, rtol=1e-12)
    np.testing.assert_allclose(without.gradient, with_it.gradient, rtol=1e-10, atol=1e-10)


@every_kind
def test_saturated_rows_stay_finite(kind):
    rows = make_rows(kind, weighted=False, keyed=False)
    sums = rows.sums(1e6 * np.ones((1, rows.n_coefficients)))
    assert np.isfinite(sums.loss).all()
    assert np.isfinite(sums.gradient).all()
    assert np.isfinite(sums.hessian).all()


def test_many_blocks_equal_one():
    """More rows than fit a block, and a number that divides by nothing."""
    rng = np.random.default_rng(0)
    n = 50_021
    x, t = rng.normal(size=(1, n)), (rng.random(n) < 0.5).astype(float)
    sums = BinaryRows(x, t).sums(np.array([[0.8]]))
    eta = 0.8 * x[0]
    assert sums.loss[0] == pytest.approx((np.logaddexp(0, eta) - t * eta).sum(), rel=1e-13)
    p = 1 / (1 + np.exp(-eta))
    assert sums.gradient[0, 0] == pytest.approx((p - t) @ x[0], rel=1e-10)
    assert sums.hessian[0, 0, 0] == pytest.approx((p * (1 - p)) @ x[0] ** 2, rel=1e-12)


@every_kind
@weighted_or_not
def test_squares_are_read_off_the_curvature_at_zero(kind, weighted):
    rows = make_rows(kind, weighted, keyed=True)
    np.testing.assert_allclose(rows.mean_squares, mean_squares_of(rows), rtol=1e-12)


def test_rows_may_be_none_at_all():
    rows = BinaryRows(np.zeros((1, 0)), np.zeros(0), keys=np.zeros(0, dtype=np.intp), n_keys=3)
    assert not rows.sums(np.ones((3, 1))).loss.any()
