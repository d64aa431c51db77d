"""What is passed in the wrong place is answered with a sentence that says what to pass."""

import inspect

import pytest

import tempocal as tc
from tempocal.errors import InputError

M = tc.datasets.simulate_match(20)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: tc.TemporalCalibrator("platt"), r"it is 'platt': pass PlattScaling\(\)$"),
        (lambda: tc.TemporalCalibrator("temprature"), "it is 'temprature'"),
        (lambda: tc.TemporalCalibrator(tc.PlattScaling), r"pass PlattScaling\(\), with parenth"),
        (
            lambda: tc.TemporalCalibrator(tc.Spline(), tc.PlattScaling()),
            "the calibrator comes first, the curve second",
        ),
        (lambda: tc.TemporalCalibrator(curve=tc.Spline), r"pass Spline\(\), with parentheses"),
        (lambda: tc.TemporalCalibrator(curve="random-walk"), r"pass RandomWalk\(\)$"),
        (
            lambda: tc.TemporalCalibrator(curve=tc.BetaCalibration()),
            "the calibrator comes first, the curve second",
        ),
        (
            lambda: tc.AutoTemporalCalibrator(tc.TemperatureScaling()),
            r"candidates must be a list .*: pass \[TemperatureScaling\(\)\]$",
        ),
        (lambda: tc.AutoTemporalCalibrator("platt"), "candidates must be a list"),
        (lambda: tc.AutoTemporalCalibrator(tc.PlattScaling), "candidates must be a list"),
        (lambda: tc.AutoTemporalCalibrator(3), "candidates must be a list"),
        (lambda: tc.AutoTemporalCalibrator([tc.PlattScaling]), r"pass PlattScaling\(\), with par"),
        (
            lambda: tc.AutoTemporalCalibrator([(tc.Spline(), tc.PlattScaling())]),
            "the calibrator comes first, the curve second",
        ),
        (
            lambda: tc.AutoTemporalCalibrator([(tc.PlattScaling(), "spline")]),
            r"pass Spline\(\)$",
        ),
    ],
)
def test_in_place_of_a_calibrator_or_a_curve(made, said):
    with pytest.raises(InputError, match=said):
        made().fit(M.logits, M.label, time=M.time, groups=M.sequence)


@pytest.mark.parametrize("name", ["time", "sequence", "order"])
@pytest.mark.parametrize("cal", [tc.PlattScaling(), tc.IsotonicCalibration(), tc.Identity()])
def test_time_of_a_calibrator_without_time(cal, name):
    with pytest.raises(InputError, match=f"{type(cal).__name__} .*{name}=.*TemporalCalibrator"):
        cal.fit(M.logits, M.label, **{name: M.time})


def test_time_of_predictions_without_time():
    cal = tc.PlattScaling().fit(M.logits, M.label)
    with pytest.raises(InputError, match="PlattScaling does not change along time"):
        cal.predict_proba(M.logits, time=M.time)


def test_signatures_show_what_is_taken():
    assert list(inspect.signature(tc.PlattScaling.fit).parameters) == [
        *("self", "logits", "y", "sample_weight", "groups", "soft_label")
    ]
    assert str(inspect.signature(tc.PlattScaling.predict_proba)).startswith("(self, logits: Any)")


@pytest.mark.parametrize(
    "function", [tc.metrics.over_time, tc.metrics.ece, tc.live.Monitor.replay, tc.clocks.elapsed]
)
def test_signatures_can_be_read(function):
    text = str(inspect.signature(function))
    assert "_SupportsArray" not in text
    assert len(text) < 500
