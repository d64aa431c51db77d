"""Metrics of soft labels are those expected of the labels that they stand for."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from tempocal.errors import InputError
from tempocal.metrics import brier, ece, nll

VOTES = 4
BINNINGS = ("equal_width", "equal_mass")


def votes(n_classes, n=60, seed=0):
    """Probabilities, and how many votes each class has."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(n_classes), n)
    return proba, np.array([rng.multinomial(VOTES, p) for p in proba])


def row_by_row(proba, counts):
    """Each vote as a row."""
    row = np.repeat(np.arange(len(proba)), VOTES)
    return np.concatenate([np.repeat(np.arange(len(c)), c) for c in counts]), proba[row]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_losses_are_those_written_out(n_classes, weighted):
    p, counts = votes(n_classes)
    soft = counts / VOTES
    w = np.random.default_rng(1).integers(0, 3, len(p)).astype(float) if weighted else None
    crossed, expected = [], []
    for s, q in zip(soft, p, strict=True):
        crossed.append(-sum(a * np.log(b) for a, b in zip(s, q, strict=True)))
        squares = [((np.eye(n_classes)[k] - q) ** 2).sum() for k in range(n_classes)]
        expected.append(sum(a * b for a, b in zip(s, squares, strict=True)))
    given = {"sample_weight": w, "soft_label": True}
    assert nll(soft, p, **given) == pytest.approx(np.average(crossed, weights=w), abs=1e-12)
    assert brier(soft, p, **given) == pytest.approx(np.average(expected, weights=w), abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("binning", BINNINGS)
def test_the_error_is_that_of_the_mean_soft_label(n_classes, binning):
    p, counts = votes(n_classes)
    found = ece(counts / VOTES, p, bins=6, binning=binning, soft_label=True)
    top, confidence = p.argmax(axis=1), p.max(axis=1)
    outcome = (counts / VOTES)[np.arange(len(p)), top]
    gaps = 0.0
    for low, high in zip(found.bins.lower, found.bins.upper, strict=True):
        inside = (confidence > low) & (confidence <= high)
        gaps += abs((outcome - confidence)[inside].sum())
    assert float(found) == pytest.approx(gaps / len(p), abs=1e-12)
    assert found.bins.count.sum() == len(p)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("metric", [nll, brier, ece])
def test_votes_are_as_many_rows(metric, n_classes):
    p, counts = votes(n_classes)
    y, rows = row_by_row(p, counts)
    weight = np.full(len(p), float(VOTES))
    found = metric(counts / VOTES, p, sample_weight=weight, soft_label=True)
    assert float(found) == pytest.approx(float(metric(y, rows)), abs=1e-12)


@pytest.mark.parametrize(
    "metric", [partial(brier, of="positive_class"), partial(ece, of="positive_class")]
)
def test_one_column_is_that_of_the_second_class(metric):
    p, counts = votes(2)
    y, rows = row_by_row(p, counts)
    found = metric(counts[:, 1] / VOTES, p[:, 1], soft_label=True)
    assert float(found) == pytest.approx(float(metric(y, rows)), abs=1e-12)


@pytest.mark.parametrize("metric", [nll, brier, ece, partial(ece, binning="equal_mass")])
def test_certain_labels_are_labels_to_the_bit(metric):
    p, counts = votes(3)
    y = counts.argmax(axis=1)
    assert float(metric(np.eye(3)[y], p, soft_label=True)) == float(metric(y, p))


def test_the_entropy_is_least():
    """Both scores are proper: of all probabilities the soft label itself has the lowest."""
    soft = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    other = np.random.default_rng(1).dirichlet(np.ones(3), 40)
    for metric in (nll, brier):
        assert metric(soft, soft, soft_label=True) < metric(soft, other, soft_label=True)
        nearby = 0.99 * soft + 0.01 * other
        assert metric(soft, soft, soft_label=True) < metric(soft, nearby, soft_label=True)
    assert float(ece(soft, soft, soft_label=True)) == pytest.approx(0.0, abs=1e-15)


def test_a_class_that_may_occur_and_has_no_probability():
    assert nll([0.5, 0.5], [0.0, 0.5], soft_label=True) == np.inf
    assert nll([0.0, 0.5], [0.0, 0.5], soft_label=True) == pytest.approx(np.log(2) / 2)
    clipped = nll([0.5], [0.0], clip=1e-6, soft_label=True)
    assert clipped == pytest.approx(-0.5 * np.log(1e-6))


def test_what_is_refused():
    p = np.full(4, 0.3)
    with pytest.raises(InputError, match=r"fractions such as 0.5.*soft_label=True"):
        nll([0.5, 1, 1, 0], p)
    with pytest.raises(InputError, match="must be probabilities as floats"):
        ece([0, 1, 1, 0], p, soft_label=True)
    with pytest.raises(InputError, match="soft_label must be True or False"):
        ece([0.0, 1, 1, 0], p, soft_label=1)
    frame = pd.DataFrame(np.full((4, 2), 0.5), columns=["b", "a"])
    with pytest.raises(InputError, match="the columns of y are named"):
        brier(frame, p, classes=["a", "b"], soft_label=True)
    soft = partial(nll, soft_label=True)
    words = r"soft_label=True of its own: pass it beside the metric.*or call the metric itself"
    with pytest.raises(InputError, match=words):
        tc.metrics.with_interval(soft, [0.5, 1, 1, 0], p)
    with pytest.raises(InputError, match=words):
        tc.metrics.over_time(soft, [0.5, 1, 1, 0], p, np.arange(4))
    with pytest.raises(InputError, match=words):
        tc.metrics.gain(soft, [0.5, 1, 1, 0], p, p)


def test_a_monitor_bets_on_classes():
    monitor = tc.live.Monitor(classes=[0, 1])
    with pytest.raises(InputError, match=r"label is 0\.5, which is not among the classes"):
        monitor.replay([0.3, 0.6], [0.5, 0.5], time=[0, 0], sequence=["a", "b"])
