"""The simulated truth is the truth."""

import numpy as np
import pytest

import tempocal as tc
from tempocal.datasets import simulate_match


def test_the_win_probability_is_that_of_the_recursion():
    """Winning from a score is winning the next round or losing it, and going on from there."""
    matches = simulate_match(20, wins=4, seed=1)

    def win(p, needed, other):
        if needed == 0 or other == 0:
            return float(needed == 0)
        return p * win(p, needed - 1, other) + (1 - p) * win(p, needed, other - 1)

    # The strength of each side follows from the probability before the first round.
    for match in range(20):
        rows = matches.sequence == match
        at_start = matches.true_probability[rows][0]
        strengths = np.linspace(0.01, 0.99, 981)
        starts = np.array([win(p, 4, 4) for p in strengths[::20]])
        p = np.interp(at_start, starts, strengths[::20])
        reachable = [win(p, a, b) for a in range(1, 5) for b in range(1, 5)]
        for value in matches.true_probability[rows]:
            assert np.abs(np.array(reachable) - value).min() < 0.01


def test_rows_run_from_the_first_round_to_the_last():
    matches = simulate_match(200, wins=5)
    for match in range(200):
        time = matches.time[matches.sequence == match]
        np.testing.assert_array_equal(time, np.arange(len(time)))
        assert 5 <= len(time) <= 9
        assert len(set(matches.label[matches.sequence == match])) == 1


def test_true_probabilities_are_calibrated_at_every_moment():
    matches = simulate_match(20_000, wins=7)
    for time in range(0, 13, 3):
        rows = matches.time == time
        difference = matches.label[rows] - matches.true_probability[rows]
        z = difference.sum() / np.sqrt(
            (matches.true_probability[rows] * (1 - matches.true_probability[rows])).sum()
        )
        assert abs(z) < 4


def test_the_distortion_is_the_documented_one():
    matches = simulate_match(500)
    scale = 1 - 0.7 * np.exp(-matches.time / 6)
    mended = 1 / (1 + np.exp(-scale * matches.logits))
    np.testing.assert_allclose(mended, matches.true_probability, rtol=1e-9)


def test_seeds_repeat():
    a, b, c = (simulate_match(50, seed=seed).logits for seed in (3, 3, 4))
    np.testing.assert_array_equal(a, b)
    assert len(a) != len(c) or (a != c).any()


@pytest.mark.parametrize("argument", ["n_matches", "wins"])
@pytest.mark.parametrize("value", [0, -3, 2.5, "ten"])
def test_numbers_that_make_no_match_are_refused(argument, value):
    with pytest.raises(tc.errors.InputError, match=f"{argument} must be a whole number"):
        simulate_match(**{argument: value})
