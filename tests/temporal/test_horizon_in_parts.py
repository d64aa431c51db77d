"""Fits that learn from forecasts: rows in parts, and model files that remember the horizon."""

from itertools import pairwise

import numpy as np
import pytest

import tempocal as tc
from support.matches import rows as old_rows
from tempocal import scorer
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.modelfile import read_document, write_document
from tempocal.modelfile.envelope import wrap
from tempocal.modelfile.json_text import lay_out

MATCHES = tc.datasets.simulate_match(400, seed=3)
TIMES = np.arange(0, 24, 3.0)
PAIRS = [
    (tc.TemperatureScaling(shrinkage=2.0), tc.Spline(smoothness=3.0)),
    (tc.PlattScaling(shrinkage=2.0), tc.PerStep()),
    (tc.PlattScaling(shrinkage=2.0), tc.Constant()),
    (tc.BetaCalibration(shrinkage=2.0), tc.RandomWalk(smoothness=3.0)),
]


def part(which=slice(None), **more):
    m = MATCHES
    given = {"logits": m.logits, "y": m.label, "time": m.time, "sequence": m.sequence, **more}
    return {name: values[which] for name, values in given.items()}


def batches(*edges):
    for start, end in pairwise(edges):
        yield part((MATCHES.sequence >= start) & (MATCHES.sequence < end))


def learned(cal, *edges):
    for rows in batches(*edges):
        cal.partial_fit(**rows)
    return cal


def distance(one, other):
    """Largest difference of a parameter, in widths of its band."""
    bands = other.interval_at(TIMES)
    pairs = zip(one.parameters_at(TIMES).items(), other.parameters_at(TIMES).values(), strict=True)
    return max(
        float((np.abs(a - b) / (bands[name].upper - bands[name].lower)).max())
        for (name, a), b in pairs
    )


@pytest.mark.parametrize(("calibrator", "curve"), PAIRS, ids=repr)
class TestInParts:
    def make(self, calibrator, curve, horizon=0.2):
        return tc.TemporalCalibrator(calibrator, curve, td_horizon=horizon)

    def test_two_batches_are_nearly_the_fit_to_all_rows(self, calibrator, curve):
        fitted = self.make(calibrator, curve).fit(**part())
        updated = learned(self.make(calibrator, curve), 0, 200, 400)
        outcomes = self.make(calibrator, curve, np.inf).fit(**part())
        assert distance(updated, fitted) < 0.03
        # Much nearer than what does not learn from forecasts.
        assert distance(updated, fitted) < 0.2 * distance(outcomes, fitted)
        for name, band in updated.interval_at(TIMES).items():
            expected = fitted.interval_at(TIMES)[name]
            widths = (band.upper - band.lower) / (expected.upper - expected.lower)
            np.testing.assert_allclose(widths, 1.0, atol=0.12)

    def test_errors_of_small_batches_do_not_add_up(self, calibrator, curve):
        fitted = self.make(calibrator, curve).fit(**part())
        updated = learned(self.make(calibrator, curve), 0, 100, *range(120, 401, 20))
        assert distance(updated, fitted) < 0.1

    def test_a_loaded_model_goes_on_as_the_saved_one(self, calibrator, curve, tmp_path):
        cal = learned(self.make(calibrator, curve), 0, 200)
        cal.save(tmp_path / "model.json")
        again = tc.load(tmp_path / "model.json")
        for one in (cal, again):
            learned(one, 200, 300)
        for name, values in cal.parameters_at(TIMES).items():
            np.testing.assert_array_equal(again.parameters_at(TIMES)[name], values)


