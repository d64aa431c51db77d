"""A table of any engine is assessed as its rows are in arrays."""

from dataclasses import fields, is_dataclass

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from support.lanes import usually
from tables.engines import NAMES
from tempocal.errors import InputError
from tempocal.tables import group_ids
from tempocal.temporal import auto

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning"),
]

MATCHES = tc.datasets.simulate_match(80)
MIXED = np.random.default_rng(0).permutation(len(MATCHES.label))
COLUMNS = {
    "z": MATCHES.logits[MIXED],
    "won": MATCHES.label[MIXED],
    "t": MATCHES.time[MIXED],
    "match": MATCHES.sequence[MIXED],
    "series": MATCHES.sequence[MIXED] // 2,
    "w": np.random.default_rng(1).integers(1, 4, len(MIXED)).astype(float),
}
NAMED = {"logits": "z", "label": "won", "time": "t", "sequence": "match"}


def assert_same(one, other, name=""):
    """Compare to 1e-9; how long each candidate took is another matter."""
    if is_dataclass(one) and not isinstance(one, float):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name), field.name)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one.keys() - {"seconds"}:
            assert_same(one[key], other[key], key)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for here, there in zip(one, other, strict=True):
            assert_same(here, there, name)
    elif isinstance(one, np.ndarray) and one.dtype.kind == "f":
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9, err_msg=name)
    elif isinstance(one, float):
        assert other == pytest.approx(one, rel=1e-9, abs=1e-9, nan_ok=True), name
        for end in ("lower", "upper", "floor", "estimator"):
            if hasattr(one, end):
                assert_same(getattr(one, end), getattr(other, end), end)
    else:
        assert np.all(one == other), name


# A hundred passes, of kinds that other tests try on every engine one by one. Spark takes seconds
# for each, Ibis a good part of one.
ALWAYS = ("pandas", "duckdb")


@pytest.mark.parametrize("table_of", usually(NAMES, lambda name: name in ALWAYS), indirect=True)
def test_every_engine_says_what_arrays_say(table_of, monkeypatch):
    """Three ways to calibrate are compared, and judged on groups left out."""
    few = [
        (tc.Identity(), tc.Constant()),
        (tc.TemperatureScaling(), tc.Constant()),
        (tc.PlattScaling(), tc.Spline()),
    ]
    monkeypatch.setattr(auto, "default_candidates", lambda n_classes: few)
    z, won, t, match = (COLUMNS[name] for name in ("z", "won", "t", "match"))
    # Rows of a table have no order of their own.
    expected = tc.assess(z, won, time=t, sequence=match, order=t, seed=3)
    assert_same(expected, tc.assess_table(table_of(COLUMNS), **NAMED, seed=3))


def test_groups_weights_probabilities_dates_and_words():
    day = np.datetime64("2026-05-01", "us") + COLUMNS["t"].astype("m8[D]")
    p, won = 1 / (1 + np.exp(-COLUMNS["z"])), np.array(["lost", "won"])[COLUMNS["won"]]
    rows = pl.DataFrame({**COLUMNS, "t": day, "p": p, "won": won})
    named = {"label": "won", "proba": "p", "time": "t", "sequence": "match", "groups": "series"}
    found = tc.assess_table(rows, **named, sample_weight="w", classes=["won", "lost"])
    expected = tc.assess(
        p,
        won,
        time=day,
        sequence=COLUMNS["match"],
        order=day,
        groups=COLUMNS["series"],
        sample_weight=COLUMNS["w"],
        inputs="proba",
        classes=["won", "lost"],
    )
    assert_same(expected, found)


@pytest.mark.parametrize("candidates", usually(["few", "all"], lambda which: which == "few"))
def test_three_classes(candidates, request):
    if candidates == "few":
        request.getfixturevalue("few_candidates")
    random = np.random.default_rng(0)
    sequence, time = np.repeat(np.arange(60), 6), np.tile(np.arange(6), 60)
    label = np.repeat(random.integers(0, 3, 60), 6)
    z = random.normal(size=(360, 3)) + 2.0 * np.eye(3)[label]
    rows = pl.DataFrame({"a": z[:, 0], "b": z[:, 1], "c": z[:, 2], "y": label})
    rows = rows.with_columns(t=pl.Series(time), s=pl.Series(sequence))
    named = {"logits": ["a", "b", "c"], "label": "y", "time": "t", "sequence": "s"}
    assert_same(tc.assess(z, label, time=time, sequence=sequence), tc.assess_table(rows, **named))


def test_ids_of_very_many_groups_are_not_brought_here(monkeypatch):
    """By modular arithmetic about as many are fitted to, and none on both sides."""
    monkeypatch.setattr(group_ids, "MAX_LISTED", 10)
    facts = tc.assess_table(pl.DataFrame(COLUMNS), **NAMED).facts
    assert facts.fitted_groups + facts.judged_groups == facts.groups == 80
    assert 25 < facts.fitted_groups < 55
    assert facts.fitted_rows + facts.judged_rows == len(MIXED)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sequence": None}, "name the column of its ids with sequence="),
        ({"time": None}, "time is missing"),
        ({"time": "at"}, "time names 'at'"),
        ({"order": "at"}, "order names 'at'"),
        ({"order": "t", "sequence": None, "groups": "series"}, "order puts .* sequence is None"),
        ({"sequence": "w"}, "there are only 3 groups"),
        ({"groups": "t"}, "groups must be the same in all rows of a sequence"),
        ({"logits": None}, 'inputs is "proba"'),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_what_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        tc.assess_table(pl.DataFrame(COLUMNS), **{**NAMED, **change})
