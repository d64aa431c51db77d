import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from tempocal.assessment.error_spans import find_error_spans
from tempocal.assessment.verdict import where_it_hurts
from tempocal.assessment.wording import method_text, span_text, time_text
from tempocal.errors import InputError
from tempocal.temporal import auto

MATCHES = tc.datasets.simulate_match(700)
CANDIDATES = 13


@pytest.fixture(scope="module")
def found():
    return tc.assess(
        MATCHES.logits, MATCHES.label, time=MATCHES.time, sequence=MATCHES.sequence, seed=1
    )


def test_a_model_that_is_too_sure_early_is_told_so(found):
    verdict = found.verdict
    assert verdict.grade == "off"
    assert verdict.spells[0].direction == "too sure"
    assert verdict.spells[0].first == 0
    assert "too sure from time 0 to" in verdict.headline
    assert "Calibrate them" in verdict.what_to_do
    assert "350 sequences" in verdict.how_sure


def test_halves_share_no_sequence(found):
    facts = found.facts
    assert facts.fitted_groups + facts.judged_groups == facts.groups == 700
    assert facts.fitted_rows + facts.judged_rows == facts.rows == len(MATCHES.label)


def test_numbers_are_those_of_the_metrics(found):
    """Take the same split by hand and judge raw predictions."""
    rows = tc.sequences.split_by_sequence(MATCHES.sequence, (0.5, 0.5), seed=1)[1]
    raw = 1 / (1 + np.exp(-MATCHES.logits[rows]))
    table = tc.metrics.over_time(
        tc.metrics.ece,
        MATCHES.label[rows],
        raw,
        MATCHES.time[rows],
        groups=MATCHES.sequence[rows],
        bins=10,
        seed=1,
    )
    scores = found.scores["raw"]
    np.testing.assert_allclose(scores.ece_over_time.value, table.value, rtol=1e-9)
    np.testing.assert_allclose(scores.ece_over_time.upper, table.upper, rtol=1e-6)
    assert scores.nll == pytest.approx(tc.metrics.nll(MATCHES.label[rows], raw))
    assert scores.gain == 0.0
    gained = found.scores["raw"].nll - found.scores["along time"].nll
    assert found.scores["along time"].gain == pytest.approx(gained)


def test_calibration_along_time_is_the_best(found):
    scores = found.scores
    assert scores["along time"].nll < scores["global"].nll < scores["raw"].nll
    assert found.against_global.lower > 0
    assert len(found.candidates) == CANDIDATES
    assert found.curve is not None
    assert set(found.curve.values) == set(found.curve.points)


def test_the_gain_over_time_is_the_one_of_the_metric(found):
    rows = tc.sequences.split_by_sequence(MATCHES.sequence, (0.5, 0.5), seed=1)[1]
    raw = MATCHES.logits[rows]
    scores = found.scores["along time"].gain_over_time
    assert found.scores["raw"].gain_over_time.stretches() == ()
    table = found.scores["raw"].ece_over_time
    np.testing.assert_array_equal(scores.time_from, table.time_from)
    before = tc.metrics.over_time(
        tc.metrics.nll,
        MATCHES.label[rows],
        raw,
        MATCHES.time[rows],
        groups=MATCHES.sequence[rows],
        bins=10,
        inputs="logits",
    )
    np.testing.assert_allclose(scores.before, before.value)
    assert scores.effect[0] == "helps"
    assert found.verdict.where_it_hurts == ""
    assert str(found).endswith(found.verdict.what_to_do)


def test_a_correction_that_hurts_in_some_stretch_is_said():
    late = MATCHES.time > 12
    spoiled = 1.0 / (1.0 + np.exp(-0.1 * MATCHES.logits))
    table = tc.metrics.gain_over_time(
        tc.metrics.nll,
        MATCHES.label,
        MATCHES.logits,
        np.where(late, spoiled, MATCHES.true_probability),
        MATCHES.time,
        sequence=MATCHES.sequence,
        inputs=("logits", "proba"),
        bins=8,
    )
    text = where_it_hurts(table)
    (stretch,) = table.stretches("hurts")
    assert text == (
        "The correction along time surely hurts in some stretch: "
        f"{span_text(stretch.time_from, stretch.time_to)} the NLL is higher by "
        f"{-stretch.value:.4f}."
    )


def test_examples_are_whole_sequences_in_order(found):
    assert len(found.examples) == 6
    labels = [one.label for one in found.examples]
    assert labels.count("0") == labels.count("1") == 3
    for one in found.examples:
        own = int(one.sequence) == MATCHES.sequence
        assert (np.diff(one.time) > 0).all()
        raw = 1 / (1 + np.exp(-MATCHES.logits[own]))
        np.testing.assert_allclose(one.proba["raw"], raw)


def test_true_probabilities_are_left_alone():
    found = tc.assess(
        MATCHES.true_probability,
        MATCHES.label,
        time=MATCHES.time,
        sequence=MATCHES.sequence,
        inputs="proba",
    )
    assert found.verdict.grade in ("fine", "unsure")
    assert not found.verdict.spells
    assert "Leave them" in found.verdict.what_to_do


