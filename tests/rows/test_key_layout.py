"""Positions of the rows of each key."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.rows.key_layout import KeyLayout, stable_order

some_counts = st.lists(st.integers(0, 50), max_size=60)


@given(counts=some_counts, size=st.integers(1, 70))
def test_blocks_cover_all_rows_once(counts, size):
    layout = KeyLayout.of(np.repeat(np.arange(len(counts)), counts), len(counts), sum(counts))
    seen = []
    for block in layout.blocks(size):
        n = block.rows.stop - block.rows.start
        assert 0 < n <= size
        assert block.counts.sum() == n
        keys = layout.present[block.keys]
        seen.extend(np.repeat(keys, block.counts))
        if not block.is_one_key:
            assert block.counts.tolist() == [counts[key] for key in keys]
            assert block.starts.tolist() == [0, *np.cumsum(block.counts)[:-1]]
    np.testing.assert_array_equal(seen, layout.keys())


@given(counts=some_counts, size=st.integers(1, 70))
def test_no_two_blocks_would_fit_one(counts, size):
    """Else small keys would be a loop over small arrays."""
    layout = KeyLayout.of(np.repeat(np.arange(len(counts)), counts), len(counts), sum(counts))
    blocks = list(layout.blocks(size))
    sizes = [block.rows.stop - block.rows.start for block in blocks]
    for i in range(1, len(blocks)):
        if max(counts) <= size:
            assert sizes[i - 1] + blocks[i].counts[0] > size


@pytest.mark.parametrize("keys", [None, np.array([0, 0, 2, 5])])
def test_rows_in_order_are_not_sorted(keys):
    assert KeyLayout.of(keys, 6, 4).unsorted_keys is None


@pytest.mark.parametrize("count", [1, 2, 300, 2**16, 2**16 + 1, 2**33])
def test_order_is_stable(count):
    codes = np.random.default_rng(0).integers(0, count, 3000)
    codes[::7] = count - 1
    np.testing.assert_array_equal(stable_order(codes, count), np.argsort(codes, kind="stable"))
