"""AUC over time: beside scikit-learn's, a bootstrap over sequences, and the same from tables."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import tempocal as tc
from tempocal.assessment.discrimination import PlacementSums, discriminate_arrays
from tempocal.assessment.in_memory import InMemoryHeldOutRows
from tempocal.assessment.in_table import TableHeldOutRows
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.maps import Scale
from tempocal.metrics.predictions import check_groups_of, check_predictions, check_time_of
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.time_bins import cut_times
from tempocal.predictor import Predictor
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.group_ids import find_groups
from tempocal.tables.labeled_table import read_labeled_table
from tempocal.temporal import auto


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch):
    few = [(tc.TemperatureScaling(), tc.Constant()), (tc.TemperatureScaling(), tc.Spline())]
    monkeypatch.setattr(auto, "default_candidates", lambda n_classes: few)


def rows(n=200, seed=0, *, weights=False):
    m = tc.datasets.simulate_match(n, seed=seed)
    # Rounded, so that there are ties.
    proba = np.round(1 / (1 + np.exp(-m.logits)), 2)
    weight = np.random.default_rng(seed).integers(1, 4, len(proba)) * 1.0 if weights else None
    return SimpleNamespace(y=m.label, proba=proba, time=m.time, sequence=m.sequence, weight=weight)


def discriminate(given, bins=5):
    checked = check_predictions(given.y, given.proba, given.weight, None)
    time_bins = cut_times(check_time_of(checked, given.time), checked.weight, bins)
    scored = ScoredArrays.of(checked, check_groups_of(checked, given.sequence))
    return discriminate_arrays(scored, time_bins, 0.95), time_bins


@pytest.mark.parametrize("weights", [False, True])
def test_values_are_those_of_scikit_learn(weights):
    given = rows(weights=weights)
    found, bins = discriminate(given)
    assert found.overall[0] == pytest.approx(
        roc_auc_score(given.y, given.proba, sample_weight=given.weight)
    )
    for k in range(bins.count):
        inside = bins.codes == k
        weight = None if given.weight is None else given.weight[inside]
        value = roc_auc_score(given.y[inside], given.proba[inside], sample_weight=weight)
        assert found.value[k] == pytest.approx(value)
        assert found.lower[k] < value < found.upper[k]


def test_intervals_are_as_wide_as_a_bootstrap_over_sequences_finds():
    given = rows(300, seed=1)
    found, _ = discriminate(given)
    parts = np.split(np.arange(len(given.y)), np.flatnonzero(np.diff(given.sequence)) + 1)
    random, drawn = np.random.default_rng(0), []
    for _ in range(400):
        part = np.concatenate([parts[k] for k in random.integers(0, len(parts), len(parts))])
        drawn.append(roc_auc_score(given.y[part], given.proba[part]))
    value, low, high = found.overall
    assert (high - low) / (2 * 1.96) == pytest.approx(np.std(drawn), rel=0.15)
    assert low < np.mean(drawn) < high
    assert value == pytest.approx(np.mean(drawn), abs=0.01)


def test_a_stretch_with_one_class_has_none_and_perfect_order_an_end():
    given = SimpleNamespace(
        y=np.array([0, 1, 1, 0, 1, 1]),
        proba=np.array([0.1, 0.9, 0.8, 0.2, 0.7, 0.6]),
        time=np.array([0, 0, 1, 0, 0, 1]),
        sequence=np.array([0, 1, 2, 3, 4, 5]),
        weight=None,
    )
    found, _ = discriminate(given, bins=2)
    assert found.value[0] == 1.0
    assert found.lower[0] == pytest.approx(0.025 ** (1 / 2))
    assert found.upper[0] == 1.0
    assert np.isnan([found.value[1], found.lower[1], found.upper[1]]).all()
    alone = PlacementSums(*np.array([[1.0], [1.0], [0.5], [0.5]]))
    assert alone.interval(0.95) == (0.5, 0.0, 1.0)


def test_weights_do_not_move_a_perfect_order_from_its_end():
    random = np.random.default_rng(0)
    for _ in range(200):
        y = np.tile([0, 1], 20)
        given = SimpleNamespace(
            y=y,
            proba=0.3 * random.random(40) + 0.5 * y,
            time=np.zeros(40),
            sequence=np.arange(40),
            weight=random.random(40) + 0.01,
        )
        bound = 0.025 ** (1 / 20)
        assert discriminate(given, bins=1)[0].overall == pytest.approx((1.0, bound, 1.0), rel=1e-12)
        given.y = 1 - y
        overall = discriminate(given, bins=1)[0].overall
        assert overall == pytest.approx((0.0, 0.0, 1.0 - bound), rel=1e-12)
    events, others = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0])
    almost = PlacementSums(
        events, others, np.array([2.0, 2.0, 0.0, 0.0]), np.array([0, 0, 1e-18, 0])
    )
    value, lower, upper = almost.interval(0.95)
    assert 0.0 <= lower <= value <= upper <= 1.0


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_logits_so_large_that_probabilities_are_one_keep_their_order(n_columns):
    random = np.random.default_rng(0)
    sequence, time = np.repeat(np.arange(80), 2), np.tile([0, 1], 80)
    large, n_classes = np.repeat(random.integers(0, 2, 80), 2), max(n_columns, 2)
    label = np.where(random.random(160) < 0.3 + 0.4 * large, 1, 2 * (n_classes == 3))
    label[:2] = 0
    logits = np.zeros((160, n_columns))
    logits[:, min(n_columns - 1, 1)] = 40.0 + 20.0 * large
    model = Predictor("Identity", np.arange(n_classes), "logits", n_columns, Scale(1.0))
    past = PastPredictions(logits, label, time, sequence, sequence, None)
    proba = {"raw": model.predict_proba(logits)}
    arrays = InMemoryHeldOutRows(past, proba, np.arange(n_classes), 0)

    names = [f"z{k}" for k in range(n_columns)]
    columns = dict(zip(names, logits.T, strict=True))
    frame = pl.DataFrame({**columns, "y": label, "t": time, "s": sequence})
    roles = ColumnRoles.of(
        "logits", logits=names, proba=None, label="y", time="t", groups="s", sample_weight=None
    )
    labeled = read_labeled_table(frame.lazy(), roles, None)
    table = TableHeldOutRows(labeled, find_groups(labeled), {"raw": model}, 0)

    truth = roc_auc_score(label == 1, large)
    assert truth > 0.6
    for found in (arrays, table):
        rows = [found.against_rest("raw", column) for column in (None, 1)]
        rows += [found.scored("raw")] * (n_classes == 2)
        for one in rows:
            assert found.discriminate(one).overall[0] == pytest.approx(truth)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_tables_give_the_same(n_classes):
    random = np.random.default_rng(n_classes)
    sequence, time = np.repeat(np.arange(80), 6), np.tile(np.arange(6), 80)
    label = np.repeat(random.integers(0, n_classes, 80), 6)
    logits = random.normal(size=(480, n_classes)) + 1.0 * np.eye(n_classes)[label]
    names = [f"z{k}" for k in range(n_classes)]
    columns = dict(zip(names, logits.T, strict=True))
    weight = random.integers(1, 3, 480) * 1.0
    frame = pl.DataFrame({**columns, "y": label, "t": time, "s": sequence, "w": weight})
    arrays = tc.assess(logits, label, time=time, sequence=sequence, sample_weight=weight)
    table = tc.assess_table(
        frame.lazy(), logits=names, label="y", time="t", sequence="s", sample_weight="w"
    )
    for name, scores in arrays.scores.items():
        others = table.scores[name]
        pairs = [(scores.auc, others.auc)]
        assert len(scores.classes) == len(others.classes) == (0 if n_classes == 2 else 3)
        for one, other in zip(scores.classes, others.classes, strict=True):
            pairs.append((one.auc, other.auc))
            np.testing.assert_allclose(
                one.ece_over_time.value, other.ece_over_time.value, rtol=1e-9
            )
            np.testing.assert_allclose(one.chance_limit, other.chance_limit, rtol=1e-9)
        for one, other in pairs:
            np.testing.assert_allclose(one.overall, other.overall, rtol=1e-9)
            for column in ("value", "lower", "upper"):
                np.testing.assert_allclose(getattr(one, column), getattr(other, column), rtol=1e-9)


def test_each_class_is_judged_as_two_classes_are():
    random = np.random.default_rng(0)
    sequence, time = np.repeat(np.arange(120), 6), np.tile(np.arange(6), 120)
    label = np.repeat(random.integers(0, 3, 120), 6)
    logits = random.normal(size=(720, 3)) + 1.0 * np.eye(3)[label]
    found = tc.assess(logits, label, time=time, sequence=sequence, seed=3)
    held_out = tc.sequences.split_by_sequence(sequence, (0.5, 0.5), seed=3)[1]
    proba = np.exp(logits[held_out])
    proba /= proba.sum(axis=1, keepdims=True)
    for one in found.scores["raw"].classes:
        is_event = label[held_out] == one.column
        errors = tc.metrics.over_time(
            lambda y, p, **rest: tc.metrics.ece(y, p, of="positive_class", **rest),
            is_event,
            proba[:, one.column],
            time[held_out],
            bins=10,
            groups=sequence[held_out],
        )
        np.testing.assert_allclose(one.ece_over_time.time_from, errors.time_from)
        for k, at in enumerate(one.ece_over_time.time_from):
            inside = time[held_out] == at
            value = tc.metrics.ece(is_event[inside], proba[inside, one.column], of="positive_class")
            assert one.ece_over_time.value[k] == pytest.approx(float(value))
            assert one.auc.value[k] == pytest.approx(
                roc_auc_score(is_event[inside], proba[inside, one.column])
            )
    top = found.scores["raw"].auc.overall[0]
    right = proba.argmax(axis=1) == label[held_out]
    assert top == pytest.approx(roc_auc_score(right, proba.max(axis=1)))