def test_many_sequences_of_the_truth_are_fine():
    many = tc.datasets.simulate_match(6000, seed=3)
    found = tc.assess(
        many.true_probability, many.label, time=many.time, sequence=many.sequence, inputs="proba"
    )
    assert found.verdict.grade == "fine"
    assert "can be trusted" in found.verdict.headline


def test_a_timid_model_is_told_so():
    found = tc.assess(
        0.4 * np.log(MATCHES.true_probability / (1 - MATCHES.true_probability)),
        MATCHES.label,
        time=MATCHES.time,
        sequence=MATCHES.sequence,
    )
    assert {spell.direction for spell in found.verdict.spells} <= {
        "too timid",
        "off in both directions",
    }
    assert any(spell.direction == "too timid" for spell in found.verdict.spells)


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
def test_predictions_of_the_other_class_are_told_apart():
    found = tc.assess(-MATCHES.logits, MATCHES.label, time=MATCHES.time, sequence=MATCHES.sequence)
    assert "the other class" in found.verdict.headline
    assert "read as those of 1, against 0" in found.verdict.what_to_do
    assert str(found) == str(found.verdict)
    assert len(repr(found)) < 200


def test_points_are_the_fits_of_each_time_bin(found):
    """The half that was fitted to, cut by its own rows: a fit of its own for each point."""
    for points in found.curve.points.values():
        assert len(np.unique(points[:, 0] if points.ndim > 1 else points)) == len(points)


def test_rows_without_a_sequence_are_called_independent():
    found = tc.assess(MATCHES.logits[::9], MATCHES.label[::9], time=MATCHES.time[::9])
    assert "taken as independent" in found.verdict.how_sure
    assert found.examples == ()
    assert found.facts.groups is None


def test_tables_with_dates_and_text_labels_and_coarser_groups():
    start = pd.Timestamp("2026-01-01")
    table = pd.DataFrame(
        {
            "z": MATCHES.logits,
            "won": np.where(MATCHES.label == 1, "home", "away"),
            "at": start + pd.to_timedelta(MATCHES.time, unit="h"),
            "match": [f"m{k}" for k in MATCHES.sequence],
            "event": MATCHES.sequence // 5,
        }
    ).sample(frac=1.0, random_state=0)
    found = tc.assess(
        table["z"],
        table["won"],
        time=table["at"],
        sequence=table["match"],
        groups=table["event"],
    )
    assert found.facts.classes == ("away", "home")
    assert (found.facts.sequences, found.facts.groups) == (700, 140)
    assert "2026-01-01" in found.verdict.headline
    assert found.curve.time.dtype.kind == "M"


@pytest.mark.parametrize("n_classes", [3, 5])
def test_several_classes(n_classes):
    random = np.random.default_rng(n_classes)
    sequence, time = np.repeat(np.arange(300), 8), np.tile(np.arange(8), 300)
    label = np.repeat(random.integers(0, n_classes, 300), 8)
    logits = random.normal(size=(2400, n_classes)) + 2.0 * np.eye(n_classes)[label]
    logits *= np.where(time < 4, 6.0, 2.0)[:, None]
    found = tc.assess(logits, label, time=time, sequence=sequence)
    assert found.verdict.spells[0].direction == "too sure"
    assert len(found.facts.classes) == n_classes
    assert found.scores["along time"].nll < found.scores["raw"].nll


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"time": None}, "time"),
        ({"time": MATCHES.time[:-1]}, "time"),
        ({"sequence": np.arange(len(MATCHES.label)) % 5}, "only 5 groups"),
        ({"inputs": "odds"}, "inputs must be"),
        ({"seed": -1}, "seed must be"),
        ({"sequence": [1, 2]}, "sequence"),
    ],
)
def test_what_is_refused(change, words):
    arguments = {"time": MATCHES.time, "sequence": MATCHES.sequence} | change
    with pytest.raises(InputError, match=words):
        tc.assess(MATCHES.logits, MATCHES.label, **arguments)


@pytest.fixture
def few_candidates(monkeypatch):
    few = [(tc.TemperatureScaling(), tc.Constant()), (tc.PlattScaling(), tc.Spline())]
    monkeypatch.setattr(auto, "default_candidates", lambda n_classes: few)


@pytest.fixture
def fits(monkeypatch):
    """What the fits along time are given."""
    given = []
    for kind in (tc.AutoTemporalCalibrator, tc.TemporalCalibrator):

        def fit(self, *rows, fit=kind.fit, **named):
            given.append(named)
            return fit(self, *rows, **named)

        monkeypatch.setattr(kind, "fit", fit)
    return given


def assess_rows(rows, **named):
    """Assess the matches with their rows in some order."""
    named = {"time": MATCHES.time, "sequence": MATCHES.sequence, **named}
    named = {name: values[rows] for name, values in named.items()}
    return tc.assess(MATCHES.logits[rows], MATCHES.label[rows], **named)


