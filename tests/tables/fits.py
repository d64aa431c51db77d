"""Rows of matches, and fits to them as arrays and as tables, side by side."""

import numpy as np
from sklearn.base import clone

import tempocal as tc

# Calibrated logits agree to this.
CLOSE = 1e-9


def matches(n=300, seed=1):
    """Return rows of matches, of two classes and of three, as columns."""
    m = tc.datasets.simulate_match(n, seed=seed)
    rng = np.random.default_rng(seed)
    rows = len(m.label)
    return {
        "z": m.logits,
        "won": m.label,
        "t": m.time.astype(float),
        "late": m.time + rng.random(rows),
        "id": m.sequence,
        "a": rng.normal(size=rows),
        "b": m.logits,
        "c": np.zeros(rows),
        "kind": np.where(rng.random(rows) < 0.2, 2, m.label),
        "w": rng.integers(0, 4, rows).astype(float),
    }


ROWS = matches()


def from_arrays(cal, rows, *, names="z", label="won", time=None, groups="id", weight=None):
    x = rows[names] if isinstance(names, str) else np.stack([rows[name] for name in names], 1)
    given = {} if time is None else {"time": rows[time]}
    return clone(cal).fit(
        x,
        rows[label],
        groups=None if groups is None else rows[groups],
        sample_weight=None if weight is None else rows[weight],
        **given,
    )


def from_table(cal, table, *, names="z", label="won", time=None, groups="id", weight=None, **more):
    given = {} if time is None else {"time": time}
    scores = {cal.inputs: names if isinstance(names, str) else list(names)}
    return clone(cal).fit_table(
        table, label=label, groups=groups, sample_weight=weight, **scores, **given, **more
    )


def decisions(cal, rows, names="z", time=None):
    x = rows[names] if isinstance(names, str) else np.stack([rows[name] for name in names], 1)
    return cal.decision_function(x) if time is None else cal.decision_function(x, time=rows[time])


def assert_same(cal, rows, table, **named):
    one = from_arrays(cal, rows, **named)
    other = from_table(cal, table, **named)
    which = {key: named[key] for key in ("names", "time") if key in named}
    np.testing.assert_allclose(
        decisions(other, rows, **which), decisions(one, rows, **which), rtol=0, atol=CLOSE
    )
    assert other.classes_.tolist() == one.classes_.tolist()
    assert other.summary_.n_rows == one.summary_.n_rows
    assert other.summary_.n_groups == one.summary_.n_groups
    for name in ("nll_before", "nll_after", "total_weight"):
        difference = getattr(other.summary_, name) - getattr(one.summary_, name)
        assert abs(difference) < 1e-8 * max(1.0, getattr(one.summary_, name))
    return one, other


def assert_same_bands(one, other, times):
    for name, band in one.interval_at(times).items():
        np.testing.assert_allclose(other.interval_at(times)[name].upper, band.upper, atol=1e-7)
        np.testing.assert_allclose(other.interval_at(times)[name].lower, band.lower, atol=1e-7)
