"""The paired gain over time: its numbers, its pairing, what is sure, and what is refused."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import log_loss

import tempocal as tc
from tempocal.errors import InputError
from tempocal.metrics import (
    brier,
    classwise_ece,
    ece,
    gain,
    gain_over_time,
    gain_over_time_table,
    nll,
    overconfidence,
    smooth_ece,
)

MATCHES = tc.datasets.simulate_match(250, seed=5)
RAW = 1.0 / (1.0 + np.exp(-MATCHES.logits))
AFTER = MATCHES.true_probability
METRICS = {
    "nll": nll,
    "brier": brier,
    "ece": ece,
    "ece of one class": partial(ece, of="positive_class", bins=5, binning="equal_mass"),
    "classwise": classwise_ece,
    "smooth": smooth_ece,
}


def take(metric, before=RAW, after=AFTER, **settings):
    settings = {"bins": 3, "sequence": MATCHES.sequence, **settings}
    return gain_over_time(metric, MATCHES.label, before, after, MATCHES.time, **settings)


@pytest.mark.parametrize("name", METRICS)
def test_the_gain_is_the_metric_before_minus_after(name):
    metric, table = METRICS[name], take(METRICS[name])
    for k in range(len(table)):
        inside = (table.time_from[k] <= MATCHES.time) & (MATCHES.time <= table.time_to[k])
        old, new = (float(metric(MATCHES.label[inside], p[inside])) for p in (RAW, AFTER))
        assert table.before[k] == pytest.approx(old, rel=1e-9)
        assert table.after[k] == pytest.approx(new, rel=1e-9)
        assert table.value[k] == pytest.approx(old - new, abs=1e-12)
        assert table.rows[k] == inside.sum()
    assert (table.lower_all <= table.lower).all()
    assert (table.lower <= table.value).all()
    assert (table.value <= table.upper).all()
    assert (table.upper <= table.upper_all).all()
    assert table.mean == pytest.approx(table.value.mean())
    assert table.mean.lower <= table.mean <= table.mean.upper


@pytest.mark.parametrize("name", METRICS)
def test_the_same_predictions_gain_nothing_for_sure(name):
    table = take(METRICS[name], RAW, RAW)
    np.testing.assert_array_equal(table.value, 0.0)
    assert table.stretches() == ()
    assert (table.lower <= 0.0).all()
    assert (table.upper >= 0.0).all()


@pytest.mark.parametrize("name", ["nll", "brier"])
def test_exchanging_the_two_changes_the_sign(name):
    here, there = take(METRICS[name]), take(METRICS[name], AFTER, RAW)
    np.testing.assert_allclose(here.value, -there.value)
    np.testing.assert_allclose(here.lower, -there.upper)
    np.testing.assert_allclose(here.lower_all, -there.upper_all)
    names = {"helps": "hurts", "hurts": "helps", "": ""}
    assert here.effect.tolist() == [names[one] for one in there.effect.tolist()]


def test_one_time_bin_is_the_gain_of_all_rows():
    table, alone = take(nll, bins=1), gain(nll, MATCHES.label, RAW, AFTER, groups=MATCHES.sequence)
    assert table.value[0] == pytest.approx(float(alone))
    assert table.lower[0] == pytest.approx(alone.lower)
    np.testing.assert_array_equal(table.lower_all, table.lower)


def test_pairing_makes_intervals_far_narrower():
    """Next to those of two sets of sequences that have nothing in common."""
    almost = 1.0 / (1.0 + np.exp(-0.9 * MATCHES.logits))
    table = take(nll, RAW, almost)
    each = [
        tc.metrics.over_time(nll, MATCHES.label, p, MATCHES.time, bins=3, groups=MATCHES.sequence)
        for p in (RAW, almost)
    ]
    unpaired = np.hypot(*((one.upper - one.lower) for one in each))
    assert (table.upper - table.lower < 0.3 * unpaired).all()


def test_the_error_is_at_least_the_one_that_probabilities_predict():
    """No rare event was observed: all rows agree, and the observed spread is nearly nothing."""
    rows, p, q = 200, 0.01, 0.012
    table = gain_over_time(
        nll,
        np.zeros(rows, dtype=int),
        np.full(rows, p),
        np.full(rows, q),
        np.zeros(rows),
        sequence=np.arange(rows),
        classes=[0, 1],
    )
    assert table.value[0] < 0.0
    mean = 0.5 * (p + q)
    square = mean * np.log(q / p) ** 2 + (1 - mean) * np.log((1 - q) / (1 - p)) ** 2
    half = 1.9720 * np.sqrt(200 / 199) * np.sqrt(square / rows)
    assert table.upper[0] - table.value[0] == pytest.approx(half, rel=1e-3)
    assert table.effect.tolist() == [""]


def test_what_surely_hurts_is_said_in_words():
    early = MATCHES.time < 7
    spoiled = np.where(early, AFTER, 1.0 / (1.0 + np.exp(-0.2 * MATCHES.logits)))
    table = take(nll, RAW, spoiled, bins=6)
    (helps,), (hurts,) = table.stretches("helps"), table.stretches("hurts")
    assert helps.time_to < 7 <= hurts.time_from
    assert helps.value > 0.0 > hurts.value
    inside = MATCHES.time >= hurts.time_from
    assert hurts.rows == inside.sum()
    assert hurts.value == pytest.approx(
        float(gain(nll, MATCHES.label[inside], RAW[inside], spoiled[inside]))
    )
    said = str(table).splitlines()
    assert said[-1] == (
        f"From time {hurts.time_from:g} to {hurts.time_to:g} it surely hurts: "
        f"NLL higher by {-hurts.value:.4f}."
    )
    assert len(table.columns()["effect"]) == len(table)


@pytest.mark.parametrize(("count", "effect"), [(99, ""), (100, "helps")])
@pytest.mark.parametrize("grouped", [True, False])
def test_fewer_than_a_hundred_groups_make_no_claim(count, effect, grouped):
    y, repeats = np.arange(count) % 2, 3 if grouped else 1
    before, after = np.full(count, 0.5), np.where(y == 1, 0.9, 0.1)
    rows = [np.repeat(each, repeats) for each in (y, before, after)]
    groups = np.repeat(np.arange(count), repeats) if grouped else None
    table = gain_over_time(nll, *rows, np.zeros(len(rows[0])), groups=groups)
    assert table.lower_all[0] > 0.0
    assert table.effect.tolist() == [effect]
    closing = str(table).splitlines()[-1]
    units = "groups" if grouped else "rows"
    wanted = f"Nothing is said to help or hurt for sure: that takes 100 {units}, and there are 99."
    assert (closing == wanted) == (count < 100)
    frame = pl.DataFrame(dict(zip("yba", rows, strict=True))).with_columns(
        t=pl.lit(0), g=pl.lit(0) if groups is None else pl.Series(groups)
    )
    named = {"label": "y", "before": "b", "after": "a", "time": "t"}
    found = gain_over_time_table(nll, frame, **named, groups="g" if grouped else None)
    assert found.effect.tolist() == [effect]


def test_the_mean_of_one_time_bin_has_its_interval():
    n = 400
    before, after = np.full(n, 0.004), 0.0002 + np.linspace(0, 1e-5, n)
    table = gain_over_time(
        nll,
        np.zeros(n, dtype=int),
        before,
        after,
        np.zeros(n),
        groups=np.arange(n) // 2,
        bins=1,
        classes=[0, 1],
    )
    assert table.lower[0] < 0.0 < table.upper[0]
    assert (table.mean.lower, table.mean.upper) == pytest.approx((table.lower[0], table.upper[0]))


def test_a_jackknife_of_three_groups_has_two_degrees_of_freedom():
    y, group = np.tile([0, 1, 1], 30), np.repeat(np.arange(3), 30)
    before, after = 0.3 + 0.1 * group + 0.05 * y, np.full(90, 0.6)

    def mean_square(y, proba, *, sample_weight=None, classes=None):
        return float(np.mean((proba[:, 1] - y) ** 2))

    table = gain_over_time(mean_square, y, before, after, np.arange(90) % 2, groups=group, bins=2)
    for k in range(2):
        inside = np.arange(90) % 2 == k
        gained = (before - y) ** 2 - (after - y) ** 2
        values = [gained[inside & (group == g)].mean() for g in range(3)]
        error = np.std(values, ddof=1) / np.sqrt(3)
        # Quantiles of Student's t with two degrees of freedom, at 97.5 % and 98.75 %.
        assert table.upper[k] - table.lower[k] == pytest.approx(2 * 4.302653 * error)
        assert table.upper_all[k] - table.lower_all[k] == pytest.approx(2 * 6.205347 * error)
    each = [np.mean([gained[group == g].mean()]) for g in range(3)]
    error = np.std(each, ddof=1) / np.sqrt(3)
    assert table.mean.upper - table.mean.lower == pytest.approx(2 * 4.302653 * error)


def test_logits_and_probabilities_may_be_mixed():
    mixed = take(nll, MATCHES.logits, AFTER, inputs=("logits", "proba"))
    np.testing.assert_allclose(mixed.value, take(nll).value, atol=1e-12)
    far = np.where(MATCHES.label == 1, -800.0, 800.0)
    lost = take(nll, RAW, far, inputs=("proba", "logits"))
    np.testing.assert_allclose(lost.after, 800.0)
    assert (lost.effect == "hurts").all()
    certain = take(nll, RAW, np.inf * far, inputs=("proba", "logits"))
    assert (certain.value == -np.inf).all()
    assert (certain.effect == "hurts").all()


def test_soft_labels_are_shares_of_labels():
    share = np.random.default_rng(0).integers(0, 5, len(RAW)) / 4
    rows = np.repeat(np.arange(len(RAW)), 4)
    label = (np.tile(np.arange(4), len(RAW)) < np.repeat(4 * share, 4)).astype(int)
    settings = {"bins": 3, "classes": [0, 1]}
    for metric in (nll, brier, ece):
        soft = gain_over_time(
            metric,
            share,
            RAW,
            AFTER,
            MATCHES.time,
            sequence=MATCHES.sequence,
            soft_label=True,
            **settings,
        )
        hard = gain_over_time(
            metric,
            label,
            RAW[rows],
            AFTER[rows],
            MATCHES.time[rows],
            sequence=MATCHES.sequence[rows],
            **settings,
        )
        np.testing.assert_allclose(soft.value, hard.value, atol=1e-12)
        np.testing.assert_array_equal(4 * soft.rows, hard.rows)


@pytest.mark.parametrize("name", ["nll", "brier", "ece", "ece of one class", "classwise"])
@pytest.mark.parametrize("kinds", [("proba", "proba"), ("logits", "logits")])
def test_a_table_gives_the_numbers_of_arrays(name, kinds):
    before = RAW if kinds[0] == "proba" else MATCHES.logits
    after = AFTER if kinds[1] == "proba" else 0.7 * MATCHES.logits
    frame = pl.DataFrame(
        {"won": MATCHES.label, "b": before, "a": after, "t": MATCHES.time, "m": MATCHES.sequence}
    )
    named = {"label": "won", "before": "b", "after": "a", "time": "t", "sequence": "m"}
    found = gain_over_time_table(METRICS[name], frame.lazy(), **named, bins=3, inputs=kinds)
    want = take(METRICS[name], before, after, inputs=kinds)
    for column in ("before", "after", "value", "lower", "upper", "lower_all", "upper_all"):
        np.testing.assert_allclose(found.columns()[column], want.columns()[column], atol=1e-9)
    assert found.effect.tolist() == want.effect.tolist()


def test_several_classes_in_a_table():
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(600, 3))
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    time, ids = np.arange(600) % 6, np.arange(600) // 6
    columns = {f"b{k}": z for k, z in enumerate(logits.T)}
    columns |= {f"a{k}": 2.0 * z for k, z in enumerate(logits.T)}
    frame = pl.DataFrame({**columns, "y": label, "t": time, "m": ids})
    names = {"before": ["b0", "b1", "b2"], "after": ["a0", "a1", "a2"]}
    for metric in (nll, ece):
        found = gain_over_time_table(
            metric,
            frame,
            label="y",
            time="t",
            sequence="m",
            bins=2,
            inputs="logits",
            **names,
        )
        want = gain_over_time(
            metric, label, logits, 2.0 * logits, time, sequence=ids, bins=2, inputs="logits"
        )
        np.testing.assert_allclose(found.value, want.value, atol=1e-12)
        np.testing.assert_allclose(found.lower_all, want.lower_all, atol=1e-9)


def test_it_is_shown_in_notebooks_and_as_a_frame():
    table = take(nll)
    html = table._repr_html_()
    for sentence in str(table).splitlines()[len(table) + 2 :]:
        assert sentence in html
    assert f"{table.value[0]:+.4f}" in html
    frame = table.to_frame("polars")
    assert frame.columns == list(table.columns())
    np.testing.assert_array_equal(frame["value"], table.value)


def test_what_has_no_gain_is_refused():
    with pytest.raises(InputError, match="overconfidence, of which less is not better"):
        take(overconfidence)
    with pytest.raises(InputError, match="after must lie in"):
        take(nll, RAW, MATCHES.logits)
    frame = pl.DataFrame({"y": [0, 1] * 20, "b": [0.5] * 40, "a": [0.4, 1.4] * 20, "t": [0] * 40})
    named = {"label": "y", "before": "b", "after": "a", "time": "t"}
    with pytest.raises(InputError, match=r"after must hold probabilities.*but 20 rows of 'a'"):
        gain_over_time_table(nll, frame, **named)
    with pytest.raises(InputError, match="after names 'c', but the table's columns"):
        gain_over_time_table(nll, frame, **{**named, "after": "c"})
    with pytest.raises(InputError, match="before names 'zz', but the table's columns"):
        gain_over_time_table(nll, frame, **{**named, "before": "zz"})
    with pytest.raises(InputError, match=r"inputs must be .* or a pair of them"):
        take(nll, inputs=([1], "proba"))
    with pytest.raises(InputError, match='effect must be "helps", "hurts" or None'):
        take(nll).stretches("hurt")
    for metric in (lambda y, p: 0.0, log_loss):
        with pytest.raises(InputError, match=r"metric must take \(y, proba, sample_weight"):
            take(metric)
    good = frame.with_columns(a=pl.lit(0.3))
    with pytest.raises(InputError, match="groups is missing: the gain in a calibration error"):
        gain_over_time_table(ece, good, **named)
    with pytest.raises(InputError, match="needs the rows"):
        gain_over_time_table(smooth_ece, good, **named)
