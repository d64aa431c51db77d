"""Gradients of binary rows, summed by group and key."""

import os

import numpy as np
import pytest

from tempocal.kernels import native
from tempocal.kernels.key_counts import KEY_TYPES

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)


# Groups are counted from here.
FIRST = np.array([0])


def case(n, p=1, *, n_keys=5, n_groups=40, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    x = (3.0 * rng.normal(size=(p, n))).astype(dtype)
    labels, keys = rng.integers(0, 2, n), rng.integers(0, n_keys, n)
    groups, theta = rng.integers(0, n_groups, n), rng.normal(size=(n_keys, p))
    return x, labels, rng.exponential(size=n), keys, theta, groups


def written_out(x, *given, n_groups=40):
    targets, weights, keys, theta, groups = given
    residual = 1.0 / (1.0 + np.exp(-np.einsum("ip,pi->i", theta[keys], x))) - targets
    found = np.zeros((len(x), n_groups, len(theta)))
    for row, into in zip(x, found, strict=True):
        own = residual * row * (1.0 if weights is None else weights)
        np.add.at(into, (groups, keys), own)
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 7, 1016, 1017, 5000])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_written_out(loops, n, p, dtype, weighted):
    x, labels, weights, keys, theta, groups = case(n, p, dtype=dtype)
    weights = weights if weighted else None
    for targets in (labels, labels.astype(bool), 0.1 + 0.8 * labels):
        wanted = written_out(x, targets, weights, keys, theta, groups)
        for kind in (np.uint16, np.int32, np.int64):
            found, given = np.zeros_like(wanted), (keys.astype(kind), theta, groups.astype(kind))
            loops.gradients_by_group(x, targets, weights, *given, FIRST, found)
            np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)
            part = np.zeros_like(wanted[:, 7:19])
            loops.gradients_by_group(x, targets, weights, *given, np.array([7]), part)
            np.testing.assert_array_equal(part, found[:, 7:19])


def test_huge_logits_are_sure():
    x = np.array([[1e9, -1e9, 1e9, 0.0]])
    found = np.zeros((1, 4, 1))
    given = np.array([1, 0, 0, 1]), None, np.zeros(4, dtype=np.int64), np.ones((1, 1))
    native.gradients_by_group(x, *given, np.arange(4), FIRST, found)
    np.testing.assert_array_equal(found.ravel(), [0.0, 0.0, 1e9, 0.0])


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, np.zeros((1, 5))),
        (0, np.zeros((2, 6))),
        (0, np.zeros((1, 12))[:, ::2]),
        (1, np.zeros(5, dtype=np.int64)),
        (2, np.zeros(5)),
        (3, np.array([0, 1, 2, 0, 0, 0])),
        (3, np.array([0, -1, 0, 0, 0, 0])),
        (3, np.zeros(5, dtype=np.int64)),
        (4, np.zeros((3, 1))),
        (4, np.zeros((2, 2))),
        (5, np.zeros(7, dtype=np.int64)),
        (6, np.zeros(2, dtype=np.int64)),
        (7, np.zeros((2, 4, 2))),
        (7, np.zeros((1, 4, 3))),
    ],
)
def test_what_does_not_go_together_is_refused(place, wrong):
    zeros = np.zeros(6, dtype=np.int64)
    rows = [np.ones((1, 6)), zeros, None, zeros, np.ones((2, 1)), zeros]
    good = [*rows, FIRST, np.zeros((1, 4, 2))]
    native.gradients_by_group(*good)
    good[place] = wrong
    with pytest.raises(ValueError, match="do not go together"):
        native.gradients_by_group(*good)


def test_groups_that_are_none_are_left_out():
    zeros, found = np.zeros(6, dtype=np.int64), np.zeros((1, 4, 2))
    groups = np.array([0, -1, 4, 1, 10**12, -(2**63)])
    given = np.ones((1, 6)), zeros, None, zeros, np.zeros((2, 1)), groups
    native.gradients_by_group(*given, FIRST, found)
    assert found[0, :, 0].tolist() == [0.5, 0.5, 0.0, 0.0]
    found[:] = 0.0
    native.gradients_by_group(*given, np.array([1]), found)
    assert found[0, :, 0].tolist() == [0.5, 0.0, 0.0, 0.5]


@pytest.mark.parametrize("kind", KEY_TYPES)
def test_groups_are_counted_by_key(kind):
    rng = np.random.default_rng(0)
    keys, groups = rng.integers(0, 5, 3000), rng.integers(0, 700, 3000)
    there, found = np.zeros((700, 6), dtype=bool), np.zeros(6)
    native.groups_by_key(keys.astype(kind), groups.astype(kind), there, found)
    assert found.tolist() == [len(set(groups[keys == key])) for key in range(6)]
    assert there.sum() == found.sum()


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, np.array([0, 2])),
        (0, np.array([0, -1])),
        (1, np.array([0, 3])),
        (1, np.array([0, -1])),
        (1, np.array([0])),
        (2, np.zeros((3, 3), dtype=bool)),
    ],
)
def test_no_group_is_counted_that_there_is_not(place, wrong):
    given = [np.array([0, 1]), np.array([0, 1]), np.zeros((3, 2), dtype=bool), np.zeros(2)]
    native.groups_by_key(*given)
    given[place] = wrong
    with pytest.raises(ValueError, match="do not go together"):
        native.groups_by_key(*given)
