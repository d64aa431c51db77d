from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr

from tempocal.errors import InputError
from tempocal.metrics import brier, ece, nll, sampling_floor


def drawn_labels(proba, n_draws, **arguments):
    """Labels of each draw, (n_draws, n)."""
    draws = []

    def remember(y, proba, *, sample_weight, classes):
        draws.append(y)
        return 0.0

    sampling_floor(proba, metric=remember, n_draws=n_draws, **arguments)
    return np.array(draws)


@pytest.mark.parametrize("grouped", [True, False])
def test_every_row_keeps_its_own_probabilities(grouped):
    proba = np.array([[0.2, 0.3, 0.5], [0.6, 0.0, 0.4], [0.0, 1.0, 0.0]])
    labels = drawn_labels(proba, 20_000, groups=["a", "a", "b"] if grouped else None)
    frequency = np.stack([(labels == k).mean(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(frequency, proba, atol=0.015)
    assert (frequency[proba == 0] == 0).all()


def test_group_of_one_probability_has_one_label():
    random = np.random.default_rng(0)
    groups = random.integers(0, 30, 200)
    labels = drawn_labels(random.dirichlet(np.ones(3), size=30)[groups], 50, groups=groups)
    first = np.unique(groups, return_index=True)[1]
    np.testing.assert_array_equal(labels, labels[:, first][:, groups])


def test_labels_of_a_group_agree_as_much_as_their_probabilities_allow():
    labels = drawn_labels([0.2, 0.7], 20_000, groups=[1, 1])
    assert (labels[:, 0] <= labels[:, 1]).all()


def test_row_that_sums_to_less_than_one_never_gives_an_impossible_class():
    labels = drawn_labels(np.array([[0.5, 0.4995, 0.0]]), 10_000)
    assert labels.max() == 1


def test_floor_of_sequences_is_what_the_truth_shows():
    random = np.random.default_rng(0)
    n_sequences, n_steps = 100, 20
    left = np.sqrt(np.arange(n_steps, 0, -1))
    truth, floors, floors_of_rows = [], [], []
    for seed in range(60):
        walk = random.normal(size=(n_sequences, n_steps + 1)).cumsum(axis=1)
        proba = ndtr(walk[:, :-1] / left).ravel()
        sequence = np.repeat(np.arange(n_sequences), n_steps)
        truth.append(ece(np.repeat(walk[:, -1] > 0, n_steps), proba))
        floors.append(sampling_floor(proba, groups=sequence, n_draws=3, seed=seed))
        floors_of_rows.append(sampling_floor(proba, n_draws=3, seed=seed))
    assert np.mean(floors) == pytest.approx(np.mean(truth), rel=0.15)
    assert np.mean(floors_of_rows) < 0.75 * np.mean(truth)


def test_order_of_rows_is_nothing_with_groups():
    random = np.random.default_rng(0)
    proba, groups, order = random.random(90), np.arange(90) // 3, random.permutation(90)
    floor = sampling_floor(proba, groups=groups, n_draws=10)
    shuffled = sampling_floor(proba[order], groups=groups[order], n_draws=10)
    np.testing.assert_allclose(shuffled.draws, floor.draws, rtol=1e-12)


def test_floor_of_a_score_is_its_expectation():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=2_000)
    entropy = -(proba * np.log(proba)).sum(axis=1).mean()
    assert sampling_floor(proba, metric=nll) == pytest.approx(entropy, rel=0.01)
    gini = (1 - (proba**2).sum(axis=1)).mean()
    assert sampling_floor(proba, metric=brier) == pytest.approx(gini, rel=0.01)


def test_weights_reach_the_metric():
    weight = np.array([1.0, 0.0])
    floor = sampling_floor(
        [0.5, 1.0], sample_weight=weight, metric=partial(brier, of="all_classes")
    )
    assert floor == 0.5


def test_seed_decides_the_draws():
    proba = np.linspace(0.1, 0.9, 50)
    first, again, other = (sampling_floor(proba, n_draws=5, seed=seed).draws for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(sampling_floor(proba, n_draws=5, seed=generator).draws, first)


def test_summary_is_of_the_draws():
    floor = sampling_floor(np.linspace(0.1, 0.9, 50))
    assert floor == floor.draws.mean()
    quantiles = np.quantile(floor.draws, [0.025, 0.5, 0.975])
    assert [floor.lower, floor.median, floor.upper] == pytest.approx(quantiles)


def test_says_what_it_is_the_floor_of():
    floor = sampling_floor([0.2, 0.7], metric=partial(ece, bins=2), n_draws=4)
    assert floor.estimator == (
        "sampling floor of top-label ECE, 2 equal-width bins; labels drawn by row, n_draws=4"
    )
    assert sampling_floor([0.2], groups=[7], metric=nll, n_draws=1).estimator == (
        "sampling floor of nll; labels drawn by group, n_draws=1"
    )


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("n_draws must be a whole number", {"n_draws": 0}),
        ("groups has 1 entries", {"groups": [1]}),
        ("groups contains", {"groups": [1.0, np.nan]}),
        ("proba contains NaN", {"proba": [0.1, np.nan]}),
        ("proba is empty", {"proba": []}),
        ("sample_weight must not be negative", {"sample_weight": [1, -1]}),
    ],
)
def test_bad_input_is_refused(message, change):
    arguments = {"proba": [0.2, 0.7]} | change
    with pytest.raises(InputError, match=message):
        sampling_floor(arguments.pop("proba"), **arguments)
