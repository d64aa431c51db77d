from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.metrics import ece
from tempocal.metrics.binsums import bin_sums
from tempocal.metrics.edges import equal_width

rows = st.lists(
    st.tuples(st.floats(0, 1), st.booleans(), st.floats(0.1, 10)), min_size=1, max_size=50
).map(lambda rows: [np.array(column) for column in zip(*rows, strict=True)])


@given(rows=rows, bins=st.integers(1, 20), weighted=st.booleans())
def test_sums_agree_with_a_loop(rows, bins, weighted):
    confidence, outcome, weight = rows
    edges = equal_width(bins)
    sums = bin_sums(confidence, outcome, weight if weighted else None, edges)
    weight = weight if weighted else np.ones(len(weight))
    found = edges.locate(confidence)
    for b in range(bins):
        here = found == b
        assert sums.count[b] == here.sum()
        assert sums.weight[b] == pytest.approx(weight[here].sum())
        assert sums.confidence[b] == pytest.approx((weight * confidence)[here].sum())
        assert sums.outcome[b] == pytest.approx((weight * outcome)[here].sum())


@given(rows=rows, cut=st.integers(0, 50))
def test_sums_of_parts_add_up(rows, cut):
    edges = equal_width(5)
    whole = bin_sums(*rows, edges)
    parts = [bin_sums(*(c[part] for c in rows), edges) for part in (slice(cut), slice(cut, None))]
    for name, total in vars(whole).items():
        np.testing.assert_allclose(sum(getattr(part, name) for part in parts), total, rtol=1e-12)


def test_float32_rows_are_summed_in_float64():
    random = np.random.default_rng(0)
    # Whole numbers of 2**-24 are exact in float32, and their sum in int64.
    steps = random.integers(2**23, 2**24, 2_000_000)
    proba = (steps / 2**24).astype(np.float32)
    y = random.random(len(proba)) < proba
    exact = float(Fraction(abs(int(steps.sum()) - int(y.sum()) * 2**24), 2**24 * len(y)))
    in_float32 = abs(float(proba.sum()) - int(y.sum())) / len(y)

    assert abs(ece(y, proba, bins=1, of="positive_class") - exact) < 1e-12
    assert abs(in_float32 - exact) > 1e-9