def test_fits_are_told_which_rows_follow_each_other(few_candidates, fits):
    rows = np.arange(len(MATCHES.label))
    mixed = np.random.default_rng(0).permutation(rows)
    for lying, named in ((rows, {}), (mixed, {"order": MATCHES.time})):
        fits.clear()
        assess_rows(lying, **named)
        assert len(fits) == 2  # the comparison, and a fit to each time bin
        comparison, per_bin = fits
        assert "sequence" not in comparison  # so that its candidates learn from outcomes only
        np.testing.assert_array_equal(per_bin["order"], per_bin["time"])
        np.testing.assert_array_equal(per_bin["sequence"], per_bin["groups"])


@pytest.mark.parametrize(
    ("time", "rows"),
    [
        (MATCHES.time // 2, np.arange(len(MATCHES.label))),
        (-MATCHES.time, np.arange(len(MATCHES.label))),
        (MATCHES.time, np.random.default_rng(0).permutation(len(MATCHES.label))),
    ],
    ids=["ties", "countdown", "no order"],
)
def test_times_that_are_no_order_need_none(few_candidates, fits, time, rows):
    """As in 0.1: the fits learn from outcomes only."""
    found = assess_rows(rows, time=time)
    assert all("sequence" not in one and "order" not in one for one in fits)
    step = np.arange(len(MATCHES.label))
    ordered = assess_rows(rows, time=time, order=step)
    assert [one["groups"].tolist() for one in fits[:2]] == [
        one["groups"].tolist() for one in fits[2:]
    ]
    assert [one["nll"] for one in ordered.candidates] == [one["nll"] for one in found.candidates]
    assert ordered.scores["along time"].nll == found.scores["along time"].nll


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"order": MATCHES.time // 2}, "order must differ between the rows of a sequence"),
        ({"order": -MATCHES.time}, "order must grow along a sequence"),
        ({"order": MATCHES.time[:-1]}, "order has"),
        ({"order": MATCHES.time, "sequence": None}, "order puts .* but sequence is None"),
    ],
)
def test_a_bad_order_is_refused(change, words):
    arguments = {"time": MATCHES.time, "sequence": MATCHES.sequence} | change
    with pytest.raises(InputError, match=words):
        tc.assess(MATCHES.logits, MATCHES.label, **arguments)


def test_times_in_words():
    assert time_text(3.0) == "3"
    assert time_text(np.datetime64("2026-03-01T00:00:00", "us")) == "2026-03-01"
    assert time_text(np.datetime64("2026-03-01T14:30:00", "us")) == "2026-03-01 14:30"
    assert time_text(np.timedelta64(5400, "s")) == "90 min"
    assert time_text(np.timedelta64(1, "s")) == "1 s"
    assert span_text(2.0, 2.0) == "at time 2"
    assert method_text("PlattScaling, Spline") == "Platt scaling (slope and bias) along a spline"
    assert method_text("Identity") == "Identity"
    average = "an average of 3 candidates, led by "
    assert method_text(f"{average}Identity") == f"{average}the raw predictions"
    assert method_text(f"{average}BetaCalibration, Spline") == (
        f"{average}beta calibration along a spline"
    )


def test_groups_that_cut_through_a_sequence_are_refused():
    with pytest.raises(InputError, match="groups must be the same in all rows of a sequence"):
        tc.assess(
            MATCHES.logits,
            MATCHES.label,
            time=MATCHES.time,
            sequence=MATCHES.sequence,
            groups=np.arange(len(MATCHES.label)),
        )


def test_calibrated_predictions_are_seldom_called_off():
    """Forty sets of rare events, calibrated: the level of the test is two in a hundred."""
    called = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        proba = random.beta(1, 15, 3000)
        label, time = random.random(3000) < proba, np.tile(np.arange(10), 300)
        settings = {"bins": 10, "groups": np.repeat(np.arange(300), 10), "classes": [False, True]}
        errors = tc.metrics.over_time(tc.metrics.ece, label, proba, time, **settings)
        over = tc.metrics.over_time(tc.metrics.overconfidence, label, proba, time, **settings)
        called += bool(find_error_spans(errors, over))
    assert called <= 6


def test_a_correction_that_makes_the_error_larger_is_not_praised():
    """A few predictions that are certain and wrong: likelihood and calibration part."""
    logits = MATCHES.logits.copy()
    wrong = np.random.default_rng(0).random(len(logits)) < 0.05
    logits[wrong] = np.where(MATCHES.label[wrong] == 1, -np.inf, np.inf)
    found = tc.assess(logits, MATCHES.label, time=MATCHES.time, sequence=MATCHES.sequence)
    before, after = (found.scores[name].ece_over_time.mean for name in ("raw", "along time"))
    if after.lower > before.upper:
        assert "trades one fault for another" in found.verdict.what_to_do
    assert "lowers" not in found.verdict.what_to_do


def test_control_characters_in_names_do_not_reach_the_reader():
    label = np.where(MATCHES.label == 1, "won\x1b[31m", "lo\x07st")
    found = tc.assess(MATCHES.logits, label, time=MATCHES.time, sequence=MATCHES.sequence)
    assert found.facts.classes == ("lo\ufffdst", "won\ufffd[31m")
