"""Fits of temperatures make no copy of what they are given."""

import os
import tracemalloc

import numpy as np
import pytest

import tempocal as tc
from support.lanes import by_turns
from tempocal.kernels import key_counts, native
from tempocal.rows import compiled

pytestmark = [
    pytest.mark.skipif(
        native is None and not os.environ.get("TEMPOCAL_CI"), reason="NumPy sorts copies"
    ),
    # Nothing changes along time here.
    pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning"),
]

# Of half of them, too, there are enough in each of the cells that continuous times are put into.
N = 2_400_000
# For each byte more that a fit is given, the most that it may take beside.
SHARE = 0.2


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    z = 2.0 * rng.normal(size=(N, 3))
    found = {
        "logit": z[:, 0].copy(),
        "logits": z,
        "second": (rng.random(N) < 1 / (1 + np.exp(-0.6 * z[:, 0]))).astype(np.int64),
        "third": (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=1),
        "step": rng.integers(0, 36, N),
        "groups": np.arange(N) // 25,
        "sample_weight": rng.exponential(size=N),
        "fine": 50.0 * rng.random(N),
    }
    found["sorted"] = np.sort(found["step"])
    found["table"] = np.stack([np.zeros(N), z[:, 0]], axis=1)
    # What is loaded for the first fit is not counted.
    few = {name: column[:2000] for name, column in found.items()}
    for logits, labels in (("logit", "second"), ("logits", "third")):
        for weights in (None, few["sample_weight"]):
            given = {"groups": few["groups"], "sample_weight": weights}
            tc.TemporalCalibrator().fit(few[logits], few[labels], time=few["step"], **given)
    return found


@pytest.fixture(autouse=True)
def steady(set_cores, monkeypatch):
    """Let blocks of rows take the same memory, however many rows and cores there are."""
    set_cores(1)
    monkeypatch.setattr(key_counts, "LARGE_PART", 2**17)
    monkeypatch.setattr(compiled, "MAX_TABLES", 4)


def peak_of(calibrator, logits, labels, **named):
    tracemalloc.start()
    calibrator.fit(logits, labels, **named)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, sum(column.nbytes for column in (logits, labels, *named.values()))


def share_of(calibrator, logits, labels, **named):
    """How much more memory a fit takes, for each byte more that it is given."""
    half = N // 2
    few = {name: column[:half] for name, column in named.items()}
    least, less = peak_of(calibrator, logits[:half], labels[:half], **few)
    most, all_of_it = peak_of(calibrator, logits, labels, **named)
    return (most - least) / (all_of_it - less)


every_type = pytest.mark.parametrize("dtype", [np.float64, np.float32])
KINDS = [("logit", "second"), ("logits", "third")]


@every_type
@pytest.mark.parametrize(
    ("kind", "more"), by_turns(KINDS, [(), ("groups",), ("sample_weight",)], every=2), ids=str
)
def test_one_temperature(columns, kind, more, dtype):
    logits, labels = columns[kind[0]].astype(dtype, copy=False), columns[kind[1]]
    named = {name: columns[name] for name in more}
    assert share_of(tc.TemperatureScaling(shrinkage=0), logits, labels, **named) < 0.06


@pytest.mark.parametrize(
    ("kind", "more", "curve"),
    by_turns(
        KINDS,
        [(), ("groups",), ("sample_weight",), ("groups", "sample_weight")],
        [tc.PerStep(), tc.ExponentialDecay(), tc.Constant()],
        every=3,
    ),
    ids=str,
)
def test_along_time(columns, curve, kind, more):
    named = {name: columns[name] for name in more}
    cal = tc.TemporalCalibrator(curve=curve, shrinkage=0)
    found = share_of(cal, columns[kind[0]], columns[kind[1]], time=columns["step"], **named)
    assert found < SHARE


@pytest.mark.parametrize(
    ("kind", "time"), by_turns(KINDS, ["step", "sorted", "fine"], every=2), ids=str
)
def test_floats_along_time(columns, kind, time):
    logits, labels = columns[kind[0]].astype(np.float32), columns[kind[1]]
    cal = tc.TemporalCalibrator(shrinkage=0)
    assert share_of(cal, logits, labels, time=columns[time]) < SHARE


@pytest.mark.parametrize("gap", [3, 40, 10**9])
def test_ids_with_gaps(columns, gap):
    """Codes are made of them, of two bytes for half and of four for all, and little else."""
    cal, ids = tc.TemperatureScaling(shrinkage=0), gap * columns["groups"] - 5
    assert share_of(cal, columns["logit"], columns["second"], groups=ids) < 0.35


def test_of_two_columns_the_odds_are_all_that_is_made(columns):
    cal = tc.TemperatureScaling(shrinkage=0)
    assert share_of(cal, columns["table"], columns["second"]) == pytest.approx(1 / 3, abs=0.02)
