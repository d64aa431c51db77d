"""Whole sequences in, calibrated probabilities of growing ones out: the same as step by step."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import tempocal as tc
from tempocal.errors import InputError
from tempocal.links import proba_from_logits
from tempocal.sequences import prefixes, truncate

METHODS = ("predict_proba", "predict_log_proba", "decision_function", "predict")
# With strengths that are given a fit is short, and as good for what is shown here.
ALONG_TIME = tc.TemporalCalibrator(curve=tc.Spline(smoothness=1.0), shrinkage=1.0)
RNG = np.random.default_rng(3)
SKILL = RNG.random(150)
ROUNDS = ["".join(np.where(RNG.random(RNG.integers(1, 15)) < one, "w", "l")) for one in SKILL]
WON = np.where(SKILL > 0.5, "yes", "no")
GROWING = ["w", "wwl", "llwllllw"]


def lead(batch):
    return np.array([text.count("w") - text.count("l") for text in batch], dtype=float)


def three_logits(batch):
    return np.stack([lead(batch), -lead(batch), np.zeros(len(batch))], axis=1)


def fit_by_hand(cut, calibrator, model=lead, sequences=ROUNDS, **arguments):
    scores = model(list(cut.take(sequences)))
    return calibrator.fit(scores, cut.label, time=cut.length, groups=cut.id, **arguments)


def assert_same(classifier, calibrator, model=lead, growing=GROWING):
    time = [len(sequence) for sequence in growing]
    for method in METHODS:
        by_hand = getattr(calibrator, method)(model(growing), time=time)
        np.testing.assert_array_equal(getattr(classifier, method)(growing), by_hand)


@pytest.mark.parametrize("batch_size", [1, 7, 1024])
def test_it_is_the_steps_by_hand(batch_size):
    classifier = tc.CalibratedSequenceClassifier(
        lead, ALONG_TIME, cuts=3, random_state=8, batch_size=batch_size
    ).fit(ROUNDS, WON)
    cut = truncate(ROUNDS, 3, labels=WON, seed=8)
    by_hand = fit_by_hand(cut, clone(ALONG_TIME))
    assert_same(classifier, by_hand)
    assert classifier.n_prefixes_ == 450
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert str(classifier.summary()) == str(by_hand.summary())
    assert classifier.summary().n_groups == 150


def test_weights_let_the_cuts_stand_for_all_prefixes():
    classifier = tc.CalibratedSequenceClassifier(lead, ALONG_TIME, weighted=True).fit(ROUNDS, WON)
    cut = truncate(ROUNDS, 5, labels=WON)
    weight = cut.weight / cut.weight.mean()
    assert_same(classifier, fit_by_hand(cut, clone(ALONG_TIME), sample_weight=weight))
    assert classifier.summary().total_weight == pytest.approx(classifier.n_prefixes_)


@pytest.mark.parametrize("cuts", [3, None])
@pytest.mark.parametrize("groups", [None, np.arange(150) // 3])
def test_prefixes_learn_from_longer_ones_where_a_horizon_is_set(cuts, groups):
    calibrator = clone(ALONG_TIME).set_params(td_horizon=0.3)
    classifier = tc.CalibratedSequenceClassifier(lead, calibrator, cuts=cuts)
    classifier.fit(ROUNDS, WON, groups)
    named = {"labels": WON, "ids": groups}
    cut = prefixes(ROUNDS, **named) if cuts is None else truncate(ROUNDS, cuts, **named)
    # With random cuts the same prefix may come twice.
    order = np.arange(len(cut))
    by_hand = fit_by_hand(cut, clone(calibrator), sequence=cut.sequence, order=order)
    assert_same(classifier, by_hand)
    outcomes_only = fit_by_hand(cut, clone(ALONG_TIME))
    without = outcomes_only.predict_proba(lead(GROWING), time=[len(one) for one in GROWING])
    assert (np.abs(classifier.predict_proba(GROWING) - without) > 1e-4).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_all_prefixes_count_alike(weighted):
    classifier = tc.CalibratedSequenceClassifier(lead, ALONG_TIME, cuts=None, weighted=weighted)
    assert_same(
        classifier.fit(ROUNDS, WON), fit_by_hand(prefixes(ROUNDS, labels=WON), clone(ALONG_TIME))
    )
    assert classifier.n_prefixes_ == sum(map(len, ROUNDS))


def test_groups_are_clusters_of_sequences():
    player = np.arange(len(ROUNDS)) // 3
    classifier = tc.CalibratedSequenceClassifier(lead, ALONG_TIME).fit(ROUNDS, WON, groups=player)
    assert_same(
        classifier, fit_by_hand(truncate(ROUNDS, labels=WON, ids=player), clone(ALONG_TIME))
    )
    assert classifier.summary().n_groups == 50


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
def test_unless_told_it_calibrates_along_time(few_candidates):
    classifier = tc.CalibratedSequenceClassifier(lead).fit(ROUNDS, WON)
    assert classifier.calibrator is None
    by_hand = fit_by_hand(truncate(ROUNDS, labels=WON), clone(classifier.calibrator_))
    assert_same(classifier, by_hand)


def test_auto_finds_a_calibrator():
    auto = tc.AutoTemporalCalibrator(
        [(tc.TemperatureScaling(), tc.Constant()), (tc.PlattScaling(), tc.PerStep())],
        folds=2,
        progress=False,
    )
    classifier = tc.CalibratedSequenceClassifier(lead, auto).fit(ROUNDS, WON)
    assert_same(classifier, fit_by_hand(truncate(ROUNDS, labels=WON), clone(auto)))


def test_a_global_calibrator_is_not_told_the_time():
    classifier = tc.CalibratedSequenceClassifier(lead, tc.PlattScaling()).fit(ROUNDS, WON)
    cut = truncate(ROUNDS, labels=WON)
    by_hand = tc.PlattScaling().fit(lead(cut.take(ROUNDS)), cut.label, groups=cut.id)
    for method in METHODS:
        expected = getattr(by_hand, method)(lead(GROWING))
        np.testing.assert_array_equal(getattr(classifier, method)(GROWING), expected)


def test_time_is_any_measure_of_a_prefix():
    def losses(text):
        return text.count("l") / 2

    classifier = tc.CalibratedSequenceClassifier(lead, ALONG_TIME, time=losses, batch_size=16)
    classifier.fit(ROUNDS, WON)
    cut = truncate(ROUNDS, labels=WON)
    parts = list(cut.take(ROUNDS))
    by_hand = clone(ALONG_TIME).fit(
        lead(parts), cut.label, time=[losses(text) for text in parts], groups=cut.id
    )
    expected = by_hand.predict_proba(lead(GROWING), time=[losses(text) for text in GROWING])
    np.testing.assert_array_equal(classifier.predict_proba(GROWING), expected)


def test_two_clocks():
    surface = tc.TemporalCalibrator(curve=tc.Surface(tc.Spline(), tc.Constant()))
    classifier = tc.CalibratedSequenceClassifier(
        lead, surface, time=lambda text: (len(text), text.count("l"))
    )
    assert classifier.fit(ROUNDS, WON).calibrator_.time_kinds_ == ("number", "number")
    assert classifier.predict_proba(GROWING).shape == (3, 2)


def test_three_classes():
    y = np.digitize(SKILL, [0.3, 0.7])
    along_time = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep())
    classifier = tc.CalibratedSequenceClassifier(three_logits, along_time).fit(ROUNDS, y)
    by_hand = fit_by_hand(truncate(ROUNDS, labels=y), clone(along_time), three_logits)
    assert_same(classifier, by_hand, three_logits)
    assert classifier.decision_function(GROWING).shape == (3, 3)
    assert classifier.score(ROUNDS, y) == np.mean(classifier.predict(ROUNDS) == y)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_one_column_is_one_column(shape):
    classifier = tc.CalibratedSequenceClassifier(lambda x: lead(x).reshape(shape), ALONG_TIME)
    expected = tc.CalibratedSequenceClassifier(lead, ALONG_TIME).fit(ROUNDS, WON)
    np.testing.assert_array_equal(
        classifier.fit(ROUNDS, WON).predict_proba(GROWING), expected.predict_proba(GROWING)
    )


def test_probabilities_of_a_callable():
    along_time = tc.TemporalCalibrator(tc.TemperatureScaling(inputs="proba"), tc.Spline())

    def model(batch):
        return proba_from_logits(lead(batch))

    classifier = tc.CalibratedSequenceClassifier(model, along_time).fit(ROUNDS, WON)
    by_hand = fit_by_hand(truncate(ROUNDS, labels=WON), clone(along_time), model)
    assert_same(classifier, by_hand, model)


def test_sequences_of_other_kinds():
    """Lists and arrays along time are cut as strings are."""
    expected = tc.CalibratedSequenceClassifier(lead, ALONG_TIME).fit(ROUNDS, WON)
    as_arrays = [np.array([[letter == "w"] for letter in text], dtype=float) for text in ROUNDS]
    classifier = tc.CalibratedSequenceClassifier(
        lambda batch: [(2 * part - 1).sum() for part in batch], ALONG_TIME
    ).fit(as_arrays, WON)
    np.testing.assert_array_equal(
        classifier.predict_proba(as_arrays), expected.predict_proba(ROUNDS)
    )


def reviews(seed, n=80):
    """Make reviews of words that lean to one of two or three feelings."""
    rng = np.random.default_rng(seed)
    words = np.array(["good", "bad", "dull", "film", "plot", "it"])
    label = rng.integers(3, size=n)
    lean = np.array([[3, 1, 1, 2, 2, 2], [1, 3, 1, 2, 2, 2], [1, 1, 3, 2, 2, 2]]) / 11
    texts = [rng.choice(words, size=rng.integers(2, 20), p=lean[one]).tolist() for one in label]
    return texts, np.array(["liked", "hated", "slept"])[label]


def read(last):
    """Fit a text classifier to lists of words."""
    texts, label = reviews(1)
    return make_pipeline(CountVectorizer(analyzer=list), last).fit(texts, label)


@pytest.mark.parametrize(
    ("inputs", "method"), [("logits", "decision_function"), ("proba", "predict_proba")]
)
def test_a_text_classifier_is_asked_for_what_the_calibrator_takes(inputs, method):
    model = read(LogisticRegression())
    texts, label = reviews(2)
    along_time = tc.TemporalCalibrator(tc.TemperatureScaling(inputs=inputs), tc.Spline())
    classifier = tc.CalibratedSequenceClassifier(model, along_time).fit(texts, label)
    ask = getattr(model, method)
    by_hand = fit_by_hand(truncate(texts, labels=label), clone(along_time), ask, texts)
    assert_same(classifier, by_hand, ask, texts[:9])
    assert classifier.classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("last", [MultinomialNB(), RandomForestClassifier(5, random_state=0)])
def test_without_a_decision_function_logits_are_log_probabilities(last):
    model, (texts, label) = read(last), reviews(2)
    both = [
        tc.CalibratedSequenceClassifier(
            model, tc.TemporalCalibrator(tc.TemperatureScaling(inputs=inputs), tc.Spline())
        )
        .fit(texts, label)
        .predict_proba(texts)
        for inputs in ("logits", "proba")
    ]
    np.testing.assert_array_equal(*both)


def test_a_model_with_margins_alone():
    model, (texts, label) = read(LinearSVC()), reviews(2)
    classifier = tc.CalibratedSequenceClassifier(model, ALONG_TIME).fit(texts, label)
    assert classifier.predict_proba(texts[:2]).shape == (2, 3)
    proba = tc.TemperatureScaling(inputs="proba")
    with pytest.raises(InputError, match=r'Pipeline has no predict_proba.*inputs="logits"'):
        tc.CalibratedSequenceClassifier(model, proba).fit(texts, label)


class Backwards:
    """A model whose columns are not in the order of the labels."""

    classes_ = np.array(["yes", "no"])

    def decision_function(self, batch):
        return -lead(batch)


@pytest.mark.parametrize(
    "calibrator",
    [
        tc.PlattScaling(),
        ALONG_TIME,
        tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()),
        tc.AutoTemporalCalibrator([(tc.TemperatureScaling(), tc.Constant())], progress=False),
    ],
)
def test_columns_are_those_of_the_model(calibrator):
    before = repr(calibrator)
    classifier = tc.CalibratedSequenceClassifier(Backwards(), calibrator).fit(ROUNDS, WON)
    assert classifier.classes_.tolist() == ["yes", "no"]
    assert classifier.predict(["wwww", "llll"]).tolist() == ["yes", "no"]
    assert repr(calibrator) == before


def test_a_class_that_no_sequence_has():
    texts, label = reviews(2)
    some = label != "slept"
    texts = [text for text, kept in zip(texts, some, strict=True) if kept]
    classifier = tc.CalibratedSequenceClassifier(read(LogisticRegression()), ALONG_TIME)
    assert classifier.fit(texts, label[some]).predict_proba(texts[:1]).shape == (1, 3)


def test_other_classes_of_the_calibrator_are_refused():
    calibrator = tc.TemperatureScaling(classes=["no", "yes"])
    with pytest.raises(InputError, match="columns of the model are"):
        tc.CalibratedSequenceClassifier(Backwards(), calibrator).fit(ROUNDS, WON)
    same = tc.TemperatureScaling(classes=["yes", "no"])
    tc.CalibratedSequenceClassifier(Backwards(), same).fit(ROUNDS, WON)


def test_the_same_seed_gives_the_same_and_another_another():
    def fitted(seed):
        classifier = tc.CalibratedSequenceClassifier(lead, ALONG_TIME, random_state=seed)
        return classifier.fit(ROUNDS, WON).predict_proba(GROWING)

    np.testing.assert_array_equal(fitted(1), fitted(1))
    assert (fitted(1) != fitted(2)).any()
    assert (fitted(None) != fitted(None)).any()


def test_clones_are_not_fitted_but_share_the_model():
    classifier = tc.CalibratedSequenceClassifier(read(LogisticRegression()), ALONG_TIME, cuts=2)
    texts, label = reviews(2)
    classifier.fit(texts, label)
    copy = clone(classifier)
    assert copy.model is classifier.model
    assert copy.calibrator is not ALONG_TIME
    assert copy.cuts == 2
    for ask in (*METHODS, "summary"):
        with pytest.raises(NotFittedError):
            getattr(copy, ask)(*([] if ask == "summary" else [texts]))
    expected = classifier.predict_proba(texts)
    np.testing.assert_array_equal(copy.fit(texts, label).predict_proba(texts), expected)


def test_within_a_grid_search():
    search = GridSearchCV(
        tc.CalibratedSequenceClassifier(read(LogisticRegression()), tc.TemperatureScaling()),
        {"cuts": [1, None], "calibrator__shrinkage": [0.0, "auto"]},
        scoring="neg_log_loss",
        cv=2,
        error_score="raise",
    )
    assert np.isfinite(search.fit(*reviews(2)).best_score_)


def test_the_calibrator_is_saved(tmp_path):
    classifier = tc.CalibratedSequenceClassifier(Backwards(), tc.PlattScaling()).fit(ROUNDS, WON)
    classifier.calibrator_.save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json").predict_proba(-lead(GROWING))
    np.testing.assert_array_equal(classifier.predict_proba(GROWING), loaded)
    assert not hasattr(classifier, "save")


def test_prefixes_are_made_batch_by_batch():
    sizes = []

    def model(batch):
        sizes.append(len(batch))
        return lead(batch)

    classifier = tc.CalibratedSequenceClassifier(model, tc.TemperatureScaling(), batch_size=400)
    classifier.fit(ROUNDS, WON)
    assert sizes == [400, 350]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (lambda batch: lead(batch)[:3], "returned 3 rows for 10 prefixes"),
        (lambda batch: lead(batch).sum(), "returned 0 rows for 10 prefixes"),
        (lambda batch: three_logits(batch)[:, :, None], r"10 rows.*shape \(10, 3, 1\)"),
        (lambda batch: three_logits(batch)[:, : len(batch[0])], "columns, other ones for other"),
        (lambda batch: batch, "what the model returned must be numbers"),
    ],
)
def test_what_a_model_must_return(output, words):
    sequences = ["w", "ww"] * 10
    classifier = tc.CalibratedSequenceClassifier(output, tc.TemperatureScaling(), batch_size=10)
    with pytest.raises(InputError, match=words):
        classifier.fit(sorted(sequences, key=len), np.arange(20) % 2)


def test_a_table_would_lose_the_names_of_its_columns():
    def model(batch):
        return pd.DataFrame(three_logits(batch)[:, :2], columns=["yes", "no"])

    with pytest.raises(InputError, match="a DataFrame of shape"):
        tc.CalibratedSequenceClassifier(model).fit(ROUNDS, WON)


@pytest.mark.parametrize("model", [None, "lead", LogisticRegression, object()])
def test_what_a_model_must_be(model):
    with pytest.raises(InputError, match="model must be a callable of a list of prefixes"):
        tc.CalibratedSequenceClassifier(model).fit(ROUNDS, WON)


def test_a_model_must_be_fitted():
    model = make_pipeline(CountVectorizer(analyzer=list), MultinomialNB())
    with pytest.raises(NotFittedError):
        tc.CalibratedSequenceClassifier(model).fit(*reviews(2))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cuts": 0}, "cuts must be a whole number"),
        ({"batch_size": 0.5}, "batch_size must be a whole number"),
        ({"time": 3}, "time must be None or a callable"),
        ({"calibrator": "temperature"}, "calibrator must be one such as"),
        ({"calibrator": tc.TemperatureScaling}, "calibrator must be one such as"),
        ({"calibrator": LogisticRegression()}, "calibrator must be one such as"),
        ({"time": lambda text: None}, "time contains NaN, NaT or None"),
    ],
)
def test_settings_are_checked(settings, words):
    with pytest.raises(InputError, match=words):
        tc.CalibratedSequenceClassifier(lead, **settings).fit(ROUNDS, WON)


@pytest.mark.parametrize(
    ("sequences", "y", "words"),
    [
        ([], [], "sequences is empty"),
        (["w", ""], [0, 1], r"sequences\[1\] has length 0"),
        ("wl", [0, 1], "pass one sequence as"),
        ([3, 4], [0, 1], "has no length"),
        (["w", "l"], [0], r"y must be one value for each of the 2 sequences.*\(1,\)"),
        (["w", "l"], None, "y must be one value for each of the 2 sequences"),
        (["w", "l"], [1, None], r"y\[1\] is missing"),
    ],
)
def test_sequences_and_labels_are_checked(sequences, y, words):
    with pytest.raises(InputError, match=words):
        tc.CalibratedSequenceClassifier(lead).fit(sequences, y)


def test_growing_sequences_are_checked():
    classifier = tc.CalibratedSequenceClassifier(lead, tc.TemperatureScaling()).fit(ROUNDS, WON)
    for growing in ([], ["w", ""], "wl", [2, 3]):
        with pytest.raises(InputError, match="sequences"):
            classifier.predict_proba(growing)
    with pytest.raises(InputError, match="groups must be one value for each of the 150"):
        classifier.fit(ROUNDS, WON, groups=[1])
