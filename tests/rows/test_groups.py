"""Gradients by group and key."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rows.written_out import KINDS, Case
from tempocal.rows import binary

every_kind = pytest.mark.parametrize("kind", KINDS)


def written_out(case: Case, theta: np.ndarray, codes: np.ndarray, count: int) -> np.ndarray:
    total = np.zeros((theta.shape[1], count, case.n_keys))
    for i, (group, key) in enumerate(zip(codes, case.keys, strict=True)):
        total[:, group, key] += case.row(i, theta)[1]
    return total


def whole(table):
    return table if isinstance(table, np.ndarray) else table.toarray()


@pytest.fixture(params=[0, 10**9], ids=["entries", "table"], autouse=True)
def cells_a_row(request):
    """Tables of all groups and keys, or of those with rows, whatever their number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary, "MOST_CELLS_A_ROW", request.param)
        yield request.param


@every_kind
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=120),
    weighted=st.booleans(),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_group_gradients_are_the_written_out_ones(kind, rows, weighted):
    """Groups and keys without rows included; groups come in the original order of the rows."""
    codes, keys = np.array(rows).T
    case = Case.random(kind, keys, 10, weighted=weighted)
    theta = case.theta()
    tables = case.rows().group_gradients(theta, codes, 7)
    expected = written_out(case, theta, codes, 7)
    assert len(tables) == case.rows().n_coefficients
    for table, dense in zip(tables, expected, strict=True):
        assert table.shape == (7, 10)
        assert isinstance(table, np.ndarray) or table.nnz == len(set(rows))
        np.testing.assert_allclose(whole(table), dense, rtol=1e-11, atol=1e-12)


@every_kind
def test_groups_add_up_to_the_gradient(kind):
    """More rows than fit a block, more groups than fit 16 bits, most of them a row each."""
    rng = np.random.default_rng(0)
    n, n_groups = 200_000, 100_000
    case = Case.random(kind, rng.integers(0, 50, n), 50, weighted=True)
    rows, theta = case.rows(), case.theta()
    codes = rng.integers(0, n_groups, n)
    tables = rows.group_gradients(theta, codes, n_groups)
    by_key = np.stack([table.sum(axis=0) for table in tables], axis=1)
    np.testing.assert_allclose(by_key, rows.sums(theta).gradient, rtol=1e-9, atol=1e-8)
    some = codes[123]
    expected = sum(case.row(i, theta)[1] for i in np.flatnonzero(codes == some))
    got = [whole(table[[some]]).sum() for table in tables]
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
