"""Curves that are given as functions of time: the logarithmic one, and what functions must be."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

import tempocal as tc
from support.matches import rows
from tempocal import extend


@pytest.mark.parametrize("unit", [0.3, 2.0, 50.0])
def test_the_logarithmic_curve_is_the_optimum_of_a_and_b(unit):
    z, y, time, _ = rows()

    def nll(theta):
        eta = (theta[0] + theta[1] * np.log1p((time - time.min()) / unit)) * z
        return np.sum(np.logaddexp(0.0, eta) - y * eta)

    found = minimize(nll, [1.0, 0.0], method="BFGS", options={"gtol": 1e-8})
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0), tc.Logarithmic(unit=unit))
    cal.fit(z, y, time=time)
    at = np.unique(time)
    wanted = found.x[0] + found.x[1] * np.log1p((at - at[0]) / unit)
    np.testing.assert_allclose(
        cal.parameters_at(at)["inverse_temperature"], wanted, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("unit", [0.0, -1.0, np.inf, np.nan, "long", True])
def test_a_unit_that_is_none_is_refused(unit):
    z, y, time, _ = rows()
    with pytest.raises(tc.errors.InputError, match="unit must be"):
        tc.TemporalCalibrator(curve=tc.Logarithmic(unit=unit)).fit(z, y, time=time)


@dataclass(frozen=True)
class Given(extend.FunctionCurve):
    """Functions of the share of time that has passed."""

    which: str

    def functions(self, time, times):
        passed = (time - times.first) / (times.last - times.first)
        left = 1.0 - passed
        return {
            "negative": (2.0 * passed, 1.0 - 2.0 * passed),
            "too much": (passed, 1.5 - passed),
            "undefined": (extend.log(passed), 1.0 - extend.log(passed)),
            "none": (),
            "bare": passed,
            "numbers": (0.25, 0.75),
            "three": (passed * passed, 2.0 * passed * left, left * left),
            "one": (passed + 1.0 - passed,),
        }[self.which]


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("negative", "must not be negative"),
        ("too much", "must sum to 1 at all times, but are off by 0.5"),
        ("undefined", "no finite value at time"),
        ("none", "there must be 1 to 100 functions"),
        ("bare", "must return a tuple of expressions"),
    ],
)
def test_functions_that_make_no_curve_are_refused(which, words):
    z, y, time, _ = rows()
    with pytest.raises(tc.errors.InputError, match=words):
        tc.TemporalCalibrator(curve=Given(which)).fit(z, y, time=time)


def test_one_function_is_the_constant(tmp_path):
    z, y, time, groups = rows()
    calibrator = tc.TemperatureScaling(shrinkage=2.0)
    one = tc.TemporalCalibrator(calibrator, Given("one")).fit(z, y, time=time, groups=groups)
    constant = tc.TemporalCalibrator(calibrator, tc.Constant()).fit(z, y, time=time, groups=groups)
    np.testing.assert_allclose(
        one.predict_proba(z, time=time), constant.predict_proba(z, time=time), atol=1e-9
    )


class NoDataclass(extend.FunctionCurve):
    def functions(self, time, times):
        return (1.0,)


def test_a_curve_must_be_a_dataclass():
    z, y, time, _ = rows()
    with pytest.raises(tc.errors.InputError, match="NoDataclass must be a dataclass"):
        tc.TemporalCalibrator(curve=NoDataclass()).fit(z, y, time=time)


@dataclass(frozen=True)
class Broken(extend.FunctionCurve):
    """A line that is broken at some times."""

    knots: tuple[float, ...] = (2.0,)

    def functions(self, time, times):
        passed = (extend.clamp(time, times.first, self.knots[-1]) - times.first) / self.knots[-1]
        return 1.0 - passed, passed


def test_settings_may_be_tuples(tmp_path):
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator(curve=Broken((3.0,))).fit(z, y, time=time)
    cal.save(tmp_path / "model.json")
    assert tc.load(tmp_path / "model.json").curve == Broken((3.0,))


@pytest.mark.parametrize("which", ["one", "three", "numbers"])
def test_any_number_of_functions_is_scored_alike(which, tmp_path):
    z, y, time, groups = rows()
    cal = tc.TemporalCalibrator(tc.PlattScaling(), Given(which))
    cal.fit(z, y, time=time, groups=groups).save(tmp_path / "model.json")
    score = tc.scorer.load(tmp_path / "model.json")
    found = [score(float(a), float(b)) for a, b in zip(z[:50], time[:50], strict=True)]
    np.testing.assert_allclose(found, cal.predict_proba(z[:50], time=time[:50])[:, 1], atol=1e-14)
    times = [time.min() - 10.0, time.max() + 10.0]
    held = cal.parameters_at([time.min(), time.max()])["slope"]
    np.testing.assert_array_equal(cal.parameters_at(times)["slope"], held)
