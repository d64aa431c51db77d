"""Data on which calibrators are known to fall over."""

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from support.calibrators import ALL, PARAMETRIC, at_fixed_shrinkage, simulate

every_kind = pytest.mark.parametrize("kind", ALL)
every_parametric_kind = pytest.mark.parametrize("kind", PARAMETRIC)
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

RNG = np.random.default_rng(0)
Z = np.sort(RNG.normal(size=40))
Z3 = RNG.normal(size=(40, 3))
CASES = {
    "separable": (Z, (Z > 0).astype(int)),
    "separable by far": (1e3 * Z, (Z > 0).astype(int)),
    "separable, three classes": (Z3, Z3.argmax(axis=1)),
    "constant logits": (np.full(40, 1.5), np.arange(40) % 2),
    "zero logits": (np.zeros(40), np.arange(40) % 2),
    "constant logits, three classes": (np.ones((40, 3)), np.arange(40) % 3),
    "reversed": (Z, (Z < 0).astype(int)),
    "reversed, three classes": (Z3, Z3.argmin(axis=1)),
    "one row a class": (np.array([-1.0, 2.0]), np.array([0, 1])),
    "unbalanced": (Z, (np.arange(40) == 7).astype(int)),
    "tiny logits": (1e-9 * Z, np.arange(40) % 2),
    "huge logits": (1e9 * Z, np.arange(40) % 2),
    "certain logits": (np.where(Z > 0, np.inf, -np.inf), (RNG.random(40) < 0.5).astype(int)),
}


@every_kind
@pytest.mark.parametrize("case", CASES)
def test_probabilities_stay_finite_and_uncertain(kind, case):
    z, y = CASES[case]
    p = kind().fit(z, y).predict_proba(z)
    assert np.isfinite(p).all()
    if kind is not tc.Identity and "huge" not in case and "by far" not in case:
        # Forty rows cannot make anything a thousand times surer than one in forty.
        assert p.max() < 1.0 - 1.0 / 40_000
        assert p.min() > 1.0 / 1e9


@pytest.mark.parametrize("case", CASES)
def test_the_temperature_stays_positive_and_finite(case):
    theta = tc.TemperatureScaling().fit(*CASES[case]).inverse_temperature_
    assert 0 < theta < 1e3


@every_parametric_kind
@pytest.mark.parametrize("case", ["separable", "separable, three classes"])
def test_plain_maximum_likelihood_says_that_there_is_none(kind, case):
    with pytest.raises(tc.errors.NoFiniteOptimumError, match="the best coefficients are infinite"):
        kind(shrinkage=0).fit(*CASES[case])


@every_parametric_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_that_never_occurs_is_shrunk_not_ruled_out(kind, n_classes):
    z, y = simulate(n_classes, 40)
    cal = kind(classes=list(range(n_classes))).fit(z, np.zeros_like(y))
    p = cal.predict_proba(z)
    assert (p[:, 1:] > 0).all()
    # One temperature for all classes cannot favor one of them.
    if kind is not tc.TemperatureScaling:
        assert p[:, 0].mean() > 1 / n_classes


@pytest.mark.parametrize("kind", [tc.PlattScaling, tc.VectorScaling, tc.BetaCalibration])
def test_a_class_that_never_occurs_has_no_maximum_likelihood(kind):
    z, _ = simulate(2, 40)
    with pytest.raises(tc.errors.NoFiniteOptimumError):
        kind(shrinkage=0, classes=[0, 1]).fit(z, np.ones(40, dtype=int))


@every_kind
def test_one_class_without_classes_is_refused(kind):
    with pytest.raises(tc.errors.InputError, match="classes="):
        kind().fit([0.5, 1.0, -1.0], [1, 1, 1])


def test_a_temperature_at_its_bound_is_said():
    with pytest.warns(tc.errors.AtBoundWarning, match="reversed"):
        cal = tc.TemperatureScaling().fit(-Z, (Z > 0).astype(int))
    np.testing.assert_allclose(cal.predict_proba(Z), 0.5, atol=1e-5)
    # Even there no two rows are swapped.
    assert (np.diff(cal.decision_function(Z)) > 0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_forty_rows_lose_little(n_classes):
    """With few rows and nothing to mend, the default is close to leaving things alone."""
    losses = []
    for seed in range(40):
        z, y = simulate(n_classes, 40, seed=seed, slope=1.0)
        new_z, new_y = simulate(n_classes, 2000, seed=1000 + seed, slope=1.0)
        rows = np.arange(len(new_y))
        raw, shrunk, plain = (
            -cal.fit(z, y).predict_log_proba(new_z)[rows, new_y].mean()
            for cal in (tc.Identity(), tc.TemperatureScaling(), tc.TemperatureScaling(shrinkage=0))
        )
        losses.append([shrunk - raw, plain - raw])
    shrunk_loss, plain_loss = np.mean(losses, axis=0)
    assert shrunk_loss < 0.6 * plain_loss


@pytest.mark.parametrize("shift", [1e3, 1e9])
def test_a_large_shift_of_all_logits_changes_nothing(shift):
    z, y = simulate(3, 500)
    plain = tc.TemperatureScaling(shrinkage=0).fit(z, y)
    shifted = tc.TemperatureScaling(shrinkage=0).fit(z + shift, y)
    assert shifted.inverse_temperature_ == pytest.approx(plain.inverse_temperature_, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1e8, 1e12])
def test_the_unit_of_the_logits_drops_out(scale):
    z, y = simulate(2, 500)
    plain = tc.TemperatureScaling(shrinkage=0).fit(z, y)
    scaled = tc.TemperatureScaling(shrinkage=0).fit(scale * z, y)
    assert scaled.inverse_temperature_ * scale == pytest.approx(
        plain.inverse_temperature_, rel=1e-6
    )


