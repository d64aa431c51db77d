"""Learning along time from rows that come in parts."""

import numpy as np
import pytest
from sklearn.base import clone

import tempocal as tc
from support.lanes import usually
from support.public_curves import with_every_curve
from tempocal.errors import InputError, ModelFileError
from tempocal.modelfile import read_document, write_document

MATCHES = tc.datasets.simulate_match(1040)
CURVES = with_every_curve(
    [
        tc.Constant(),
        tc.ExponentialDecay(),
        tc.PerStep(),
        tc.PerStep(bins=5),
        tc.Spline(),
        tc.RandomWalk(),
    ]
)
PAIRS = [
    *((tc.PlattScaling(), curve) for curve in CURVES),
    (tc.TemperatureScaling(), tc.ExponentialDecay()),
    (tc.BetaCalibration(), tc.Spline()),
]


def part(which, matches=MATCHES):
    return {
        "logits": matches.logits[which],
        "y": matches.label[which],
        "time": matches.time[which],
        "groups": matches.sequence[which],
    }


def in_batches(cal, batches, first=240, size=8, **more):
    cal = clone(cal).partial_fit(**part(MATCHES.sequence < first), classes=[0, 1], **more)
    for start in range(first, first + batches * size, size):
        which = (MATCHES.sequence >= start) & (MATCHES.sequence < start + size)
        cal.partial_fit(**part(which), **more)
    return cal


def nll(cal):
    return tc.metrics.nll(MATCHES.label, cal.predict_proba(MATCHES.logits, time=MATCHES.time))


@pytest.mark.parametrize(
    ("calibrator", "curve"),
    # Each mechanism: numbers at all times, a rate, steps, and a penalty whose strength is chosen.
    usually(PAIRS, lambda pair: pair in [PAIRS[0], PAIRS[2], PAIRS[5], PAIRS[-2]]),
    ids=repr,
)
def test_forty_batches_are_as_good_as_a_refit(calibrator, curve):
    """At the strengths and the rate of the first call, which stay."""
    cal = tc.TemporalCalibrator(calibrator, curve)
    updated = in_batches(cal, 40, size=20)
    again = clone(cal).partial_fit(**part(MATCHES.sequence < 240))
    again.partial_fit(**part(MATCHES.sequence >= 240))
    assert updated.summary().n_groups == again.summary().n_groups == 1040
    assert abs(nll(updated) - nll(again)) < 1e-4
    if isinstance(curve, tc.ExponentialDecay):
        np.testing.assert_array_equal(updated.beta_, again.beta_)


@pytest.mark.parametrize("curve", [tc.PerStep(), tc.Spline(smoothness=3.0)], ids=repr)
def test_coefficients_and_bands_are_those_of_a_fit(curve):
    cal = tc.TemporalCalibrator(tc.PlattScaling(), curve, shrinkage=(2.0, 5.0))
    updated, fitted = in_batches(cal, 100), clone(cal).fit(**part(MATCHES.sequence >= 0))
    assert abs(nll(updated) - nll(fitted)) < 1e-4
    times = np.arange(0, 24, 4)
    bands, wanted = updated.interval_at(times), fitted.interval_at(times)
    for name, value in fitted.parameters_at(times).items():
        width = wanted[name].upper - wanted[name].lower
        off = np.abs(updated.parameters_at(times)[name] - value)
        assert (off < 0.1 * width).all()
        np.testing.assert_allclose(bands[name].upper - bands[name].lower, width, rtol=0.1)


def test_bands_of_a_rate_narrow_as_rows_come():
    few, many = in_batches(tc.TemporalCalibrator(), 0), in_batches(tc.TemporalCalibrator(), 100)

    def width(cal):
        band = cal.interval_at([4.0])["inverse_temperature"]
        return (band.upper - band.lower).item()

    # Four times as many matches.
    assert 0.4 < width(many) / width(few) < 0.65


