"""Two points for a cell have its weight, mean, variance and skewness."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from tempocal.rows import LINE, LabeledLogits, Sigmoid
from tempocal.tables.cell_counts import Bins, CellCounts, bins_for, count_cells
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.labeled_table import read_labeled_table


@given(
    st.lists(st.floats(-0.5, 0.5, allow_subnormal=False), min_size=1, max_size=30),
    st.integers(0, 2**31),
)
def test_points_have_the_moments_of_the_cell(offsets, seed):
    u = np.array(offsets)
    w = np.random.default_rng(seed).integers(1, 5, len(u)).astype(float)
    found = {f"m{k}": np.array([(w * u**k).sum()]) for k in range(4)}
    found |= {"bin": np.array([3]), "label": np.array([0])}
    bins = Bins(half_range=4.0, count=16)
    log_odds, weights = CellCounts(found, bins).two_points()
    at = (log_odds + 4.0) * bins.scale - 3.5
    for k in range(4):
        tolerance = 1e-6 if k == 3 else 1e-12
        assert (weights * at**k).sum() == pytest.approx(found[f"m{k}"][0], abs=tolerance * w.sum())
    assert (weights >= 0.0).all()


def test_sums_over_points_are_nearly_those_over_rows():
    m = tc.datasets.simulate_match(300)
    roles = ColumnRoles.of(
        "logits", logits="z", proba=None, label="y", time=None, groups=None, sample_weight=None
    )
    labeled = read_labeled_table(pl.DataFrame({"z": m.logits, "y": m.label}), roles, None)
    frame = labeled.frame.rename({"z0": "log_odds"})
    cells = count_cells(labeled, frame, (), bins_for(labeled, 1), moments=4)
    log_odds, weights = cells.two_points()
    theta = np.array([[0.7, 0.2]])
    many = Sigmoid(LINE).stored(LabeledLogits(m.logits, m.label, 2)).sums(theta)
    points = LabeledLogits(log_odds.ravel(), np.repeat(cells.labels, 2), 2)
    few = Sigmoid(LINE).stored(points, weights=weights.ravel()).sums(theta)
    np.testing.assert_allclose(few.loss, many.loss, rtol=1e-9)
    np.testing.assert_allclose(few.hessian, many.hessian, rtol=1e-9)
    np.testing.assert_allclose(few.gradient, many.gradient, atol=1e-8 * len(m.label))
