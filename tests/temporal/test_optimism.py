"""The gain on new rows: of sequences that are left out, to first order."""

import numpy as np
import pytest
from sklearn.base import clone

import tempocal as tc
from tempocal.calibrators.fit_data import check_rows
from tempocal.inputs import check_time
from tempocal.temporal.horizon import fit_curves_at_horizon

MATCHES = tc.datasets.simulate_match(80, seed=8)
Z, Y, T, G = MATCHES.logits, MATCHES.label, MATCHES.time.astype(float), MATCHES.sequence


def losses(odds, y):
    return np.logaddexp(0.0, np.where(y == 1, -odds, odds))


def details_of(cal, **given):
    return cal.fit(Z, Y, time=T, **given).summary().details


def new_less_own(cal, **given):
    details = details_of(cal, **given)
    return details["gain_on_new_rows"] - details["gain"]


def gain_of_groups_left_out(cal):
    """Each group under the fit to all others, whose strengths are chosen again."""
    gains = losses(Z, Y)
    for group in np.unique(G):
        out = group == G
        one = clone(cal).fit(Z[~out], Y[~out], time=T[~out], groups=G[~out])
        gains[out] -= losses(one.decision_function(Z[out], time=T[out]), Y[out])
    return gains.mean()


@pytest.mark.parametrize("shrinkage", [0.0, 2.0])
def test_at_fixed_strengths_it_is_that_of_groups_left_out(shrinkage):
    cal = tc.TemporalCalibrator(tc.PlattScaling(shrinkage=shrinkage), tc.Constant())
    details = details_of(cal, groups=G)
    wanted = gain_of_groups_left_out(cal) - details["gain"]
    assert new_less_own(cal, groups=G) == pytest.approx(wanted, rel=0.1)


def test_with_chosen_strengths_it_is_nearer_to_that_of_groups_left_out():
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())
    details = details_of(cal, groups=G)
    wanted = gain_of_groups_left_out(cal) - details["gain"]
    cal = tc.TemporalCalibrator(
        tc.TemperatureScaling(shrinkage=details["shrinkage_of_slopes"]), tc.Constant()
    )
    assert details_of(cal, groups=G)["gain"] == pytest.approx(details["gain"], abs=1e-8)
    at_fixed = new_less_own(cal, groups=G)
    found = details["gain_on_new_rows"] - details["gain"]
    assert abs(found - wanted) < 0.5 * abs(at_fixed - wanted)


def test_learning_from_forecasts_has_less_optimism():
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=1.0), tc.Spline(smoothness=1.0))
    by_outcomes = new_less_own(cal, groups=G)
    from_forecasts = new_less_own(cal, sequence=G)
    assert by_outcomes < from_forecasts < 0.0


def test_the_interval_is_wider_than_that_of_the_gain():
    details = tc.TemporalCalibrator().fit(Z, Y, time=T, groups=G).summary().details
    own, new = details["gain_interval"], details["gain_on_new_rows_interval"]
    assert new[1] - new[0] > own[1] - own[0]


def test_rows_without_groups_count_as_independent():
    calibrator = tc.TemperatureScaling(shrinkage=0.0)
    cal = tc.TemporalCalibrator(calibrator, tc.Constant()).fit(Z, Y, time=T)
    details = cal.summary().details
    # One coefficient: by half a unit of the log likelihood on its own rows, and half on others.
    optimism = (details["gain"] - details["gain_on_new_rows"]) * len(Z)
    assert optimism == pytest.approx(1.0, rel=1e-6)


def test_the_part_of_the_strengths_is_none_where_they_are_given():
    times = check_time(T, len(T), clocks=1)
    settings = {"sample_weight": None, "groups": G, "inputs": "logits", "classes": None}
    data = check_rows(Z, Y, times=times, **settings).data
    for shrinkage, is_none in ((1.0, True), ("auto", False)):
        calibrator = tc.TemperatureScaling(shrinkage=shrinkage)
        found = fit_curves_at_horizon(calibrator, tc.Constant(), None, data, np.inf)
        assert (found.with_bands().of_strengths == 0.0) == is_none
