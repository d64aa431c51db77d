"""Bands and gains against formulas written out, and against simulated truths."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import norm
from scipy.stats import t as student

import tempocal as tc

MATCHES = tc.datasets.simulate_match(150, wins=6, seed=1)
Z, Y, T, G = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence
N_GROUPS = len(np.unique(G))
STEPS = np.unique(T)
ASKED = np.array([0, 1, 4, 9, 30])


def temporal(calibrator, curve, **more):
    return tc.TemporalCalibrator(calibrator, curve).fit(Z, Y, time=T, **more)


def deviation(cal, times, name="inverse_temperature", level=0.95):
    """Standard deviation that an interval was made of."""
    interval = cal.interval_at(times, level=level)[name]
    n_groups = interval.n_groups
    wide = norm.ppf(0.5 + level / 2)
    if n_groups is not None:
        wide = student.ppf(0.5 + level / 2, n_groups - 1)
    return (interval.upper - cal.parameters_at(times)[name]) / wide


def fisher(features, eta, weights=1.0):
    """Curvature of the loss of a sigmoid: (coefficients, coefficients)."""
    p = 1 / (1 + np.exp(-eta))
    return (features * (weights * p * (1 - p))[:, None]).T @ features


def group_gradients(features, eta, groups, labels=Y):
    """Gradients summed by group: (groups, coefficients)."""
    residual = 1 / (1 + np.exp(-eta)) - labels
    each = features * residual[:, None]
    return np.stack([np.bincount(groups, column) for column in each.T], axis=1)


def noise(features, eta, groups, determined):
    """Variance of the gradient over groups, corrected as by the jackknife over groups."""
    summed = group_gradients(features, eta, groups)
    jackknife = 1 / (1 - determined / N_GROUPS) ** 2
    return jackknife * N_GROUPS / (N_GROUPS - 1) * summed.T @ summed


class TestConstant:
    def test_without_groups_is_the_textbook_error(self):
        cal = temporal(tc.TemperatureScaling(shrinkage=0), tc.Constant())
        value = cal.parameters_at([0])["inverse_temperature"][0]
        information = fisher(Z[:, None], value * Z)[0, 0]
        np.testing.assert_allclose(deviation(cal, ASKED), information**-0.5, rtol=1e-3)

    def test_of_weights_is_the_textbook_error_of_repeated_rows(self):
        counts = np.random.default_rng(0).integers(1, 4, size=len(Y))
        cal = temporal(tc.TemperatureScaling(shrinkage=0), tc.Constant(), sample_weight=counts)
        value = cal.parameters_at([0])["inverse_temperature"][0]
        information = fisher(Z[:, None], value * Z, counts)[0, 0]
        np.testing.assert_allclose(deviation(cal, [3]), information**-0.5, rtol=1e-3)

    def test_of_slope_and_bias_is_the_inverse_of_a_matrix(self):
        cal = temporal(tc.PlattScaling(shrinkage=0), tc.Constant())
        numbers = cal.parameters_at([0])
        features = np.stack([Z, np.ones_like(Z)], axis=1)
        eta = features @ [numbers["slope"][0], numbers["bias"][0]]
        expected = np.sqrt(np.diag(np.linalg.inv(fisher(features, eta))))
        found = [deviation(cal, [0], name)[0] for name in ("slope", "bias")]
        np.testing.assert_allclose(found, expected, rtol=1e-3)

    def test_of_beta_in_two_parameters_reads_out_the_third(self):
        cal = temporal(tc.BetaCalibration(shrinkage=0, form="ab"), tc.Constant())
        features = np.stack([-np.logaddexp(0, -Z), np.logaddexp(0, Z)], axis=1)
        features += np.log(2) * np.array([1, -1])
        numbers = cal.parameters_at([0])
        eta = features @ [numbers["a"][0], numbers["b"][0]]
        covariance = np.linalg.inv(fisher(features, eta))
        of_c = np.log(2) * np.array([1, -1])
        expected = np.sqrt([covariance[0, 0], covariance[1, 1], of_c @ covariance @ of_c])
        found = [deviation(cal, [0], name)[0] for name in "abc"]
        np.testing.assert_allclose(found, expected, rtol=1e-3)

    def test_with_groups_is_the_sandwich(self):
        cal = temporal(tc.PlattScaling(shrinkage=0), tc.Constant(), groups=G)
        numbers = cal.parameters_at([0])
        features = np.stack([Z, np.ones_like(Z)], axis=1)
        eta = features @ [numbers["slope"][0], numbers["bias"][0]]
        bread = np.linalg.inv(fisher(features, eta))
        expected = np.sqrt(np.diag(bread @ noise(features, eta, G, 2) @ bread))
        found = [deviation(cal, [0], name)[0] for name in ("slope", "bias")]
        np.testing.assert_allclose(found, expected, rtol=1e-3)

    @pytest.mark.parametrize("grouped", [False, True])
    def test_with_a_penalty_adds_what_the_prior_expects(self, grouped):
        strength = 20.0
        groups = G if grouped else None
        cal = temporal(tc.TemperatureScaling(shrinkage=strength), tc.Constant(), groups=groups)
        value = cal.parameters_at([0])["inverse_temperature"][0]
        features, eta = Z[:, None], value * Z
        information = fisher(features, eta)
        determined = information[0, 0] / (information[0, 0] + strength)
        middle = noise(features, eta, G, determined) if grouped else information
        effect = len(Y) / cal.summary().effective_number
        variance = (middle + effect * strength) / (information + strength) ** 2
        np.testing.assert_allclose(deviation(cal, [0]) ** 2, variance[0, 0], rtol=1e-3)

    def test_of_three_classes(self):
        rng = np.random.default_rng(0)
        z = 2 * rng.normal(size=(300, 3))
        y = (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0), tc.Constant())
        cal.fit(z, y, time=np.zeros(300))
        p = np.exp(cal.parameters_at([0])["inverse_temperature"][0] * z)
        p /= p.sum(axis=1, keepdims=True)
        information = ((p * z**2).sum(axis=1) - (p * z).sum(axis=1) ** 2).sum()
        np.testing.assert_allclose(deviation(cal, [0]), information**-0.5, rtol=1e-3)


class TestPerStep:
    @pytest.mark.parametrize("grouped", [False, True])
    def test_is_the_band_of_each_step(self, grouped):
        cal = temporal(
            tc.TemperatureScaling(shrinkage=0), tc.PerStep(), groups=G if grouped else None
        )
        values, found = cal.parameters_at(STEPS)["inverse_temperature"], deviation(cal, STEPS)
        for step, value, error in zip(STEPS, values, found, strict=True):
            at = step == T
            features, eta = Z[at, None], value * Z[at]
            information = fisher(features, eta)[0, 0]
            middle = information
            if grouped:
                summed = group_gradients(features, eta, G[at], Y[at])
                # One group in each row here, and one coefficient of leverage 1 / groups.
                n = len(np.unique(G[at]))
                middle = n / (n - 1) * float((summed**2).sum()) / (1 - 1 / n) ** 2
            if value > 1e-3:
                assert error == pytest.approx(np.sqrt(middle) / information, rel=5e-3)

    @pytest.mark.parametrize("grouped", [False, True])
    def test_of_one_step_is_the_band_of_a_constant(self, grouped):
        """Of twelve sequences, where corrections for few groups matter."""
        few = G < 12
        groups = G[few] if grouped else None
        found = []
        for curve in (tc.PerStep(), tc.RandomWalk(), tc.Spline(), tc.Constant()):
            cal = tc.TemporalCalibrator(tc.PlattScaling(shrinkage=1.0), curve)
            cal.fit(Z[few], Y[few], time=np.zeros(few.sum()), groups=groups)
            found.append(deviation(cal, [0], "slope")[0])
        np.testing.assert_allclose(found, found[-1], rtol=1e-3)


class TestRandomWalk:
    @pytest.mark.parametrize("grouped", [False, True])
    def test_is_a_sandwich_with_the_penalty(self, grouped):
        strength, smoothness = 1.5, 4.0
        groups = G if grouped else None
        cal = temporal(
            tc.TemperatureScaling(shrinkage=strength), tc.RandomWalk(smoothness), groups=groups
        )
        values = cal.parameters_at(STEPS)["inverse_temperature"]
        features = Z[:, None] * (T[:, None] == STEPS)
        eta = features @ values
        steps = np.diff(np.eye(len(STEPS)), axis=0)
        walk = steps.T @ steps * np.ptp(STEPS)  # all gaps are one step
        penalty = strength * np.eye(len(STEPS)) + smoothness * walk
        information = fisher(features, eta)
        bread = np.linalg.inv(information + penalty)
        determined = np.trace(bread @ information)
        middle = noise(features, eta, G, determined) if grouped else information
        effect = len(Y) / cal.summary().effective_number
        covariance = bread @ (middle + effect * penalty) @ bread
        np.testing.assert_allclose(deviation(cal, STEPS), np.sqrt(np.diag(covariance)), rtol=1e-3)
        half = 0.5 * (np.eye(len(STEPS))[0] + np.eye(len(STEPS))[1])
        expected = np.sqrt(half @ covariance @ half)
        assert deviation(cal, [0.5])[0] == pytest.approx(expected, rel=1e-3)
        assert cal.summary().details["effective_coefficients"] == pytest.approx(
            determined, rel=1e-3
        )


def curve_of(x, times):
    """An exponential from (limit, first value, log rate per unit of time)."""
    decay = np.exp(-np.exp(x[2]) * times)
    return x[0] * (1 - decay) + x[1] * decay


class TestExponential:
    @pytest.mark.parametrize("strength", [0.0, 3.0])
    @pytest.mark.parametrize("grouped", [False, True])
    def test_is_the_delta_method(self, grouped, strength):
        """Derivatives are numerical, and the rate is a parameter like the others."""
        groups = G if grouped else None
        cal = temporal(
            tc.TemperatureScaling(shrinkage=strength), tc.ExponentialDecay(), groups=groups
        )
        x = np.array([cal.gamma_, cal.gamma_ - cal.alpha_, np.log(cal.beta_)])
        time_range = np.array([0.0, T.max()])

        def slopes(at, times):
            return np.stack([approx_fprime(at, lambda v, s=s: curve_of(v, s), 1e-6) for s in times])

        features = slopes(x, STEPS.astype(float))[np.searchsorted(STEPS, T)] * Z[:, None]
        eta = curve_of(x, T) * Z
        determined = cal.summary().details["effective_coefficients"]
        middle = fisher(features, eta)
        if grouped:
            middle = noise(features, eta, G, determined)
        prior = np.zeros((3, 3))
        at_range = slopes(x, time_range)[:, :2]
        prior[:2, :2] = 0.5 * strength * at_range.T @ at_range
        effect = len(Y) / cal.summary().effective_number
        # On the log rate, the variance of the range in which it is searched for.
        prior[2, 2] = effect * 12 / np.log(1e5) ** 2
        bread = np.linalg.inv(fisher(features, eta) + prior)
        covariance = bread @ (middle + effect * prior) @ bread
        to_time = slopes(x, ASKED.astype(float))
        expected = np.sqrt(np.einsum("ni,ij,nj->n", to_time, covariance, to_time))
        np.testing.assert_allclose(deviation(cal, ASKED), expected, rtol=2e-3)

    @pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
    def test_of_a_surface_of_two_takes_both_rates(self):
        """Against a numerical delta method in four coefficients and two rates."""
        rng = np.random.default_rng(0)
        n = 4000
        clocks = rng.integers(0, 12, size=(n, 2))
        z = 2 * rng.normal(size=n)
        truth = (1 - 0.7 * np.exp(-clocks[:, 0] / 3)) * (0.6 + 0.8 * np.exp(-clocks[:, 1] / 3))
        y = (rng.random(n) < 1 / (1 + np.exp(-truth * z))).astype(int)
        surface = tc.Surface(tc.ExponentialDecay(), tc.ExponentialDecay())
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0), surface)
        cal.fit(z, y, time=clocks)
        bases, [table] = cal.map_.bases[0], cal.map_.tables
        x = np.concatenate([table[:, 0], np.log([bases.one.rate, bases.other.rate])])

        def value(at, times):
            a, b = (np.exp(-np.exp(at[4 + k]) * times[:, k]) for k in range(2))
            return (
                at[0] * (1 - a) * (1 - b)
                + at[1] * (1 - a) * b
                + at[2] * a * (1 - b)
                + (at[3] * a * b)
            )

        def slopes(at, times):
            offsets = 1e-5 * np.eye(6)
            parts = [(value(at + d, times) - value(at - d, times)) / 2e-5 for d in offsets]
            return np.stack(parts, axis=1)

        np.testing.assert_allclose(
            value(x, clocks), cal.parameters_at(clocks)["inverse_temperature"], rtol=1e-9
        )
        information = fisher(slopes(x, clocks) * z[:, None], value(x, clocks) * z)
        prior = np.diag([0.0] * 4 + [12 / np.log(1e5) ** 2] * 2)
        bread = np.linalg.inv(information + prior)
        covariance = bread @ (information + prior) @ bread
        requested = np.array([[0, 0], [3, 8], [11, 2]])
        to_time = slopes(x, requested)
        expected = np.sqrt(np.einsum("ni,ij,nj->n", to_time, covariance, to_time))
        np.testing.assert_allclose(deviation(cal, requested), expected, rtol=1e-3)


class TestRepeatedRows:
    """Copies within a group say nothing new; copies of a group do."""

    CURVES = pytest.mark.parametrize(
        "curve",
        [tc.Constant(), tc.PerStep(bins=3), tc.ExponentialDecay()],
        ids=repr,
    )

    def twice(self, curve, groups):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0), curve)
        return cal.fit(np.tile(Z, 2), np.tile(Y, 2), time=np.tile(T, 2), groups=groups)

    @CURVES
    def test_within_a_group_leave_the_band_as_it_is(self, curve):
        once = temporal(tc.TemperatureScaling(shrinkage=0), curve, groups=G)
        twice = self.twice(curve, np.tile(G, 2))
        np.testing.assert_allclose(deviation(twice, ASKED), deviation(once, ASKED), rtol=1e-3)

    @CURVES
    def test_in_groups_of_their_own_halve_the_variance(self, curve):
        once = temporal(tc.TemperatureScaling(shrinkage=0), curve, groups=G)
        twice = self.twice(curve, np.concatenate([G, G + N_GROUPS]))
        ratio = deviation(twice, ASKED) ** 2 / deviation(once, ASKED) ** 2
        # Twice as many groups also need less of the corrections for few of them.
        np.testing.assert_allclose(ratio, 0.5, rtol=0.08)

    @CURVES
    def test_without_groups_halve_the_variance(self, curve):
        once = temporal(tc.TemperatureScaling(shrinkage=0), curve)
        ratio = deviation(self.twice(curve, None), ASKED) ** 2 / deviation(once, ASKED) ** 2
        # But for the prior on a rate, which does not become twice as strong.
        np.testing.assert_allclose(ratio, 0.5, rtol=5e-2)

    def test_make_bands_over_groups_wider_than_over_rows(self):
        for curve in (tc.Constant(), tc.ExponentialDecay(), tc.Spline()):
            over_rows = temporal(tc.TemperatureScaling(), curve)
            over_groups = temporal(tc.TemperatureScaling(), curve, groups=G)
            wider = deviation(over_groups, ASKED) / deviation(over_rows, ASKED)
            assert (wider > 1).all()
            assert wider.mean() > 1.2


class TestIntervals:
    @pytest.mark.parametrize(
        "curve",
        [tc.Constant(), tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()],
        ids=repr,
    )
    @pytest.mark.parametrize(
        "calibrator",
        [tc.TemperatureScaling(), tc.PlattScaling(), tc.BetaCalibration()],
        ids=repr,
    )
    def test_hold_the_estimate_and_grow_with_the_level(self, calibrator, curve):
        cal = temporal(calibrator, curve, groups=G)
        center = cal.parameters_at(ASKED)
        bands = [cal.interval_at(ASKED, level) for level in (0.5, 0.9, 0.95, 0.999)]
        for name, value in center.items():
            for band in bands:
                assert (band[name].lower <= value).all()
                assert (value <= band[name].upper).all()
                assert band[name].lower.shape == value.shape
                if name in ("inverse_temperature", "a", "b"):
                    assert (band[name].lower >= 0).all()
            widths = np.stack([band[name].upper - value for band in bands])
            assert (np.diff(widths, axis=0) > 0).all() or (widths == 0).all()

    @pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
    def test_of_positive_parameters_do_not_reach_below_zero(self):
        rng = np.random.default_rng(0)
        z = rng.normal(size=40)
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0.1), tc.PerStep())
        cal.fit(z, rng.integers(0, 2, size=40), time=np.arange(40) % 4)
        lower = cal.interval_at(np.arange(4), level=0.999)["inverse_temperature"].lower
        assert lower.min() == 0.0

    def test_where_the_data_say_nothing_are_not_certain(self):
        """All logits of a step are zero: its inverse temperature could be anything."""
        silent = np.where(T == 0, 0.0, Z)
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=1.0), tc.PerStep())
        cal.fit(silent, Y, time=T)
        assert deviation(cal, [0])[0] == pytest.approx(1.0, rel=1e-3)
        walk = tc.TemporalCalibrator(
            tc.TemperatureScaling(shrinkage=0), tc.RandomWalk(smoothness=0.0)
        )
        walk.fit(silent, Y, time=T)
        assert deviation(walk, [0])[0] > deviation(walk, [1])[0]

    def test_say_what_they_rest_on(self):
        alone = temporal(tc.TemperatureScaling(), tc.Spline()).interval_at([0, 3])
        text = str(alone["inverse_temperature"])
        assert "rows taken as independent: no groups were given" in text
        assert text.startswith("95% interval")
        over = temporal(tc.TemperatureScaling(), tc.Spline(), groups=G).interval_at([0, 3], 0.8)
        assert f"80% interval (over {N_GROUPS} groups)" in str(over["inverse_temperature"])
        assert over["inverse_temperature"].n_groups == N_GROUPS

    @pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 95, np.nan])
    def test_of_a_level_that_is_none_are_refused(self, level):
        with pytest.raises(tc.errors.InputError, match="level must lie between 0 and 1"):
            temporal(tc.TemperatureScaling(), tc.Constant()).interval_at([0], level=level)

    def test_of_a_calibrator_without_parameters_are_refused_in_words(self):
        cal = temporal(tc.IsotonicCalibration(), tc.PerStep(bins=2))
        for ask in (cal.parameters_at, cal.interval_at):
            with pytest.raises(tc.errors.InputError, match="no parameters along time"):
                ask([0])

    # Rows share a random number but not a logit: where it is close to both, labels differ.
    @pytest.mark.filterwarnings("ignore::tempocal.errors.MixedLabelsWarning")
    @pytest.mark.parametrize("curve", [tc.Constant(), tc.PerStep(bins=2)], ids=repr)
    def test_hold_the_truth_as_often_as_they_say(self, curve):
        """Sequences share a label, so that over rows they would hold it far less often."""
        hits = []
        for seed in range(120):
            rng = np.random.default_rng(seed)
            z = np.repeat(2 * rng.normal(size=150), 6) + 0.3 * rng.normal(size=900)
            label = np.repeat(rng.random(150), 6) < 1 / (1 + np.exp(-0.7 * z))
            cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0), curve)
            cal.fit(
                z, label.astype(int), time=np.tile(np.arange(6), 150), groups=np.arange(900) // 6
            )
            band = cal.interval_at([0, 5])["inverse_temperature"]
            hits.append((band.lower <= 0.7) & (band.upper >= 0.7))
        assert 0.88 <= np.mean(hits) <= 0.99


class TestGain:
    def written_out(self, cal, groups, weights, shift=0.0):
        sure = cal.predict_log_proba(Z, time=T)[np.arange(len(Y)), Y]
        raw = -np.logaddexp(0, -(2 * Y - 1) * Z)
        gain = (sure - raw) * weights
        total = weights.sum()
        mean = gain.sum() / total
        if groups is None:
            # A row is as many as its weight.
            n, spread = total, (weights * (sure - raw - mean) ** 2).sum()
        else:
            sums, sizes = np.bincount(groups, gain), np.bincount(groups, weights)
            n, spread = len(sums), ((sums - mean * sizes) ** 2).sum()
        error = np.sqrt(n / (n - 1) * spread) / total
        half = student.ppf(0.975, n - 1) * error
        return mean, [mean - half - shift, mean + half - shift]

    @pytest.mark.parametrize("grouped", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_is_the_paired_difference_over_groups(self, grouped, weighted):
        groups = G if grouped else None
        weights = np.random.default_rng(0).random(len(Y)) + 0.5 if weighted else np.ones(len(Y))
        cal = temporal(tc.TemperatureScaling(), tc.Spline(), groups=groups, sample_weight=weights)
        mean, interval = self.written_out(cal, groups, weights)
        details = cal.summary().details
        assert details["gain"] == pytest.approx(mean, rel=1e-9)
        np.testing.assert_allclose(details["gain_interval"], interval, rtol=1e-9)
        summary = cal.summary()
        assert summary.nll_before - summary.nll_after == pytest.approx(mean, rel=1e-9)

    def test_expected_on_new_rows_is_less_by_one_for_each_coefficient(self):
        cal = temporal(tc.TemperatureScaling(shrinkage=0), tc.Constant())
        details = cal.summary().details
        assert details["effective_coefficients"] == pytest.approx(1.0, rel=1e-6)
        less = details["gain"] - details["gain_on_new_rows"]
        assert less * len(Y) == pytest.approx(1.0, rel=1e-6)
        steps = temporal(tc.TemperatureScaling(shrinkage=0), tc.PerStep(bins=3))
        assert steps.summary().details["effective_coefficients"] == pytest.approx(3.0, rel=1e-6)

    def test_expected_on_new_rows_is_what_new_rows_show(self):
        """On average over simulated sets, within the noise of that average."""
        said, shown = [], []
        for seed in range(60):
            old = tc.datasets.simulate_match(60, wins=4, seed=seed)
            new = tc.datasets.simulate_match(600, wins=4, seed=1000 + seed)
            cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0), tc.PerStep(bins=3))
            cal.fit(old.logits, old.label, time=old.time, groups=old.sequence)
            details = cal.summary().details
            said.append([details["gain"], details["gain_on_new_rows"]])
            log_p = cal.predict_log_proba(new.logits, time=new.time)
            raw = -np.logaddexp(0, -(2 * new.label - 1) * new.logits)
            shown.append((log_p[np.arange(len(raw)), new.label] - raw).mean())
        difference = np.array(said) - np.array(shown)[:, None]
        error = difference.std(axis=0) / np.sqrt(60)
        bias = difference.mean(axis=0)
        assert bias[0] > 2 * error[0]  # the gain on the rows of the fit flatters
        assert abs(bias[1]) < 3 * error[1]

    def test_is_said_in_the_summary(self):
        text = str(temporal(tc.TemperatureScaling(), tc.Spline(), groups=G).summary())
        for words in ("gain:", "gain interval:", "NLL before", "effective coefficients:", "thin"):
            assert words in text
        alone = str(temporal(tc.TemperatureScaling(), tc.Spline()).summary())
        assert "taken as independent: no groups were given" in alone

    def test_thin_steps_are_those_with_few_groups(self):
        cal = temporal(tc.TemperatureScaling(), tc.RandomWalk(), groups=G)
        counts = np.array([len(np.unique(G[step == T])) for step in STEPS])
        assert cal.summary().details["thin_steps"] == STEPS[counts < 20].tolist()


class TestHonesty:
    @pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
    @pytest.mark.parametrize("curve", [tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()])
    def test_bands_of_a_calibrated_model_are_neither_lines_nor_endless(self, curve):
        """Where the curve is flat its rate is unknown, and strengths leave but the identity."""
        for seed in (18, 36, 37):
            matches = tc.datasets.simulate_match(50 if seed % 2 else 150, seed=seed)
            p = matches.true_probability
            cal = tc.TemporalCalibrator(curve=curve).fit(
                np.log(p / (1 - p)), matches.label, time=matches.time, groups=matches.sequence
            )
            band = cal.interval_at(np.arange(25))["inverse_temperature"]
            width = band.upper - band.lower
            assert width.max() < 5
            assert width.min() > 0.05

    @pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
    @pytest.mark.parametrize("curve", [tc.PerStep(), tc.RandomWalk()])
    def test_a_parameter_at_its_bound_is_not_certain(self, curve):
        z = np.where(T == 3, -3 * Z, Z)
        cal = tc.TemporalCalibrator(curve=curve).fit(z, Y, time=T, groups=G)
        band = cal.interval_at([3])["inverse_temperature"]
        assert band.upper[0] - band.lower[0] > 1e-3
