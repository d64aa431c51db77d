"""What an assessment judges: a model, two of them, two sets of predictions; and how it splits."""

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from tempocal.errors import InputError
from tempocal.temporal import auto

MATCHES = tc.datasets.simulate_match(1200, seed=4)
RAW = 1 / (1 + np.exp(-MATCHES.logits))
TRUTH = np.log(MATCHES.true_probability / (1 - MATCHES.true_probability))


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch):
    few = [(tc.TemperatureScaling(), tc.Constant()), (tc.PlattScaling(), tc.Spline())]
    monkeypatch.setattr(auto, "default_candidates", lambda n_classes: few)


@pytest.fixture(scope="module")
def models():
    """Fit two models to other matches: one along time, one without."""
    others = tc.datasets.simulate_match(600, seed=5)
    rows = {"time": others.time, "groups": others.sequence}
    along = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
    along.fit(others.logits, others.label, **rows)
    return along, tc.TemperatureScaling().fit(others.logits, others.label, groups=others.sequence)


def assess(predictions=MATCHES.logits, **settings):
    given = {"time": MATCHES.time, "sequence": MATCHES.sequence, **settings}
    return tc.assess(predictions, MATCHES.label, **given)


def held_out(seed=0):
    return tc.sequences.split_by_sequence(MATCHES.sequence, (0.5, 0.5), seed=seed)[1]


def test_the_verdict_is_about_the_given_model(models, tmp_path):
    along, _ = models
    along.save(tmp_path / "model.json")
    found, from_file = (assess(model=one) for one in (along, str(tmp_path / "model.json")))
    rows = held_out()
    proba = along.predict_proba(MATCHES.logits[rows], time=MATCHES.time[rows])
    assert found.subject == "model"
    assert list(found.scores) == ["raw", "model", "global", "along time"]
    assert found.scores["model"].nll == pytest.approx(tc.metrics.nll(MATCHES.label[rows], proba))
    assert found.scores["model"].gain == 0.0
    gained = found.scores["model"].nll - found.scores["raw"].nll
    assert found.scores["raw"].gain == pytest.approx(gained)
    assert found.verdict.grade != "off" or "model" in found.verdict.headline
    assert str(from_file.verdict) == str(found.verdict)


def test_a_model_without_a_time_is_judged_too(models):
    _, constant = models
    found = assess(model=constant)
    assert found.verdict.headline.startswith("The model's probabilities are too sure")
    assert found.verdict.what_to_do.startswith("Fit a new model")


def test_two_models(models):
    along, constant = models
    found = assess(model=constant, versus=along)
    rows, y = held_out(), MATCHES.label[held_out()]
    time = MATCHES.time[rows]
    gain = tc.metrics.gain(
        tc.metrics.nll,
        y,
        constant.predict_proba(MATCHES.logits[rows]),
        along.predict_proba(MATCHES.logits[rows], time=time),
        groups=MATCHES.sequence[rows],
    )
    assert found.versus.nll == pytest.approx(gain)
    assert found.versus.nll.lower == pytest.approx(gain.lower)
    assert found.versus.words.startswith("The other model is better than the model, by 0.0")
    assert found.names["versus"][0] == "the other model"


def test_two_sets_of_predictions():
    found, back = assess(versus=TRUTH), assess(TRUTH, versus=MATCHES.logits)
    assert "The other predictions are better than raw predictions" in found.versus.words
    assert "are worse than" in back.versus.words
    assert found.versus.nll == pytest.approx(-back.versus.nll)
    assert found.scores["versus"].nll == back.scores["raw"].nll
    same = assess(versus=MATCHES.logits)
    assert same.versus.words.startswith("No difference")


def test_a_split_in_time_fits_to_what_began_first():
    began = MATCHES.sequence % 7 * 1.0 + MATCHES.sequence / 1000
    found = assess(split_in_time=began)
    training, judged = tc.sequences.split_in_time(began, MATCHES.sequence, (0.5, 0.5))
    assert found.facts.fitted_rows == len(training)
    assert found.scores["raw"].nll == pytest.approx(
        tc.metrics.nll(MATCHES.label[judged], RAW[judged])
    )
    assert "in time" in found.facts.split


def test_a_split_by_a_column():
    marks = MATCHES.sequence % 3 == 0
    found = assess(split_column=marks)
    assert found.scores["raw"].nll == pytest.approx(
        tc.metrics.nll(MATCHES.label[marks], RAW[marks])
    )
    assert (found.facts.fitted_groups, found.facts.judged_groups) == (800, 400)