def test_the_first_call_is_a_fit():
    which = MATCHES.sequence < 300
    fitted = tc.TemporalCalibrator().fit(**part(which))
    updated = tc.TemporalCalibrator().partial_fit(**part(which))
    np.testing.assert_array_equal(
        updated.decision_function(MATCHES.logits, time=MATCHES.time),
        fitted.decision_function(MATCHES.logits, time=MATCHES.time),
    )
    # It can also come after one.
    fitted.partial_fit(**part(~which))
    updated.partial_fit(**part(~which))
    assert nll(fitted) == nll(updated)


def test_what_is_kept_of_the_past_fades():
    """The logits of the second half are three times as large as they should be."""
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant(), shrinkage=0)
    slopes = []
    for keep in (1.0, 0.8):
        learning = clone(cal)
        for start in range(0, 1040, 40):
            rows = part((MATCHES.sequence >= start) & (MATCHES.sequence < start + 40))
            rows["logits"] = rows["logits"] * (3.0 if start >= 520 else 1.0)
            learning.partial_fit(**rows, keep=keep)
        slopes.append(learning.parameters_at([0.0])["inverse_temperature"].item())
    last = clone(cal).fit(**part(MATCHES.sequence >= 520))
    wanted = last.parameters_at([0.0])["inverse_temperature"].item() / 3.0
    assert abs(slopes[1] - wanted) < 0.1 * wanted < abs(slopes[0] - wanted)


class TestSteps:
    def test_that_were_not_seen_get_their_own(self):
        early = MATCHES.time < 10
        cal = tc.TemporalCalibrator(
            tc.TemperatureScaling(), tc.PerStep(unseen="error"), shrinkage=1.0
        )
        updated = clone(cal).partial_fit(**part(early))
        with pytest.raises(InputError, match="seen"):
            updated.parameters_at([20])
        updated.partial_fit(**part(~early))
        fitted = clone(cal).fit(**part(early | ~early))
        steps = np.unique(MATCHES.time)
        np.testing.assert_allclose(
            updated.parameters_at(steps)["inverse_temperature"],
            fitted.parameters_at(steps)["inverse_temperature"],
            rtol=1e-6,
        )

    def test_count_from_their_first_row_on(self):
        """Rows of a call are not there any more in the next, so that none can wait for others."""
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(min_rows=30), shrinkage=1.0)
        cal.partial_fit(**part(MATCHES.time < 10))
        rows = np.flatnonzero(MATCHES.time == 12)[:150]
        for row in rows:
            cal.partial_fit(**part([row]))
        fitted = clone(cal).fit(**part(rows))
        np.testing.assert_allclose(
            cal.parameters_at([12])["inverse_temperature"],
            fitted.parameters_at([12])["inverse_temperature"],
            rtol=0.05,
        )

    @pytest.mark.parametrize(
        "curve",
        [
            tc.RandomWalk(smoothness=1e-4),
            tc.PerStep(),
            tc.Spline(smoothness=1.0),
        ],
        ids=repr,
    )
    def test_that_have_no_rows_now_stay_where_they_belong(self, curve):
        early, late = MATCHES.sequence < 500, (MATCHES.sequence >= 500) & (MATCHES.time >= 12)
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), curve, shrinkage=1.0)
        updated = clone(cal).partial_fit(**part(early)).partial_fit(**part(late))
        fitted = clone(cal).fit(**part(early | late))
        times = [0.0, 4.0, 11.0, 12.0, 15.0, 22.0]
        np.testing.assert_allclose(
            updated.parameters_at(times)["inverse_temperature"],
            fitted.parameters_at(times)["inverse_temperature"],
            atol=0.02,
        )

    def test_between_steps_of_a_walk(self):
        moments = MATCHES.time + np.random.default_rng(0).uniform(size=len(MATCHES.time))
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.RandomWalk(smoothness=1.0))
        updated, fitted = clone(cal), clone(cal)
        for half in (MATCHES.sequence < 500, MATCHES.sequence >= 500):
            updated.partial_fit(**{**part(half), "time": moments[half]})
        fitted.fit(**{**part(MATCHES.sequence >= 0), "time": moments})
        times = [1.0, 5.0, 10.0, 20.0]
        np.testing.assert_allclose(
            updated.parameters_at(times)["inverse_temperature"],
            fitted.parameters_at(times)["inverse_temperature"],
            atol=0.03,
        )


