"""Few rows have the sums of all rows wherever an exact pass was made."""

from dataclasses import replace

import numpy as np
import pytest

from support.problems import with_surrogate
from tempocal.rows import LINE, LabeledLogits, PerClassRows, Sigmoid, SurrogateRows

RNG = np.random.default_rng(0)
N, N_KEYS = 4000, 6
Z = 2.0 * RNG.normal(size=N)
KEYS = RNG.integers(0, N_KEYS, N)
Y = (RNG.random(N) < 1 / (1 + np.exp(-0.5 * Z))).astype(int)
THETA = np.tile([0.8, 0.1], (N_KEYS, 1))


class CountedRows:
    """Rows that count the passes over them."""

    def __init__(self, rows):
        self.rows = rows
        self.hessians = []

    def __getattr__(self, name):
        return getattr(self.rows, name)

    def sums(self, theta, *, hessian=True):
        self.hessians.append(hessian)
        return self.rows.sums(theta, hessian=hessian)

    @property
    def passes(self):
        return len(self.hessians)


def make_surrogate(share=10, **options):
    """Return a surrogate of every tenth row, each of weight ten."""
    rows = Sigmoid(LINE).stored(LabeledLogits(Z, Y, 2), keys=KEYS, n_keys=N_KEYS)
    all_rows = CountedRows(rows)
    some = np.arange(0, N, share)
    few = Sigmoid(LINE).stored(
        LabeledLogits(Z[some], Y[some], 2),
        weights=np.full(len(some), float(share)),
        keys=KEYS[some],
        n_keys=N_KEYS,
    )
    return SurrogateRows(few, all_rows, **options), all_rows


def assert_sums(one, other, tolerance):
    for name in ("loss", "gradient", "hessian"):
        wanted = getattr(other, name)
        np.testing.assert_allclose(getattr(one, name), wanted, atol=tolerance * N)


def test_sums_are_exact_where_an_exact_pass_was_made():
    surrogate, all_rows = make_surrogate()
    assert surrogate.refine(THETA)
    assert_sums(surrogate.sums(THETA), all_rows.rows.sums(THETA), 1e-14)
    assert all_rows.passes == 1


@pytest.mark.parametrize("distance", [1e-1, 1e-2, 1e-3])
def test_sums_are_off_by_the_third_order_elsewhere(distance):
    surrogate, all_rows = make_surrogate()
    surrogate.refine(THETA)
    near = THETA + distance
    off = surrogate.losses(near) - all_rows.rows.losses(near)
    assert np.abs(off).max() < 0.05 * N * distance**3


def test_an_exact_pass_is_made_only_where_it_can_change_the_sums():
    surrogate, all_rows = make_surrogate()
    surrogate.sums(THETA)
    assert all_rows.passes == 0
    assert surrogate.refine(THETA)
    assert surrogate.refine(THETA + 0.1)
    assert all_rows.passes == 2
    assert not surrogate.refine(THETA + 0.1)
    assert not surrogate.refine(THETA + 0.1 + 1e-9)
    assert all_rows.passes == 2


def test_without_exact_passes_the_few_are_all_there_is():
    surrogate, all_rows = make_surrogate(refines=False)
    assert not surrogate.refine(THETA)
    assert not surrogate.refine(THETA, diverged=True)
    assert all_rows.passes == 0


def test_keys_that_are_not_counted_change_nothing():
    surrogate, all_rows = make_surrogate()
    surrogate.refine(THETA)
    counted = np.arange(N_KEYS) != 2
    elsewhere = THETA + 5.0 * ~counted[:, None]
    assert not surrogate.refine(elsewhere, counted=counted)
    assert surrogate.refine(elsewhere + 0.1, counted=counted)
    # The sums of the other key are still exact where they were.
    assert_sums(
        surrogate.sums(THETA + 0.1 * counted[:, None]),
        all_rows.rows.sums(THETA + 0.1 * counted[:, None]),
        1e-14,
    )


def test_few_that_mislead_are_given_up():
    surrogate, all_rows = make_surrogate()
    surrogate.refine(THETA)
    # As if the last minimum had been far from the right one: labels of the few are reversed.
    surrogate._few._linear = -surrogate._few._linear
    assert surrogate.refine(THETA + 0.1)
    assert surrogate.is_exact
    far = THETA - 3.0
    assert_sums(surrogate.sums(far), all_rows.rows.sums(far), 1e-15)
    assert not surrogate.refine(far)


def test_few_without_a_finite_optimum_are_first_corrected_at_the_start():
    surrogate, all_rows = make_surrogate()
    assert surrogate.refine(THETA, diverged=True)
    assert not surrogate.is_exact
    assert_sums(surrogate.sums(THETA), all_rows.rows.sums(THETA), 1e-14)
    assert surrogate.refine(THETA, diverged=True)
    assert surrogate.is_exact
    assert not surrogate.refine(THETA, diverged=True)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_sums_that_are_no_numbers_do_not_count_as_accurate(value):
    surrogate, all_rows = make_surrogate()
    surrogate.refine(THETA)
    few = surrogate._few.sums

    def spoiled(theta, **given):
        found = few(theta, **given)
        return replace(found, gradient=value * np.ones_like(found.gradient))

    surrogate._few.sums = spoiled
    assert surrogate.refine(THETA + 0.3)
    assert surrogate.is_exact
    assert_sums(surrogate.sums(THETA), all_rows.rows.sums(THETA), 1e-15)


def test_a_costly_hessian_is_summed_only_near_the_optimum():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(6, 20_000))
    y = (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=0)
    all_rows = CountedRows(PerClassRows(z, y, 6, diagonal=False))
    few = PerClassRows(z[:, ::4], y[::4], 6, diagonal=False, weights=np.full(5000, 4.0))
    surrogate = SurrogateRows(few, all_rows)
    theta = np.eye(6, 7).reshape(1, -1)
    for distance in (0.0, 0.1, 0.01, 0.001):
        surrogate.refine(theta + distance * rng.normal(size=theta.shape))
    assert all_rows.hessians == [False] * 4
    while surrogate.refine(theta):
        pass
    assert all_rows.hessians[-1]
    assert_sums(surrogate.sums(theta), all_rows.rows.sums(theta), 1e-14)


def test_what_is_known_of_all_rows_is_theirs():
    surrogate, all_rows = make_surrogate()
    rows = all_rows.rows
    np.testing.assert_array_equal(surrogate.mean_squares, rows.mean_squares)
    np.testing.assert_array_equal(surrogate.key_weights, rows.key_weights)
    assert surrogate.total_weight == N
    np.testing.assert_array_equal(
        surrogate.groups_by_key(np.arange(N) % 7, 7), rows.groups_by_key(np.arange(N) % 7, 7)
    )
    direction = np.ones((N_KEYS, 2))
    np.testing.assert_array_equal(
        surrogate.has_finite_optimum(direction), rows.has_finite_optimum(direction)
    )


def test_few_rows_have_no_surrogate():
    rows = Sigmoid(LINE).stored(LabeledLogits(Z, Y, 2))
    assert with_surrogate(rows) is rows
    many = Sigmoid(LINE).stored(LabeledLogits(np.tile(Z, 20), np.tile(Y, 20), 2))
    assert with_surrogate(many).all_rows is many
