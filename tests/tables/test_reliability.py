"""Diagrams of tables have the numbers of those of arrays."""

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from tables.engines import SPARK_IS_SLOW
from tempocal.metrics import scored_frame
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.reliability import reliability_tables
from tempocal.metrics.scored_frame import read_scored_frame
from tempocal.tables import group_ids
from tempocal.tables.column_roles import ColumnRoles

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]

MATCHES = tc.datasets.simulate_match(150)
PROBA = 1 / (1 + np.exp(-MATCHES.logits))
COLUMNS = {
    "y": MATCHES.label,
    "p": PROBA,
    "t": MATCHES.time,
    "g": MATCHES.sequence,
    "w": np.random.default_rng(1).integers(1, 4, len(PROBA)).astype(float),
}


def scored(table, *, groups="g", weight=None):
    named = {"label": "y", "time": "t", "groups": groups, "sample_weight": weight}
    return read_scored_frame(table, ColumnRoles.of("proba", logits=None, proba="p", **named), None)


def assert_same(one, other, rtol=1e-9):
    for name, column in vars(one).items():
        np.testing.assert_allclose(vars(other)[name], column, rtol=rtol, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("table_of", SPARK_IS_SLOW, indirect=True)
def test_every_engine(table_of):
    rows = scored(table_of(COLUMNS))
    expected = tc.metrics.reliability_curve(MATCHES.label, PROBA, groups=MATCHES.sequence)
    assert_same(expected, reliability_tables(rows, GapMetric("top_label", 10, "equal_mass"))[0])


@pytest.mark.parametrize("groups", ["g", None])
def test_weights_and_time_bins(groups):
    rows = scored(pl.DataFrame(COLUMNS), groups=groups, weight="w")
    rows = rows.cut(4)
    found = reliability_tables(rows, GapMetric("positive_class", 5, "equal_mass"))
    assert len(found) == 4
    for k, one in enumerate(found):
        first, last = rows.time_bins.first[k], rows.time_bins.last[k]
        inside = (first <= MATCHES.time) & (MATCHES.time <= last)
        expected = tc.metrics.reliability_curve(
            MATCHES.label[inside],
            PROBA[inside],
            bins=5,
            of="positive_class",
            groups=MATCHES.sequence[inside] if groups else None,
            sample_weight=COLUMNS["w"][inside],
        )
        assert_same(expected, one)


def test_buckets_of_many_groups_are_about_as_sure(monkeypatch):
    many = tc.datasets.simulate_match(8000, seed=1)
    p = 1 / (1 + np.exp(-many.logits))
    rows = pl.DataFrame({"y": many.label, "p": p, "t": many.time, "g": many.sequence})
    monkeypatch.setattr(group_ids, "MAX_FEW", 1000)
    monkeypatch.setattr(scored_frame, "MAX_VALUES", 1000)
    found = reliability_tables(scored(rows), GapMetric("top_label", 10, "equal_mass"))[0]
    expected = tc.metrics.reliability_curve(many.label, p, groups=many.sequence)
    np.testing.assert_allclose(found.frequency, expected.frequency, atol=1e-3)
    np.testing.assert_allclose(found.groups, expected.groups, rtol=0.15)
    width = found.upper_frequency - found.lower_frequency
    np.testing.assert_allclose(
        width, expected.upper_frequency - expected.lower_frequency, rtol=0.15
    )