class TestStrengths:
    """Those of a first call must not keep it from learning for ever."""

    def test_of_predictions_that_needed_nothing(self):
        rng = np.random.default_rng(0)

        def rows(n, slope):
            z = rng.normal(scale=2.0, size=n)
            y = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-slope * z))).astype(int)
            return {"logits": z, "y": y, "time": np.zeros(n), "groups": np.arange(n)}

        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())
        cal.partial_fit(**rows(2000, 1.0))
        for _ in range(60):
            cal.partial_fit(**rows(200, 0.5), keep=0.95)
        assert cal.parameters_at([0.0])["inverse_temperature"].item() == pytest.approx(
            0.5, abs=0.06
        )

    @pytest.mark.parametrize("curve", [tc.PerStep(), tc.Spline()], ids=repr)
    @pytest.mark.parametrize("seed", usually(range(3), lambda seed: seed == 0))
    def test_of_few_sequences(self, curve, seed):
        """A refit chooses its own strengths."""
        m = tc.datasets.simulate_match(1015, seed=seed)
        cal = tc.TemporalCalibrator(tc.PlattScaling(), curve)
        updated = clone(cal).partial_fit(**part(m.sequence < 15, m), classes=[0, 1])
        for start in range(15, 1015, 50):
            own = (m.sequence >= start) & (m.sequence < start + 50)
            updated.partial_fit(**part(own, m))
        fitted = clone(cal).fit(**part(m.sequence >= 0, m))
        assert abs(nll(updated) - nll(fitted)) < 2e-3

    @pytest.mark.parametrize(
        ("calibrator", "curve"),
        [
            (tc.PlattScaling(), tc.Spline()),
            (tc.PlattScaling(), tc.ExponentialDecay()),
            (tc.BetaCalibration(), tc.PerStep()),
        ],
        ids=repr,
    )
    def test_are_not_given_up_after_one_more_sequence(self, calibrator, curve):
        """Forecasts are right: a fit that has found so does not forget it."""
        rng = np.random.default_rng(5)
        odds = rng.normal(size=51)
        won = (rng.uniform(size=51) < 1.0 / (1.0 + np.exp(-odds))).astype(int)
        sequence = np.repeat(np.arange(51), 12)
        rows = {
            "logits": odds[sequence],
            "y": won[sequence],
            "time": np.tile(np.arange(12), 51),
            "groups": sequence,
        }

        def of(which):
            return {name: values[which] for name, values in rows.items()}

        cal = tc.TemporalCalibrator(calibrator, curve)
        updated = clone(cal).fit(**of(sequence < 50)).partial_fit(**of(sequence == 50))
        z, time = np.array([-2.0, -1.0, 0.0, 1.0, 2.0] * 12), np.repeat(np.arange(12), 5)

        def off(one):
            return np.abs(one.predict_proba(z, time=time)[:, 1] - 1.0 / (1.0 + np.exp(-z))).max()

        assert off(updated) < off(clone(cal).fit(**rows)) + 0.01


