"""Discounted sums along sequences: compiled, in NumPy, and written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from tempocal.kernels import native
from tempocal.kernels.discount import _by_position, discounted_sums


def written_out(values, is_last, decay):
    sums = values.copy()
    for row in range(values.shape[1] - 2, -1, -1):
        if not is_last[row]:
            sums[:, row] += decay * sums[:, row + 1]
    return sums


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    decay=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    series=st.integers(1, 3),
)
@examples(30)
def test_are_the_written_out_ones(lengths, decay, series):
    is_last = np.zeros(sum(lengths), dtype=bool)
    is_last[np.cumsum(lengths) - 1] = True
    values = np.random.default_rng(0).normal(size=(series, len(is_last)))
    expected = written_out(values, is_last, decay)
    np.testing.assert_allclose(discounted_sums(values.copy(), is_last, decay), expected, atol=1e-12)
    np.testing.assert_allclose(_by_position(values.copy(), is_last, decay), expected, atol=1e-12)


@pytest.mark.skipif(native is None, reason="there are no compiled loops")
def test_are_the_same_to_the_bit_with_and_without_the_compiled_loops():
    rng = np.random.default_rng(0)
    values, is_last = rng.normal(size=(2, 500)), rng.random(500) < 0.1
    is_last[-1] = True
    compiled = discounted_sums(values.copy(), is_last, 0.8)
    np.testing.assert_array_equal(compiled, _by_position(values.copy(), is_last, 0.8))