class TestLaterCalls:
    @pytest.fixture
    def cal(self):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        return learned(cal, 0, 60)

    def test_keep_horizon_and_typical_length(self, cal):
        before = cal._sequences
        learned(cal, 60, 400)
        assert cal._sequences == before
        assert before.mean_length == (MATCHES.sequence < 60).sum() / 60
        assert cal.td_horizon_ == 0.1
        assert "td horizon: 0.1" in str(cal.summary())
        assert cal.summary_.n_groups == 400

    def test_of_new_steps_have_coefficients_of_their_own(self):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(), td_horizon=0.2)
        cal.partial_fit(**part(MATCHES.time < 10)).partial_fit(**part(MATCHES.sequence >= 200))
        assert np.ptp(cal.parameters_at(np.arange(10, 20))["inverse_temperature"]) > 0.0

    def test_forget(self):
        def make():
            calibrator, curve = PAIRS[0]
            return tc.TemporalCalibrator(calibrator, curve, td_horizon=0.2)

        cal = learned(make(), 0, 200).partial_fit(**part(MATCHES.sequence >= 200), keep=1e-9)
        alone = make().fit(**part(MATCHES.sequence >= 200))
        # The typical length is that of the first call.
        assert distance(cal, alone) < 0.02

    def test_need_sequences(self, cal):
        rows = part(MATCHES.sequence < 10)
        rows["groups"] = rows.pop("sequence")
        with pytest.raises(InputError, match=r"learned from forecasts, 0\.1 sequences ahead"):
            cal.partial_fit(**rows)

    def test_need_one_label_for_each_sequence(self, cal):
        rows = part(MATCHES.sequence < 10)
        rows["y"] = np.where(np.arange(len(rows["y"])) == 3, 1 - rows["y"], rows["y"])
        before = cal.decision_function(MATCHES.logits, time=MATCHES.time)
        with pytest.raises(InputError, match="differs within the sequence 0: fit a new model"):
            cal.partial_fit(**rows)
        np.testing.assert_array_equal(
            cal.decision_function(MATCHES.logits, time=MATCHES.time), before
        )

    def test_of_a_model_of_outcomes_learn_from_outcomes(self):
        def make():
            cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=np.inf)
            return learned(cal, 0, 200)

        rows = part(MATCHES.sequence >= 200)
        by_sequence = make().partial_fit(**rows)
        rows["groups"] = rows.pop("sequence")
        by_group = make().partial_fit(**rows)
        np.testing.assert_array_equal(
            by_sequence.parameters_at(TIMES)["slope"], by_group.parameters_at(TIMES)["slope"]
        )


class TestTracker:
    @pytest.mark.parametrize("curve", [tc.Spline(), tc.PerStep()], ids=repr)
    def test_learns_with_the_horizon_of_its_model(self, tmp_path, curve):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), curve).fit(**part(MATCHES.sequence < 60))
        assert cal.td_horizon_ == 0.1
        with tc.live.SequenceTracker(tmp_path, cal) as tracker:
            for name in range(60, 80):
                for row in np.flatnonzero(MATCHES.sequence == name):
                    tracker.observe(name, MATCHES.logits[row], time=MATCHES.time[row])
                tracker.finish(name, MATCHES.label[row])
            history = tracker.history()
        expected = learned(cal, *range(60, 81))
        with tc.live.SequenceTracker(tmp_path) as tracker:
            for name, values in expected.parameters_at(TIMES).items():
                np.testing.assert_array_equal(tracker.calibrator.parameters_at(TIMES)[name], values)
        again = tc.TemporalCalibrator(td_horizon=0.1).fit(**history)
        assert again.summary_.n_groups == 20


