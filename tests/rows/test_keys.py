"""Sums by key, however many keys there are and however many rows each of them has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rows.written_out import KINDS, Case
from support.examples import examples
from tempocal.rows import BinaryRows, Sums, products, sigmoid, softmax_per_class, softmax_shared

every_kind = pytest.mark.parametrize("kind", KINDS)
weighted_or_not = pytest.mark.parametrize("weighted", [False, True])


def make_keys(n_keys: int, n_rows: int, *, in_order: bool) -> np.ndarray:
    """A third of the rows under one key; none under the first, the last and a middle one."""
    rng = np.random.default_rng(2)
    if n_keys < 5:
        keys = np.full(n_rows, n_keys // 2)
    else:
        keys = rng.integers(1, n_keys - 1, n_rows)
        keys[keys == n_keys // 2] = 1
        keys[rng.random(n_rows) < 0.3] = n_keys // 3
    return np.sort(keys) if in_order else keys


def assert_same(got: Sums, expected: Sums) -> None:
    for name in ("loss", "gradient", "hessian"):
        one, other = getattr(got, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11, err_msg=name)


@pytest.fixture(params=["large blocks", "small blocks, loops", "small blocks, products"])
def blocks(request, monkeypatch):
    """Small blocks split large keys and mix with those of small keys."""
    if request.param != "large blocks":
        monkeypatch.setattr(sigmoid, "BLOCK", 64)
        monkeypatch.setattr(softmax_shared, "BLOCK_NUMBERS", 200)
        monkeypatch.setattr(softmax_per_class, "BLOCK_NUMBERS", 200)
        monkeypatch.setattr(
            products, "SMALL_PRODUCT", 0 if request.param.endswith("products") else 10**9
        )


@every_kind
@weighted_or_not
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("n_keys", [1, 3, 40, 3000])
@pytest.mark.usefixtures("blocks")
def test_sums_are_the_written_out_ones(kind, weighted, in_order, n_keys):
    keys = make_keys(n_keys, 500, in_order=in_order)
    case = Case.random(kind, keys, n_keys, weighted=weighted)
    theta = case.theta()
    expected, rows = case.sums(theta), case.rows()
    assert_same(rows.sums(theta), expected)
    without = rows.sums(theta, hessian=False)
    assert without.hessian is None
    assert_same(Sums(without.loss, without.gradient, expected.hessian), expected)


@every_kind
@given(counts=st.lists(st.integers(0, 40), min_size=1, max_size=30), weighted=st.booleans())
@examples(25)
def test_any_number_of_rows_by_key(kind, counts, weighted):
    if sum(counts) == 0:
        counts[-1] = 1
    keys = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    case = Case.random(kind, keys, len(counts), weighted=weighted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sigmoid, "BLOCK", 32)
        patch.setattr(softmax_shared, "BLOCK_NUMBERS", 96)
        assert_same(case.rows().sums(case.theta()), case.sums(case.theta()))


@every_kind
@weighted_or_not
@pytest.mark.usefixtures("blocks")
def test_derivatives_of_many_keys_match_finite_differences(kind, weighted):
    case = Case.random(kind, make_keys(40, 700, in_order=False), 40, weighted=weighted)
    rows, theta = case.rows(), case.theta()
    sums = rows.sums(theta)
    for j in range(rows.n_coefficients):
        step = np.zeros_like(theta)
        step[:, j] = 1e-5
        above, below = rows.sums(theta + step), rows.sums(theta - step)
        slope = (above.loss - below.loss) / 2e-5
        np.testing.assert_allclose(sums.gradient[:, j], slope, rtol=1e-6, atol=1e-6)
        curvature = (above.gradient - below.gradient) / 2e-5
        np.testing.assert_allclose(sums.hessian[:, :, j], curvature, rtol=1e-6, atol=1e-6)


@every_kind
@pytest.mark.usefixtures("blocks")
def test_any_number_of_threads_gives_the_same_bits(kind, set_cores):
    case = Case.random(kind, make_keys(300, 5000, in_order=False), 300, weighted=True)
    rows, theta, answers = case.rows(), case.theta(), []
    for n_cores in (1, 2, 5):
        set_cores(n_cores)
        answers.append(rows.sums(theta))
    for other in answers[1:]:
        np.testing.assert_array_equal(other.loss, answers[0].loss)
        np.testing.assert_array_equal(other.gradient, answers[0].gradient)
        np.testing.assert_array_equal(other.hessian, answers[0].hessian)


@every_kind
def test_saturated_rows_of_many_keys_stay_finite(kind):
    case = Case.random(kind, make_keys(40, 700, in_order=False), 40, weighted=False)
    sums = case.rows().sums(1e6 * np.ones_like(case.theta()))
    assert all(np.isfinite(part).all() for part in (sums.loss, sums.gradient, sums.hessian))


def test_products_of_thousands_of_rows_do_not_overflow():
    """Where nothing is known, a row costs log 2, and 2 to the power of 3,000 is infinite."""
    rows = BinaryRows(np.ones((1, 9000)), np.ones(9000), keys=np.arange(9000) % 3, n_keys=3)
    np.testing.assert_allclose(rows.sums(np.zeros((3, 1))).loss, 3000 * np.log(2), rtol=1e-13)


@every_kind
@weighted_or_not
def test_weights_of_keys(kind, weighted):
    case = Case.random(kind, make_keys(40, 700, in_order=False), 40, weighted=weighted)
    rows = case.rows()
    weights = np.ones(700) if case.weights is None else case.weights
    expected = [weights[case.keys == key].sum() for key in range(40)]
    np.testing.assert_allclose(rows.key_weights, expected, rtol=1e-13)
    assert rows.key_weights.sum() == pytest.approx(rows.total_weight, rel=1e-13)


@every_kind
@weighted_or_not
def test_sampled_rows_keep_their_keys(kind, weighted, monkeypatch):
    monkeypatch.setattr("tempocal.rows.in_memory.SAMPLE_ROWS", 225)
    monkeypatch.setattr("tempocal.rows.in_memory.SAMPLE_PER_KEY", 1)
    monkeypatch.setattr("tempocal.rows.in_memory.SAMPLE_PER_COEFFICIENT", 1)
    case = Case.random(kind, make_keys(40, 900, in_order=False), 40, weighted=weighted)
    # Every fourth row, once they are in the order of their keys, with the weight of all.
    kept = np.argsort(case.keys, kind="stable")[::4]
    weights = np.ones(900) if case.weights is None else case.weights
    scaled = weights[kept] * (weights.sum() / weights[kept].sum())
    kept_rows = Case(kind, case.z[:, kept], case.targets[kept], scaled, case.keys[kept], 40)
    sample, theta = case.rows().sample(), case.theta()
    assert sample.n_keys == 40
    assert_same(sample.sums(theta), kept_rows.sums(theta))
    assert sample.total_weight == pytest.approx(weights.sum(), rel=1e-12)
    # Each key keeps its share of the rows, to one.
    if not weighted:
        assert np.abs(sample.key_weights - case.rows().key_weights).max() < 4
    monkeypatch.setattr("tempocal.rows.in_memory.SAMPLE_ROWS", 226)
    assert case.rows().sample() is None
