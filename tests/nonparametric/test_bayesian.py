from fractions import Fraction
from math import ceil, exp, floor, lgamma

import numpy as np
import pytest

from support.curves import fit_bayesian
from tempocal.links import sigmoid


def naive_bbq(odds, targets, weights, *, query, spread=10, prior_rows=2.0):
    """BBQ written out: every model, every bin, every row."""
    values = sorted(set(odds))
    total = int(sum(weights))
    root = round(total ** (1 / 3), 9)
    most = min(ceil(spread * root), len(values))
    binnings = set()
    for bins in range(max(1, floor(root / spread)), most + 1):
        bin_of = [bin_by_rank(z, odds, weights, bins) for z in values]
        # Bins are renumbered without the empty ones.
        binnings.add(tuple(sorted(set(bin_of)).index(b) for b in bin_of))
    scores, predictions = [], []
    for binning in sorted(binnings):
        data = (odds, targets, weights)
        score, prediction = naive_model(*data, binning, query=query, prior_rows=prior_rows)
        scores.append(score)
        predictions.append(prediction)
    posterior = np.array([exp(score - max(scores)) for score in scores])
    return posterior @ np.array(predictions) / posterior.sum()


def bin_by_rank(z, odds, weights, bins):
    below = sum(w for x, w in zip(odds, weights, strict=True) if x < z)
    level = sum(w for x, w in zip(odds, weights, strict=True) if x == z)
    rank = Fraction(int(2 * below + level), int(2 * sum(weights)))
    return sum(rank > Fraction(b, bins) for b in range(1, bins))


def naive_model(odds, targets, weights, binning, *, query, prior_rows):
    values = sorted(set(odds))
    bins = binning[-1] + 1
    edges = [
        (values[i] + values[i + 1]) / 2
        for i in range(len(values) - 1)
        if binning[i] != binning[i + 1]
    ]
    bounds = [0.0, *(1 / (1 + exp(-edge)) for edge in edges), 1.0]
    score, levels = 0.0, []
    for b in range(bins):
        middle = (bounds[b] + bounds[b + 1]) / 2
        alpha, beta = prior_rows / bins * middle, prior_rows / bins * (1 - middle)
        inside = [i for i, z in enumerate(odds) if binning[values.index(z)] == b]
        m = sum(weights[i] * targets[i] for i in inside)
        n = sum(weights[i] * (1 - targets[i]) for i in inside)
        score += lgamma(prior_rows / bins) - lgamma(m + n + prior_rows / bins)
        score += lgamma(m + alpha) - lgamma(alpha) + lgamma(n + beta) - lgamma(beta)
        levels.append((alpha + m) / (prior_rows / bins + m + n))
    return score, [levels[sum(z > edge for edge in edges)] for z in query]


def rows(seed, n, digits):
    rng = np.random.default_rng(seed)
    odds = rng.normal(0.3, 2.0, n).round(digits)
    targets = (rng.random(n) < sigmoid(odds / 2 + 0.5)).astype(float)
    return odds, targets, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize(("n", "digits"), [(1, 2), (2, 2), (40, 3), (60, 0)])
def test_it_is_the_loop_over_models_bins_and_rows(n, digits):
    odds, targets, weights = rows(n, n, digits)
    query = np.concatenate([odds, np.linspace(-9.0, 9.0, 50)])

    fitted = fit_bayesian(odds, targets, weights)

    expected = naive_bbq(odds.tolist(), targets.tolist(), weights.tolist(), query=query.tolist())
    assert sigmoid(fitted(query)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_models_are_the_same_in_any_batches(batch, monkeypatch):
    data = rows(0, 3000, 3)
    expected = fit_bayesian(*data)
    monkeypatch.setattr("tempocal.nonparametric.bayesian.BATCH", batch)
    fitted = fit_bayesian(*data)
    np.testing.assert_array_equal(fitted.edges, expected.edges)
    assert fitted.probabilities == pytest.approx(expected.probabilities, rel=1e-12)


def test_its_options_are_those_of_the_loop():
    rng = np.random.default_rng(5)
    odds, targets = rng.normal(size=50), rng.integers(0, 2, 50) * 1.0
    weights = np.full(50, 10.0)
    data = (odds.tolist(), targets.tolist(), weights.tolist())

    fitted = fit_bayesian(odds, targets, weights, spread=2.0, prior_rows=30.0)

    expected = naive_bbq(*data, query=odds.tolist(), spread=2, prior_rows=30.0)
    assert sigmoid(fitted(odds)) == pytest.approx(expected, rel=1e-9)


def test_at_least_the_fewest_bins_are_used():
    # The labels say nothing, so one bin would be best, but 1000^(1/3) / 2 = 5 are the fewest.
    odds, targets = np.arange(1000.0), np.arange(1000.0) % 2

    assert len(fit_bayesian(odds, targets, None, spread=2.0).edges) >= 4
    assert len(fit_bayesian(odds, targets, None, spread=1.0).edges) == 9


def test_it_finds_the_truth_with_enough_rows():
    rng = np.random.default_rng(6)
    odds = rng.normal(0.0, 2.0, 100_000)
    truth = sigmoid(0.6 * odds - 0.3)

    fitted = fit_bayesian(odds, (rng.random(len(odds)) < truth).astype(float), None)

    assert np.abs(sigmoid(fitted(odds)) - truth).mean() < 0.015


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("scale", [1.0, 700.0, 1e300])
def test_it_is_never_certain(label, scale):
    odds = np.linspace(-scale, scale, 2000)

    probabilities = fit_bayesian(odds, np.full(2000, label), None).probabilities

    assert np.all((probabilities > 0) & (probabilities < 1))


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_it_is_not_certain_where_the_prior_is(label):
    odds = (2 * label - 1) * np.linspace(50.0, 5000.0, 2000)

    probabilities = fit_bayesian(odds, np.full(2000, label), None, spread=1.0).probabilities

    assert np.all((probabilities > 0) & (probabilities < 1))


def test_one_value_of_great_weight_is_one_bin():
    fitted = fit_bayesian(np.array([0.0]), np.array([1.0]), np.array([1e6]))

    assert fitted.probabilities == pytest.approx([(1e6 + 1) / (1e6 + 2)], rel=1e-12)


def test_one_row_moves_the_prior_of_one_bin():
    fitted = fit_bayesian(np.array([4.0]), np.array([1.0]), None)

    assert len(fitted.edges) == 0
    assert fitted.probabilities == pytest.approx([2 / 3])