class TestFile:
    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "model.json"

    def fitted(self, horizon="auto", **more):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=horizon)
        return cal.fit(**part(MATCHES.sequence < 60, **more))

    @pytest.mark.parametrize("horizon", ["auto", 0.3, 1, 1e-300, 1e300])
    def test_remembers_the_horizon(self, path, horizon):
        cal = self.fitted(horizon)
        cal.save(path)
        again, before = tc.load(path), path.read_bytes()
        assert b'"schema": 2' in before
        assert repr(again) == repr(cal)
        assert (again.td_horizon_, again._sequences) == (cal.td_horizon_, cal._sequences)
        assert again.summary() == cal.summary()
        again.save(path)
        assert path.read_bytes() == before
        proba = cal.predict_proba(MATCHES.logits[:1], time=MATCHES.time[:1])
        one = scorer.load(path)(float(MATCHES.logits[0]), float(MATCHES.time[0]))
        assert one == pytest.approx(proba[0, 1], rel=1e-12)

    @pytest.mark.parametrize("horizon", ["auto", np.inf])
    def test_of_outcomes_is_one_of_the_first_schema(self, path, horizon):
        z, y, time, groups = old_rows()
        cal = tc.TemporalCalibrator(curve=tc.Spline(clock="log"), td_horizon=horizon)
        cal.fit(z, y, time=time, groups=groups).save(path)
        content = read_document(path)
        assert b'"schema": 1' in path.read_bytes()
        assert set(content["parameters"]) == {"calibrator", "curve", "shrinkage", "time_column"}
        assert "sequences" not in content
        again = tc.load(path)
        assert (again.td_horizon, again.td_horizon_) == (horizon, np.inf)

    def test_of_the_first_version_learned_from_outcomes(self, path):
        z, y, time, groups = old_rows()
        cal = tc.TemporalCalibrator(curve=tc.Spline(), td_horizon=np.inf)
        cal.fit(z, y, time=time, groups=groups).save(path)
        assert not any("horizon" in name for name in read_document(path)["summary"]["details"])
        assert tc.load(path).td_horizon == np.inf

    def test_remembers_the_column_of_the_sequences(self, path):
        X = np.column_stack([MATCHES.logits, MATCHES.time, MATCHES.sequence])
        cal = tc.TemporalCalibrator(time_column=1, sequence_column=2).fit(X, MATCHES.label)
        cal.save(path)
        again = tc.load(path)
        assert again.sequence_column == 2
        np.testing.assert_array_equal(again.predict_proba(X), cal.predict_proba(X))
        assert scorer.load(path).columns == 1

    def test_of_auto_is_as_before(self, path):
        pairs = [(tc.TemperatureScaling(), tc.Spline(clock="log"))]
        auto = tc.AutoTemporalCalibrator(pairs, combine="choose").fit(**part(MATCHES.sequence < 60))
        auto.save(path)
        assert repr(tc.load(path).best_) == repr(auto.best_)
        assert auto.best_.td_horizon_ == np.inf
        assert b'"schema": 1' in path.read_bytes()

    @pytest.mark.parametrize(
        "wrong", [0, -0.1, np.nan, np.inf, "0.1", True, None, {"float": "inf"}]
    )
    @pytest.mark.parametrize("where", ["parameters", "sequences"])
    def test_forged_horizons_are_refused(self, path, where, wrong):
        self.refuse(path, where, "td_horizon", wrong)

    @pytest.mark.parametrize("wrong", [0.5, 0, -3.0, np.nan, np.inf, "9", True, None])
    def test_forged_lengths_are_refused(self, path, wrong):
        self.refuse(path, "sequences", "mean_length", wrong)

    @pytest.mark.parametrize("wrong", [1.5, True, [], 7, "no such column", 0])
    def test_forged_columns_of_sequences_are_refused(self, path, wrong):
        self.refuse(path, "parameters", "sequence_column", wrong)

    def refuse(self, path, where, name, wrong):
        self.fitted().save(path)
        content = read_document(path)
        is_odd = isinstance(wrong, float) and not np.isfinite(wrong)
        content[where][name] = 7777.25 if is_odd else wrong
        odd = "Infinity" if wrong == np.inf else "NaN"
        text = "".join(lay_out(content)).replace("7777.25", odd)
        path.write_bytes(wrap(text.encode(), 2))
        with pytest.raises(DamagedModelFileError):
            tc.load(path)

    def test_another_horizon_than_was_asked_for_is_refused(self, path):
        self.fitted(0.3).save(path)
        content = read_document(path)
        content["sequences"]["td_horizon"] = 0.2
        write_document(path, content, schema=2)
        with pytest.raises(DamagedModelFileError, match="not the horizon that the model learned"):
            tc.load(path)

    @pytest.mark.parametrize("entry", ["moving", "sequences"])
    def test_half_of_what_was_learned_is_refused(self, path, entry):
        learned(tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline()), 0, 60).save(path)
        content = read_document(path)
        if entry == "moving":
            del content["learned"]["models"][0]["moving"]
        else:
            del content["sequences"]
            content["parameters"]["td_horizon"] = 0.1
        write_document(path, content, schema=2)
        with pytest.raises(DamagedModelFileError, match="not of the model's td_horizon"):
            tc.load(path)
