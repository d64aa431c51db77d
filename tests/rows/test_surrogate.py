"""A surrogate has the sums of all rows wherever an exact pass was made."""

import numpy as np
import pytest

from tempocal.rows import LINE, LabeledLogits, Sigmoid
from tempocal.rows.surrogate import GroupGradients, Surrogate, SurrogateRows

RNG = np.random.default_rng(0)
N, N_FINEST = 4000, 6
Z = 2.0 * RNG.normal(size=N)
FINEST_KEY = RNG.integers(0, N_FINEST, N)
Y = (RNG.random(N) < 1 / (1 + np.exp(-0.5 * Z))).astype(int)
GROUP = RNG.integers(0, 50, N)


class AllRows:
    """All rows, in memory: the remote ones of these tests."""

    def __init__(self):
        self.rows = Sigmoid(LINE).stored(LabeledLogits(Z, Y, 2), keys=FINEST_KEY, n_keys=N_FINEST)
        self.weights = np.bincount(FINEST_KEY, minlength=N_FINEST).astype(float)
        self.passes = 0

    def exact_sums(self, theta):
        self.passes += 1
        return self.rows.sums(theta)

    def exact_group_gradients(self, theta):
        self.passes += 1
        parts = list(self.rows.group_gradients(theta, GROUP, 50))
        tables = zip(*parts, strict=True)
        full = [np.concatenate([one @ np.eye(N_FINEST) for one in table]) for table in tables]
        groups, finest_keys = np.divmod(np.arange(50 * N_FINEST), N_FINEST)
        return GroupGradients(groups, finest_keys, np.stack([one.ravel() for one in full]), 50)


def make_surrogate(share=10, **options):
    """Return a surrogate of every tenth row, each of weight ten."""
    all_rows = AllRows()
    some = np.arange(0, N, share)
    sample = Sigmoid(LINE).stored(
        LabeledLogits(Z[some], Y[some], 2),
        weights=np.full(len(some), float(share)),
        keys=FINEST_KEY[some],
        n_keys=N_FINEST,
    )
    return Surrogate(sample, all_rows, **{"exact": True, "sampled": True, **options}), all_rows


def assert_sums(one, other, tolerance):
    for name in ("loss", "gradient", "hessian"):
        wanted = getattr(other, name)
        np.testing.assert_allclose(getattr(one, name), wanted, atol=tolerance * N)


def test_sums_are_exact_where_an_exact_pass_was_made():
    surrogate, all_rows = make_surrogate()
    theta = np.tile([0.8, 0.1], (N_FINEST, 1))
    surrogate.exact_pass(theta, np.ones(N_FINEST, dtype=bool))
    assert_sums(surrogate.sums(theta, hessian=True), all_rows.rows.sums(theta), 1e-14)
    assert all_rows.passes == 1


@pytest.mark.parametrize("distance", [1e-1, 1e-2, 1e-3])
def test_sums_are_off_by_the_third_order_elsewhere(distance):
    surrogate, all_rows = make_surrogate()
    theta = np.tile([0.8, 0.1], (N_FINEST, 1))
    surrogate.exact_pass(theta, np.ones(N_FINEST, dtype=bool))
    near = theta + distance
    off = surrogate.sums(near, hessian=True).loss - all_rows.rows.sums(near).loss
    assert np.abs(off).max() < 0.05 * N * distance**3


def test_an_exact_pass_is_made_only_where_it_can_change_the_sums():
    surrogate, all_rows = make_surrogate()
    everywhere = np.ones(N_FINEST, dtype=bool)
    theta = np.tile([0.8, 0.1], (N_FINEST, 1))
    surrogate.sums(theta, hessian=True)
    assert all_rows.passes == 1  # a sample is corrected before it is used
    assert surrogate.refine(theta + 0.1, everywhere)
    assert all_rows.passes == 2
    assert not surrogate.refine(theta + 0.1, everywhere)
    assert not surrogate.refine(theta + 0.1 + 1e-9, everywhere)
    assert all_rows.passes == 2


def test_keys_add_up_their_finest_keys_and_leave_out_the_others():
    surrogate, all_rows = make_surrogate()
    key_of_finest = np.array([0, 1, 0, -1, 1, 1])
    rows = SurrogateRows(surrogate, key_of_finest, 2)
    theta = np.array([[0.8, 0.1], [0.4, -0.2]])
    by_finest_key = all_rows.rows.sums(theta[np.maximum(key_of_finest, 0)])
    surrogate.exact_pass(theta[np.maximum(key_of_finest, 0)], np.ones(N_FINEST, dtype=bool))
    sums = rows.sums(theta)
    np.testing.assert_allclose(sums.loss[0], by_finest_key.loss[[0, 2]].sum())
    np.testing.assert_allclose(sums.hessian[1], by_finest_key.hessian[[1, 4, 5]].sum(axis=0))
    assert rows.total_weight == all_rows.weights[[0, 1, 2, 4, 5]].sum()
    table = next(rows.group_gradients(theta, np.zeros(0, dtype=int), 0))[0]
    assert table.shape == (50, 2)
    np.testing.assert_allclose(np.asarray(table.sum(axis=0)).ravel(), sums.gradient[:, 0])
    assert (rows.groups_by_key(np.zeros(0, dtype=int), 0) <= 50).all()


def test_without_exact_passes_the_sample_is_all_there_is():
    surrogate, all_rows = make_surrogate(exact=False)
    theta = np.tile([0.8, 0.1], (N_FINEST, 1))
    surrogate.sums(theta, hessian=False)
    assert not SurrogateRows(surrogate, np.zeros(N_FINEST, dtype=int), 1).refine(theta[:1])
    assert all_rows.passes == 0


def test_mean_squares_are_those_of_all_rows():
    surrogate, all_rows = make_surrogate()
    np.testing.assert_allclose(surrogate.mean_squares, all_rows.rows.mean_squares)
