"""Every bet has a mean of 1 while forecasts are right, exactly; so have all bets together."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from tempocal.links import log_softmax
from tempocal.live.evalues import (
    SHIFTS,
    SLOPES,
    Alternatives,
    clip_proba,
    log_running_after,
    log_values,
    remaining_weight,
)

sizes = st.floats(0.0, 1.0)
forecasts = st.lists(sizes, min_size=2, max_size=4).filter(lambda p: sum(p) > 1e-3)


def proba_of(values):
    return clip_proba(np.array(values) / np.sum(values))


@given(forecasts)
def test_the_mean_over_outcomes_is_1(values):
    proba = proba_of(values)
    n_classes = len(proba)
    same = np.tile(proba, (n_classes, 1))
    factors = np.exp(Alternatives(n_classes).log_factors(same, np.eye(n_classes)))
    np.testing.assert_allclose(proba @ factors, 1.0, rtol=1e-12)


@given(st.integers(2, 4), st.integers(2, 5), st.integers(0, 10**6))
def test_the_mean_over_next_forecasts_is_1(n_classes, n_next, seed):
    random = np.random.default_rng(seed)
    following = clip_proba(random.dirichlet(np.full(n_classes, 0.2), n_next))
    chance = random.dirichlet(np.ones(n_next))
    proba = np.broadcast_to(chance @ following, following.shape)
    factors = np.exp(Alternatives(n_classes).log_factors(proba, following))
    np.testing.assert_allclose(chance @ factors, 1.0, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_factor_is_the_likelihood_ratio_of_the_alternative(n_classes):
    proba = np.random.default_rng(0).dirichlet(np.ones(n_classes))
    alternatives = Alternatives(n_classes)
    wanted = [log_softmax(slope * np.log(proba)) for slope in SLOPES]
    for code, shift in itertools.product(alternatives.shifted_classes, SHIFTS):
        wanted.append(log_softmax(np.log(proba) + shift * np.eye(n_classes)[code]))
    assert len(wanted) == alternatives.count
    for label in range(n_classes):
        found = alternatives.log_factors(proba, np.eye(n_classes)[label])
        np.testing.assert_allclose(
            found, np.array(wanted)[:, label] - np.log(proba[label]), atol=1e-14
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_alternatives_know_what_they_are(n_classes):
    alternatives = Alternatives(n_classes)
    assert np.exp(alternatives.log_weights).sum() == pytest.approx(1.0)
    high = alternatives.log_factors(np.full(n_classes, 1.0 / n_classes), np.eye(n_classes)[1])
    best = int(np.argmax(high))
    assert alternatives.slope_of(best) is None
    assert alternatives.shift_of(best) == (1, 1.0)
    assert alternatives.slope_of(0) == SLOPES[0]


@examples(30)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4))
def test_the_value_is_a_martingale(forecast):
    """Mean over the next outcome, given each past: enumerated."""
    alternatives = Alternatives(2)
    p = clip_proba(np.stack([1.0 - np.array(forecast), forecast], axis=1))

    def value(labels):
        if not labels:
            return 1.0
        factors = alternatives.log_factors(p[: len(labels)], np.eye(2)[list(labels)])
        trace = log_running_after(np.full(alternatives.count, -np.inf), 0, factors)
        return np.exp(log_values(trace, 0, alternatives.log_weights)[-1])

    for n in range(len(p)):
        for past in itertools.product([0, 1], repeat=n):
            mean = sum(p[n, y] * value((*past, y)) for y in (0, 1))
            assert mean == pytest.approx(value(past), rel=1e-12)


def test_the_value_is_the_sum_over_starts_written_out():
    random = np.random.default_rng(1)
    alternatives = Alternatives(3)
    p, labels = random.dirichlet(np.ones(3), 7), random.integers(3, size=7)
    log_factors = alternatives.log_factors(p, np.eye(3)[labels])
    trace = log_running_after(np.full(alternatives.count, -np.inf), 0, log_factors)
    found = np.exp(log_values(trace, 0, alternatives.log_weights))
    weights, factors = np.exp(alternatives.log_weights), np.exp(log_factors)
    share = [1.0 / np.log2(n + 2) for n in range(8)]
    for n in range(1, 8):
        total = share[n]
        for start in range(n):
            total += (share[start] - share[start + 1]) * (weights @ factors[start:n].prod(axis=0))
        assert found[n - 1] == pytest.approx(total, rel=1e-12)
    assert remaining_weight(np.arange(1))[0] == 1.0


def test_bets_may_be_settled_in_parts_and_many_runs_side_by_side():
    random = np.random.default_rng(2)
    alternatives = Alternatives(2)
    p = clip_proba(random.dirichlet(np.ones(2), (9, 4)))
    factors = alternatives.log_factors(p, np.eye(2)[random.integers(2, size=(9, 4))])
    start = np.full(alternatives.count, -np.inf)
    whole = log_values(log_running_after(start, 0, factors), 0, alternatives.log_weights)
    for one in range(4):
        first = log_running_after(start, 0, factors[:5, one])
        rest = log_running_after(first[-1], 5, factors[5:, one])
        values = log_values(rest, 5, alternatives.log_weights)
        np.testing.assert_array_equal(values, whole[5:, one])
