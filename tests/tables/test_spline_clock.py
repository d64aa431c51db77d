"""Knots by the times of the rows are the same from arrays and from tables."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import tempocal as tc


@pytest.mark.parametrize("is_continuous", [False, True])
def test_of_duckdb_is_that_of_arrays(is_continuous):
    m = tc.datasets.simulate_match(150, wins=6)
    # Skewed, so that the unit is neither the shortest nor time itself; with many distinct times.
    time = m.time.astype(float) ** 1.5
    if is_continuous:
        time += np.random.default_rng(0).random(len(time))
    table = pa.table({"z": m.logits, "y": m.label, "t": time, "g": m.sequence})
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
    columns = {"logits": "z", "label": "y", "time": "t", "groups": "g"}
    [one] = cal.fit_table(duckdb.from_arrow(table), **columns).map_.bases
    [other] = cal.fit(m.logits, m.label, time=time, groups=m.sequence).map_.bases
    assert one.unit > 0.0
    for name in ("first", "last", "unit", "intervals"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9)
