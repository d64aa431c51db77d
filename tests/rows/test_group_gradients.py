"""Gradients by group and key."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from rows.written_out import KINDS, Case
from support.examples import examples
from tempocal.kernels import native
from tempocal.rows import group_chunks

every_kind = pytest.mark.parametrize("kind", KINDS)


def written_out(case: Case, theta: np.ndarray, codes: np.ndarray, count: int) -> np.ndarray:
    total = np.zeros((theta.shape[1], count, case.n_keys))
    for i, (group, key) in enumerate(zip(codes, case.keys, strict=True)):
        total[:, group, key] += case.row(i, theta)[1]
    return total


def joined(rows, theta, codes, count):
    """Concatenate the tables of all chunks: (coefficients, groups, keys)."""
    parts = [
        [table if isinstance(table, np.ndarray) else table.toarray() for table in tables]
        for tables in rows.group_gradients(theta, codes, count)
    ]
    return np.concatenate(parts, axis=1)


@pytest.fixture(params=[0, 10**9], ids=["sparse", "dense"], autouse=True)
def small_chunks(request):
    """Dense or sparse tables, of few groups at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_chunks, "MAX_CELLS_PER_ROW", request.param)
        patch.setattr(group_chunks, "MAX_CELLS_PER_SORTED_ROW", request.param)
        patch.setattr(group_chunks, "CELLS", 25)
        patch.setattr(group_chunks, "MIN_CELLS_UNSORTED", 25)
        patch.setattr(group_chunks, "ROWS", 16)
        patch.setattr(group_chunks, "BLOCK", 5)
        yield request.param


@every_kind
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=120),
    weighted=st.booleans(),
    is_sorted=st.booleans(),
    dtype=st.sampled_from([np.uint16, np.int32, np.int64]),
)
@examples(25, without=(HealthCheck.function_scoped_fixture,))
def test_group_gradients_are_the_written_out_ones(kind, rows, weighted, is_sorted, dtype):
    """Groups and keys without rows included; groups come in the original order of the rows."""
    codes, keys = np.array(sorted(rows) if is_sorted else rows).T
    case = Case.random(kind, keys, 10, weighted=weighted)
    theta = case.theta()
    found = joined(case.rows(), theta, codes.astype(dtype), 7)
    assert found.shape == (case.rows().n_coefficients, 7, 10)
    np.testing.assert_allclose(found, written_out(case, theta, codes, 7), rtol=1e-11, atol=1e-12)


@every_kind
def test_where_no_rows_are_there_are_no_entries(kind, small_chunks):
    rng = np.random.default_rng(0)
    codes, keys = np.sort(rng.integers(0, 7, 90)), rng.integers(0, 10, 90)
    case = Case.random(kind, keys, 10, weighted=False)
    chunks = list(case.rows().group_gradients(case.theta(), codes, 7))
    assert len(chunks) > 1
    tables = [tables[0] for tables in chunks]
    if small_chunks == 0 or kind != "binary" or native is None:
        assert sum(table.nnz for table in tables) == len(set(zip(codes, keys, strict=True)))
    else:
        assert sum(table.size for table in tables) == 70


@every_kind
@pytest.mark.parametrize("is_sorted", [False, True])
def test_groups_add_up_to_the_gradient(kind, is_sorted, monkeypatch):
    """More rows than fit a block, more groups than fit 16 bits, most of them a row each."""
    monkeypatch.setattr(group_chunks, "CELLS", 2**20)
    monkeypatch.setattr(group_chunks, "MIN_CELLS_UNSORTED", 2**20)
    monkeypatch.setattr(group_chunks, "ROWS", 2**16)
    monkeypatch.setattr(group_chunks, "BLOCK", 2**16)
    rng = np.random.default_rng(0)
    n, n_groups = 200_000, 100_000
    case = Case.random(kind, rng.integers(0, 50, n), 50, weighted=True)
    rows, theta = case.rows(), case.theta()
    codes = rng.integers(0, n_groups, n)
    if is_sorted:
        codes.sort()
    by_key, some, got = 0.0, codes[123], None
    first = 0
    for tables in rows.group_gradients(theta, codes, n_groups):
        by_key = by_key + np.stack([np.asarray(table.sum(axis=0)).ravel() for table in tables], 1)
        if first <= some < first + tables[0].shape[0]:
            got = [table[[some - first]].sum() for table in tables]
        first += tables[0].shape[0]
    assert first == n_groups
    np.testing.assert_allclose(by_key, rows.sums(theta).gradient, rtol=1e-9, atol=1e-8)
    expected = sum(case.row(i, theta)[1] for i in np.flatnonzero(codes == some))
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("fall", [4, 5, 6, 9, 10, 11])
def test_a_code_below_the_one_before_is_not_sorted(fall):
    """Also between two blocks of five rows."""
    codes = np.arange(12)
    codes[fall] = codes[fall - 1] - 1
    assert not group_chunks._is_sorted(codes)
    assert group_chunks._is_sorted(np.sort(codes))


@pytest.mark.parametrize("is_sorted", [False, True])
def test_any_number_of_cores_gives_the_same_bits(is_sorted, set_cores):
    rng = np.random.default_rng(0)
    codes, keys = rng.integers(0, 300, 4000), rng.integers(0, 7, 4000)
    case = Case.random("binary", keys, 7, weighted=True)
    if is_sorted:
        codes.sort()
    bits = set()
    for count in (1, 2, 5):
        set_cores(count)
        bits.add(joined(case.rows(), case.theta(), codes, 300).tobytes())
    assert len(bits) == 1


def test_no_groups_have_no_tables():
    assert list(group_chunks.GroupChunks(np.zeros(0, dtype=int), 0, 5).dense()) == []