@pytest.mark.parametrize("by", ["split_in_time", "split_column"])
def test_tables_split_as_arrays_do(by, models):
    value = MATCHES.sequence % 3 == 0 if by == "split_column" else MATCHES.sequence * 7 % 1200
    names = {"z": MATCHES.logits, "y": MATCHES.label, "t": MATCHES.time, "m": MATCHES.sequence}
    rows = pl.DataFrame({**names, "split": value})
    table = tc.assess_table(
        rows.lazy(), logits="z", label="y", time="t", sequence="m", model=models[0], **{by: "split"}
    )
    arrays = assess(model=models[0], **{by: value})
    for name, scores in arrays.scores.items():
        assert table.scores[name].nll == pytest.approx(scores.nll, rel=1e-9)
    assert table.facts.split == arrays.facts.split
    assert table.verdict.headline == arrays.verdict.headline.replace("time", "t")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": 3}, "model must be a fitted calibrator"),
        ({"model": "nowhere.json"}, "nowhere.json"),
        ({"versus": TRUTH[:-1]}, "versus has the shape"),
        ({"versus": TRUTH[None, :]}, "versus has the shape"),
        ({"versus": "nosuch.json"}, "versus must be .* no file 'nosuch.json'"),
        ({"versus": np.full(len(TRUTH), np.nan)}, "^versus "),
        ({"time_name": ""}, "time_name must be"),
        ({"time_name": 5}, "time_name must be"),
        ({"split_in_time": np.zeros(len(TRUTH))}, "^split_in_time holds 1 different"),
        ({"split_in_time": [1.0]}, "split_in_time has 1 entries"),
        ({"split_column": MATCHES.time}, "split_column must be True"),
        ({"split_column": MATCHES.time > 3}, "split_column must be the same in all rows"),
        ({"split_column": MATCHES.sequence < 5}, "leaves 1195 groups to fit to and 5"),
        ({"split_column": MATCHES.sequence < 99, "split_in_time": MATCHES.time}, "give one of"),
    ],
)
def test_what_is_refused(change, words):
    with pytest.raises((InputError, OSError), match=words):
        assess(**change)


def test_a_table_takes_no_column_of_other_predictions():
    rows = pl.DataFrame({"z": [0.5, -0.5], "y": [1, 0], "t": [0, 1], "m": [0, 1], "v": [0.1, 0.2]})
    named = {"logits": "z", "label": "y", "time": "t", "sequence": "m"}
    with pytest.raises(InputError, match=r"versus must be a fitted calibrator .* no file 'v'"):
        tc.assess_table(rows, **named, versus="v")
    with pytest.raises(InputError, match="time_name must be"):
        tc.assess_table(rows, **named, time_name="")
    many = pl.DataFrame({"z": [0.5] * 40, "y": [0, 1] * 20, "t": [0] * 40, "m": range(40)})
    with pytest.raises(InputError, match=r"^split_in_time holds 1 different"):
        tc.assess_table(many, **named, split_in_time="t")


def test_a_model_of_other_inputs_is_refused(models):
    along, constant = models
    with pytest.raises(InputError, match="model was fitted to logits, but inputs is 'proba'"):
        assess(RAW, inputs="proba", model=along)
    with pytest.raises(InputError, match="versus must be a model"):
        assess(model=along, versus=TRUTH)
    with pytest.raises(InputError, match="classes of model are"):
        assess(model=constant, classes=[1, 0])


@pytest.mark.parametrize("weights", [False, True])
def test_the_worst_sequences_are_those_with_the_largest_brier_score(weights):
    weight = np.random.default_rng(0).integers(1, 4, len(RAW)) * 1.0 if weights else None
    names = {"z": MATCHES.logits, "y": MATCHES.label, "t": MATCHES.time, "m": MATCHES.sequence}
    frame = pl.DataFrame({**names, "w": np.ones(len(RAW)) if weight is None else weight})
    arrays = assess(sample_weight=weight).worst
    table = tc.assess_table(
        frame.lazy(), logits="z", label="y", time="t", sequence="m",
        sample_weight="w" if weights else None,
    ).worst  # fmt: skip
    rows = held_out()
    scores = {}
    for match in np.unique(MATCHES.sequence[rows]):
        own = match == MATCHES.sequence
        if own.sum() >= 3:
            scores[str(match)] = tc.metrics.brier(
                MATCHES.label[own],
                RAW[own],
                classes=[0, 1],
                sample_weight=None if weight is None else weight[own],
            )
    expected = sorted(scores, key=lambda match: -scores[match])[:6]
    for found in (arrays, table):
        assert [one.sequence for one in found] == expected
        assert [one.brier for one in found] == pytest.approx([scores[one] for one in expected])
        own = str(found[0].sequence) == MATCHES.sequence.astype(str)
        np.testing.assert_allclose(found[0].proba["raw"], RAW[own])


def test_progress_says_how_far_it_has_come(capsys, monkeypatch):
    monkeypatch.setattr("tempocal.temporal.progress.LOG_DELAY", 0.0)
    monkeypatch.setattr("tempocal.temporal.progress.LOG_INTERVAL", 0.0)
    assess(progress=True)
    lines = capsys.readouterr().err.splitlines()
    steps = [line for line in lines if line.startswith("step ")]
    assert steps[0] == "step 1 of 6: fitting and comparing the candidates"
    assert "step 3 of 6: measuring raw predictions" in steps
    assert len(steps) == 6
    assert any(line.startswith("3 of 3, about 0 s left") for line in lines)
    assess(progress=None)
    assert capsys.readouterr().err == ""