@pytest.mark.parametrize("calibrator", [tc.MatrixScaling(), tc.VectorScaling()], ids=repr)
def test_along_a_constant_it_is_the_calibrator_alone(calibrator):
    rng = np.random.default_rng(0)
    z = 2.0 * rng.normal(size=(400, 3))
    y = (0.5 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    groups, time = np.arange(400) // 2, np.zeros(400)
    alone, along = clone(calibrator), tc.TemporalCalibrator(clone(calibrator), tc.Constant())
    for own in (groups < 100, groups >= 100):
        alone.partial_fit(z[own], y[own], groups=groups[own])
        along.partial_fit(z[own], y[own], time=time[own], groups=groups[own])
    np.testing.assert_allclose(along.predict_proba(z, time=time), alone.predict_proba(z), atol=1e-9)


def test_discounted_groups_count_less_in_bands():
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant(), shrinkage=1.0)
    for k in range(10):
        cal.partial_fit(**part(MATCHES.sequence // 20 == k), keep=0.5)
    assert cal.summary().n_groups == 200
    assert cal.interval_at([3.0])["inverse_temperature"].n_groups == pytest.approx(40, abs=3)


def test_groups_of_other_steps_count_in_bands(tmp_path):
    """Each group has rows at one step only."""
    rng = np.random.default_rng(0)
    z, groups = rng.normal(size=1200), np.repeat(np.arange(600), 2)
    y = (rng.uniform(size=1200) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(), shrinkage=1.0)
    cal.fit(z, y, time=groups % 30, groups=groups)
    cal.save(tmp_path / "model.json")
    for one in (cal, tc.load(tmp_path / "model.json")):
        assert one.interval_at([3.0])["inverse_temperature"].n_groups == 600


def test_a_first_call_of_one_sequence_does_not_bind():
    """How much the rows of a sequence say is judged again with every call."""
    rng = np.random.default_rng(0)
    z, groups = rng.normal(size=12_000), np.repeat(np.arange(600), 20)
    y = (rng.uniform(size=12_000) < 1.0 / (1.0 + np.exp(-0.6 * z - 0.3))).astype(int)
    updated, fitted = tc.PlattScaling(), tc.PlattScaling().fit(z, y, groups=groups)
    for own in (groups == 0, *((groups > 0) & (groups // 25 == k) for k in range(24))):
        updated.partial_fit(z[own], y[own], groups=groups[own], classes=[0, 1])
    chosen, wanted = (one.summary().details["shrinkage_of_slopes"] for one in (updated, fitted))
    assert wanted / 2 < chosen < 2 * wanted
    np.testing.assert_allclose(updated.predict_proba(z), fitted.predict_proba(z), atol=2e-3)


def test_bands_of_rows_that_fade():
    """With each row as its own group bands are those of independent rows, at any fading."""
    which = [(MATCHES.sequence // 100 == k) for k in range(10)]
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant(), shrinkage=1.0)
    widths = []
    for with_groups in (False, True):
        updated = clone(cal)
        for own in which:
            groups = np.arange(own.sum()) if with_groups else None
            updated.partial_fit(**{**part(own), "groups": groups}, keep=0.8)
        band = updated.interval_at([3.0])["inverse_temperature"]
        widths.append((band.upper - band.lower).item())
    assert widths[0] == pytest.approx(widths[1], rel=0.15)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_it_goes_on_from_a_file(curve, tmp_path):
    cal = tc.TemporalCalibrator(tc.PlattScaling(), curve)
    cal.partial_fit(**part(MATCHES.sequence < 300), classes=[0, 1])
    cal.partial_fit(**part(MATCHES.sequence // 100 == 3))
    cal.save(tmp_path / "model.json")
    other = tc.load(tmp_path / "model.json")
    for one in (cal, other):
        one.partial_fit(**part(MATCHES.sequence // 100 == 4), keep=0.9)
    assert str(cal.summary()) == str(other.summary())
    times = np.array([0.0, 7.0, 22.0])
    for name, band in cal.interval_at(times).items():
        np.testing.assert_allclose(other.interval_at(times)[name].upper, band.upper, rtol=1e-12)
    assert tc.scorer.load(tmp_path / "model.json").time_kinds == ("number",)


def test_a_fit_is_saved_without_what_it_learned(tmp_path):
    tc.TemporalCalibrator().fit(**part(MATCHES.sequence < 300)).save(tmp_path / "model.json")
    with pytest.raises(InputError, match="nothing to go on from"):
        tc.load(tmp_path / "model.json").partial_fit(**part(MATCHES.sequence > 900))


def test_two_clocks():
    clocks = np.stack([MATCHES.time, np.abs(MATCHES.logits)], axis=1)
    surface = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=3))
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), surface)
    for start in (0, 400, 700):
        which = (MATCHES.sequence >= start) & (MATCHES.sequence < start + 300)
        cal.partial_fit(**{**part(which), "time": clocks[which]})
    assert cal.summary().n_groups == 900
    proba = cal.predict_proba(MATCHES.logits, time=clocks)
    raw = tc.metrics.nll(MATCHES.label, 1.0 / (1.0 + np.exp(-MATCHES.logits)))
    assert tc.metrics.nll(MATCHES.label, proba) < raw - 0.01


class TestChanges:
    def test_of_the_curve_are_refused(self):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        cal.partial_fit(**part(MATCHES.sequence < 200))
        for curve in (tc.Spline(clock="time"), tc.ExponentialDecay(), tc.PerStep()):
            with pytest.raises(InputError, match="curve is not the one of the first call"):
                cal.set_params(curve=curve).partial_fit(**part(MATCHES.sequence > 900))

    def test_of_the_calibrator_are_refused(self):
        cal = tc.TemporalCalibrator().partial_fit(**part(MATCHES.sequence < 200))
        cal.set_params(calibrator=tc.PlattScaling())
        with pytest.raises(InputError, match="calibrator is not the one of the first call"):
            cal.partial_fit(**part(MATCHES.sequence > 900))

    def test_from_one_time_to_several_are_refused(self):
        cal = tc.TemporalCalibrator().partial_fit(**part(MATCHES.time == 5))
        with pytest.raises(InputError, match="one time only in the first call"):
            cal.partial_fit(**part(MATCHES.sequence > 900))


class TestRefusals:
    @pytest.fixture
    def cal(self):
        return tc.TemporalCalibrator().partial_fit(**part(MATCHES.sequence < 200), classes=[0, 1])

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"groups": None}, "groups are missing, but were given before"),
            ({"classes": [0, 1, 2]}, r"classes are \[0, 1, 2\], but they were \[0, 1\]"),
            ({"y": np.full(5, 7)}, "7"),
            ({"keep": 0.0}, "keep must be a number above 0"),
            ({"keep": 1.5}, "keep must be a number above 0"),
            ({"logits": np.full(5, np.nan)}, "NaN"),
            ({"logits": np.zeros((5, 2))}, "2 features"),
            ({"time": np.full(5, "2026-01-01", dtype="datetime64[s]")}, "time was number"),
            ({"time": None}, "time"),
        ],
    )
    def test_leave_the_model_as_it_was(self, cal, changed, said):
        before = cal.predict_proba([1.0], time=[3])
        rows = part(np.arange(5))
        with pytest.raises(ValueError, match=said):
            cal.partial_fit(**{**rows, **changed})
        np.testing.assert_array_equal(cal.predict_proba([1.0], time=[3]), before)
        assert cal.summary().n_groups == 200

    def test_calibrators_without_coefficients(self):
        cal = tc.TemporalCalibrator(tc.IsotonicCalibration(), tc.PerStep())
        with pytest.raises(AttributeError, match="IsotonicCalibration has no coefficients"):
            cal.partial_fit(**part(MATCHES.sequence < 200))

    @pytest.mark.parametrize("name", ["models", "class_weights"])
    def test_damaged_files(self, cal, tmp_path, name):
        cal.save(tmp_path / "model.json")
        content = dict(read_document(tmp_path / "model.json"))
        content["learned"] = {**content["learned"], name: ["x"]}
        write_document(tmp_path / "forged.json", content)
        with pytest.raises(ModelFileError):
            tc.load(tmp_path / "forged.json")


def test_one_sequence_at_a_time():
    cal = tc.TemporalCalibrator().partial_fit(**part(MATCHES.sequence < 200), classes=[0, 1])
    for k in range(200, 230):
        cal.partial_fit(**part(MATCHES.sequence == k))
    at_once = tc.TemporalCalibrator().partial_fit(**part(MATCHES.sequence < 200))
    at_once.partial_fit(**part((MATCHES.sequence >= 200) & (MATCHES.sequence < 230)))
    assert abs(nll(cal) - nll(at_once)) < 1e-5
    assert cal.summary().details["batches"] == 31
