"""A few rows that stand for many have their sums, wherever these were looked at."""

import numpy as np
import pytest

from tempocal.rows import LINE, Scores, Sigmoid
from tempocal.rows.surrogate import GroupSums, Stand, StandingRows

RNG = np.random.default_rng(0)
N, ATOMS = 4000, 6
Z = 2.0 * RNG.normal(size=N)
ATOM = RNG.integers(0, ATOMS, N)
Y = (RNG.random(N) < 1 / (1 + np.exp(-0.5 * Z))).astype(int)
GROUP = RNG.integers(0, 50, N)


class Rows:
    """All rows, in memory: the far ones of these tests."""

    def __init__(self):
        self.rows = Sigmoid(LINE).stored(Scores(Z, Y, 2), keys=ATOM, n_keys=ATOMS)
        self.weights = np.bincount(ATOM, minlength=ATOMS).astype(float)
        self.looks = 0

    def look(self, theta):
        self.looks += 1
        return self.rows.sums(theta)

    def look_by_group(self, theta):
        self.looks += 1
        parts = list(self.rows.group_gradients(theta, GROUP, 50))
        tables = zip(*parts, strict=True)
        full = [np.concatenate([one @ np.eye(ATOMS) for one in table]) for table in tables]
        groups, atoms = np.divmod(np.arange(50 * ATOMS), ATOMS)
        return GroupSums(groups, atoms, np.stack([one.ravel() for one in full]), 50)


def stand(share=10, **options):
    """Return a stand of every tenth row, each for ten."""
    many = Rows()
    some = np.arange(0, N, share)
    few = Sigmoid(LINE).stored(
        Scores(Z[some], Y[some], 2),
        weights=np.full(len(some), float(share)),
        keys=ATOM[some],
        n_keys=ATOMS,
    )
    return Stand(few, many, **{"exact": True, "sampled": True, **options}), many


def assert_sums(one, other, tolerance):
    for name in ("loss", "gradient", "hessian"):
        wanted = getattr(other, name)
        np.testing.assert_allclose(getattr(one, name), wanted, atol=tolerance * N)


def test_sums_are_exact_where_the_rows_were_looked_at():
    found, many = stand()
    theta = np.tile([0.8, 0.1], (ATOMS, 1))
    found.look(theta, np.ones(ATOMS, dtype=bool))
    assert_sums(found.sums(theta, hessian=True), many.rows.sums(theta), 1e-14)
    assert many.looks == 1


@pytest.mark.parametrize("away", [1e-1, 1e-2, 1e-3])
def test_sums_are_off_by_the_third_order_elsewhere(away):
    found, many = stand()
    theta = np.tile([0.8, 0.1], (ATOMS, 1))
    found.look(theta, np.ones(ATOMS, dtype=bool))
    near = theta + away
    off = found.sums(near, hessian=True).loss - many.rows.sums(near).loss
    assert np.abs(off).max() < 0.05 * N * away**3


def test_a_look_is_made_only_where_something_may_be_learned():
    found, many = stand()
    everywhere = np.ones(ATOMS, dtype=bool)
    theta = np.tile([0.8, 0.1], (ATOMS, 1))
    found.sums(theta, hessian=True)
    assert many.looks == 1  # a sample is put right before it is used
    assert found.sharpen(theta + 0.1, everywhere)
    assert many.looks == 2
    assert not found.sharpen(theta + 0.1, everywhere)
    assert not found.sharpen(theta + 0.1 + 1e-9, everywhere)
    assert many.looks == 2


def test_keys_add_up_their_atoms_and_leave_out_the_others():
    found, many = stand()
    places = np.array([0, 1, 0, -1, 1, 1])
    rows = StandingRows(found, places, 2)
    theta = np.array([[0.8, 0.1], [0.4, -0.2]])
    by_atom = many.rows.sums(theta[np.maximum(places, 0)])
    found.look(theta[np.maximum(places, 0)], np.ones(ATOMS, dtype=bool))
    sums = rows.sums(theta)
    np.testing.assert_allclose(sums.loss[0], by_atom.loss[[0, 2]].sum())
    np.testing.assert_allclose(sums.hessian[1], by_atom.hessian[[1, 4, 5]].sum(axis=0))
    assert rows.total_weight == many.weights[[0, 1, 2, 4, 5]].sum()
    table = next(rows.group_gradients(theta, np.zeros(0, dtype=int), 0))[0]
    assert table.shape == (50, 2)
    np.testing.assert_allclose(np.asarray(table.sum(axis=0)).ravel(), sums.gradient[:, 0])
    assert (rows.groups_by_key(np.zeros(0, dtype=int), 0) <= 50).all()


def test_without_looks_the_few_are_all_there_is():
    found, many = stand(exact=False)
    theta = np.tile([0.8, 0.1], (ATOMS, 1))
    found.sums(theta, hessian=False)
    assert not StandingRows(found, np.zeros(ATOMS, dtype=int), 1).sharpen(theta[:1])
    assert many.looks == 0


def test_squares_are_those_of_all_rows():
    found, many = stand()
    np.testing.assert_allclose(found.squares, many.rows.squares)