def test_logits_too_small_to_fit_are_refused():
    z, y = simulate(2, 50)
    with pytest.raises(tc.errors.InputError, match="must not all be smaller than 1e-100"):
        tc.TemperatureScaling().fit(1e-155 * z, y)
    assert tc.TemperatureScaling().fit(z, y).predict_proba([1e-155])[0, 0] == 0.5


@pytest.mark.parametrize("kind", [tc.MatrixScaling, tc.DirichletCalibration, tc.VectorScaling])
@pytest.mark.parametrize("mask", [-1e4, -1e7])
def test_classes_may_be_masked_by_a_huge_negative_logit(kind, mask):
    z, y = simulate(3, 500)
    z[::20, 0], y[::20] = mask, 2
    cal = kind(shrinkage=1.0).fit(z, y)
    assert cal.summary().nll_after < cal.summary().nll_before
    assert cal.predict_proba(z)[::20, 0].max() < 1e-6


def test_a_failed_fit_leaves_the_earlier_one():
    z, y = simulate(3, 100)
    cal = tc.TemperatureScaling().fit(z, y)
    before = cal.predict_proba(z)
    with pytest.raises(tc.errors.InputError, match="contains NaN or None"):
        cal.fit(z[:, 0], [None] * 100)
    np.testing.assert_array_equal(cal.predict_proba(z), before)


@every_kind
def test_a_zero_weight_is_no_row(kind):
    z, y = simulate(3, 60)
    weights = np.ones(60)
    weights[50:] = 0
    cal = at_fixed_shrinkage(kind)
    a = cal.fit(z, y, sample_weight=weights).predict_proba(z)
    b = cal.fit(z[:50], y[:50]).predict_proba(z)
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_what_did_not_converge_is_said(monkeypatch):
    monkeypatch.setattr("tempocal.solve.newton.MAX_PASSES", 2)
    with pytest.warns(tc.errors.NotConvergedWarning, match="short of its optimum"):
        cal = tc.PlattScaling(shrinkage=0).fit(*simulate(2, 200))
    assert cal.summary().details["converged"] is False


def test_columns_named_like_the_classes_in_another_order_are_refused():
    z, y = simulate(3, 100)
    labels = np.array(["cat", "dog", "emu"])[y]
    shuffled = pd.DataFrame(z, columns=["cat", "dog", "emu"])[["emu", "cat", "dog"]]
    with pytest.raises(tc.errors.InputError, match=r"say classes=\['emu', 'cat', 'dog'\]"):
        tc.TemperatureScaling().fit(shuffled, labels)
    straight = tc.TemperatureScaling().fit(z, labels)
    with_classes = tc.TemperatureScaling(classes=["emu", "cat", "dog"]).fit(shuffled, labels)
    assert with_classes.inverse_temperature_ == pytest.approx(
        straight.inverse_temperature_, rel=1e-6
    )


def test_logits_that_look_like_probabilities_are_said():
    z, y = simulate(3, 100)
    p = tc.Identity().fit(z, y).predict_proba(z)
    with pytest.warns(tc.errors.LooksLikeProbabilitiesWarning, match='say inputs="proba"'):
        tc.TemperatureScaling().fit(p, y)
    tc.TemperatureScaling(inputs="proba").fit(p, y)


def test_weights_that_sum_to_one_are_said():
    z, y = simulate(2, 100)
    with pytest.warns(tc.errors.LightWeightsWarning, match="sums to 1 over 100 rows"):
        cal = tc.TemperatureScaling().fit(z, y, sample_weight=np.full(100, 0.01))
    assert "weight of all rows together: 1" in str(cal.summary())


def test_other_columns_than_those_of_the_fit_are_refused():
    z, y = simulate(3, 100)
    cal = tc.TemperatureScaling().fit(z, y)
    with pytest.raises(tc.errors.InputError, match="logits are not those of the fit"):
        cal.predict_proba(z[:, :2])


def test_temperature_takes_one_strength_only():
    with pytest.raises(tc.errors.InputError, match="or a number of at least 0, but it is"):
        tc.TemperatureScaling(shrinkage=(1.0, 2.0)).fit(*simulate(2, 50))


class TestSummary:
    def test_says_what_was_fitted(self):
        text = str(tc.PlattScaling().fit(*simulate(2, 200)).summary())
        assert "slope: " in text
        assert "taken as independent" in text

    def test_says_how_much_groups_are_worth_only_where_that_was_asked(self):
        z, y = simulate(2, 200)
        groups = np.arange(200) // 4
        assert "in 50 groups, worth" in str(tc.PlattScaling().fit(z, y, groups=groups).summary())
        isotonic = tc.IsotonicCalibration().fit(z, y, groups=groups).summary()
        assert isotonic.effective_number is None
        assert "(in 50 groups)" in str(isotonic)

    def test_one_group_is_one_observation(self):
        z, y = simulate(2, 200)
        summary = tc.TemperatureScaling().fit(z, y, groups=np.zeros(200)).summary()
        assert summary.effective_number == 1.0

    def test_says_where_nothing_was_done_and_where_it_did_harm(self):
        assert "nothing to correct" in str(tc.Identity().fit(*simulate(2, 50)).summary())
        z = np.linspace(-8, 8, 30)
        worse = tc.PlattScaling().fit(z, (z > 0).astype(int)).summary()
        assert worse.nll_after > worse.nll_before
        assert "worse than doing nothing" in str(worse)
