"""Soft labels along time are the rows that they stand for; whole sequences may have one."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit

import tempocal as tc
from tempocal.errors import InputError

VOTES = 5
TIMES = np.arange(7)
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
CURVES = (
    tc.Constant(),
    tc.ExponentialDecay(),
    tc.Spline(),
    tc.RandomWalk(),
    tc.PerStep(min_rows=120),
    tc.PerStep(bins=3),
)


@pytest.fixture(scope="module")
def matches():
    return tc.datasets.simulate_match(80, wins=4)


@pytest.fixture(scope="module")
def counts(matches):
    """Votes for the second class, row by row."""
    chance = 1 / (1 + np.exp(-0.5 * matches.logits - 0.2))
    return np.random.default_rng(0).binomial(VOTES, chance)


def votes(matches, counts):
    """Index of the row and label of each vote, and its number."""
    row = np.repeat(np.arange(len(counts)), VOTES)
    vote = np.tile(np.arange(VOTES), len(counts))
    return row, (vote < counts[row]).astype(int), vote


def same_along_time(one, other, tolerance=1e-9):
    z = np.linspace(-3, 3, len(TIMES))
    np.testing.assert_allclose(
        one.predict_proba(z, time=TIMES), other.predict_proba(z, time=TIMES), atol=tolerance
    )
    bands = one.interval_at(TIMES), other.interval_at(TIMES)
    for name in bands[0]:
        for end in ("lower", "upper"):
            found, want = (getattr(band[name], end) for band in bands)
            np.testing.assert_allclose(found, want, atol=1e-6)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_votes_are_as_many_rows_in_a_group(matches, counts, curve):
    row, y, _ = votes(matches, counts)
    weight = np.full(len(counts), float(VOTES))
    soft = tc.TemporalCalibrator(tc.PlattScaling(), curve).fit(
        matches.logits,
        counts / VOTES,
        time=matches.time,
        sample_weight=weight,
        soft_label=True,
    )
    hard = tc.TemporalCalibrator(tc.PlattScaling(), curve).fit(
        matches.logits[row], y, time=matches.time[row], groups=row
    )
    same_along_time(soft, hard)
    found, want = soft.summary(), hard.summary()
    assert found.n_rows == found.n_groups == want.n_groups
    for name in ("thin_steps", "times"):
        assert found.details.get(name) == want.details.get(name)
    for name in ("gain", "gain_interval"):
        assert found.details[name] == pytest.approx(want.details[name], abs=1e-7)


def test_a_constant_curve_is_that_of_a_general_optimizer(matches, counts):
    z, p = matches.logits, counts / VOTES
    cal = tc.TemporalCalibrator(tc.PlattScaling(smooth_targets=False), tc.PerStep(), shrinkage=0.7)
    cal.fit(z, p, time=matches.time, soft_label=True)
    for step in (0, 3):
        inside = matches.time == step

        def objective(theta, z=z[inside], p=p[inside]):
            eta = theta[0] * z + theta[1]
            loss = -(p * log_expit(eta) + (1 - p) * log_expit(-eta)).sum()
            return loss + 0.35 * ((theta[0] - 1) ** 2 + theta[1] ** 2)

        best = minimize(objective, [1.0, 0.0], options={"gtol": 1e-10}).x
        found = cal.parameters_at([step])
        np.testing.assert_allclose([found["slope"].item(), found["bias"].item()], best, atol=1e-6)


def test_certain_labels_are_labels_to_the_bit(matches):
    given = {"time": matches.time, "sequence": matches.sequence}
    hard = tc.TemporalCalibrator().fit(matches.logits, matches.label, **given)
    soft = tc.TemporalCalibrator().fit(
        matches.logits, matches.label.astype(float), **given, soft_label=True
    )
    same_along_time(soft, hard, tolerance=0)
    assert str(soft.summary()) == str(hard.summary())


def test_auto_compares_the_same(matches, counts):
    row, y, _ = votes(matches, counts)
    candidates = [(tc.PlattScaling(), tc.Constant()), (tc.PlattScaling(), tc.ExponentialDecay())]
    soft = tc.AutoTemporalCalibrator(candidates).fit(
        matches.logits,
        counts / VOTES,
        time=matches.time,
        sample_weight=np.full(len(counts), float(VOTES)),
        soft_label=True,
    )
    hard = tc.AutoTemporalCalibrator(candidates).fit(
        matches.logits[row], y, time=matches.time[row], groups=row
    )
    for found, want in zip(soft.comparison_, hard.comparison_, strict=True):
        assert found.name == want.name
        assert found.nll == pytest.approx(want.nll, abs=1e-9)
        assert found.nll_error == pytest.approx(want.nll_error, abs=1e-9)
        assert found.ece_over_time == pytest.approx(want.ece_over_time, abs=1e-9)


def sequence_votes(matches):
    """Votes for the second class of whole sequences, for each row."""
    rng = np.random.default_rng(1)
    return rng.integers(0, VOTES + 1, matches.sequence.max() + 1)[matches.sequence]


@pytest.mark.parametrize("horizon", [0.1, 0.5, "auto"])
def test_outcomes_of_sequences_may_be_soft(matches, horizon):
    """k of n runs from the same start are n sequences of a group, each with its outcome."""
    counts = sequence_votes(matches)
    row, y, vote = votes(matches, counts)
    mixed = np.random.default_rng(2).permutation(len(counts))
    kind = tc.PlattScaling(), tc.ExponentialDecay()
    soft = tc.TemporalCalibrator(*kind, td_horizon=horizon).fit(
        matches.logits[mixed],
        (counts / VOTES)[mixed],
        time=matches.time[mixed],
        sequence=matches.sequence[mixed],
        order=matches.time[mixed],
        sample_weight=np.full(len(counts), float(VOTES)),
        soft_label=True,
    )
    hard = tc.TemporalCalibrator(*kind, td_horizon=horizon).fit(
        matches.logits[row],
        y,
        time=matches.time[row],
        sequence=matches.sequence[row] * VOTES + vote,
        order=matches.time[row],
        groups=matches.sequence[row],
    )
    same_along_time(soft, hard, tolerance=1e-8)
    found, want = (one.summary().details for one in (soft, hard))
    assert found.get("td_horizon") == want.get("td_horizon")
    assert found.get("td_horizon_rows") == want.get("td_horizon_rows")


def test_labels_that_vary_within_a_sequence_are_outcomes(matches, counts):
    given = {"time": matches.time, "sequence": matches.sequence, "soft_label": True}
    auto = tc.TemporalCalibrator().fit(matches.logits, counts / VOTES, **given)
    assert auto.summary().details["td_horizon"] == np.inf
    assert "labels differ within sequences" in auto.summary().details["td_horizon_because"]
    with pytest.raises(
        InputError, match=r"y must be the same in all rows of a sequence.*td_horizon"
    ):
        tc.TemporalCalibrator(td_horizon=0.1).fit(matches.logits, counts / VOTES, **given)


def test_partial_fit_goes_on_as_with_votes(matches, counts):
    row, y, _ = votes(matches, counts)
    soft, hard = (tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()) for _ in range(2))
    for part in (matches.sequence < 40, matches.sequence >= 40):
        soft.partial_fit(
            matches.logits[part],
            (counts / VOTES)[part],
            time=matches.time[part],
            sample_weight=np.full(part.sum(), float(VOTES)),
            soft_label=True,
            classes=[0, 1],
        )
        of = row[part[row]]
        hard.partial_fit(
            matches.logits[of], y[part[row]], time=matches.time[of], groups=of, classes=[0, 1]
        )
    same_along_time(soft, hard)
    assert soft.summary().n_rows == soft.summary().n_groups == len(counts)


def test_partial_fit_learns_from_forecasts_as_with_votes(matches):
    counts = sequence_votes(matches)
    row, y, vote = votes(matches, counts)
    kind = tc.PlattScaling(), tc.ExponentialDecay()
    soft, hard = (tc.TemporalCalibrator(*kind, td_horizon=0.3) for _ in range(2))
    for part in (matches.sequence < 40, matches.sequence >= 40):
        soft.partial_fit(
            matches.logits[part],
            (counts / VOTES)[part],
            time=matches.time[part],
            sequence=matches.sequence[part],
            sample_weight=np.full(part.sum(), float(VOTES)),
            soft_label=True,
            classes=[0, 1],
        )
        of = row[part[row]]
        hard.partial_fit(
            matches.logits[of],
            y[part[row]],
            time=matches.time[of],
            sequence=(matches.sequence[row] * VOTES + vote)[part[row]],
            order=matches.time[of],
            groups=matches.sequence[of],
            classes=[0, 1],
        )
    same_along_time(soft, hard, tolerance=1e-8)
    assert soft.summary().n_groups == hard.summary().n_groups == matches.sequence.max() + 1
