"""Metrics of logits: exact where a sigmoid rounds, and one rule for what is certain."""

from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tempocal as tc
from tempocal.errors import InputError, LooksLikeProbabilitiesWarning
from tempocal.links import proba_from_logits
from tempocal.metrics import (
    brier,
    classwise_ece,
    debiased_ece,
    ece,
    gain,
    martingale_check,
    max_calibration_error,
    nll,
    over_time,
    over_time_table,
    overconfidence,
    reliability_curve,
    sampling_floor,
    smooth_ece,
    with_interval,
    with_interval_table,
)

METRICS = [
    nll,
    brier,
    ece,
    classwise_ece,
    debiased_ece,
    max_calibration_error,
    overconfidence,
    smooth_ece,
]
MATCHES = tc.datasets.simulate_match(60, seed=4)
SIZES = [1e-9, 0.3, 3.0, 36.0, 50.0, 300.0, 700.0]


def three_classes(rows=300):
    rng = np.random.default_rng(0)
    logits = 3.0 * rng.normal(size=(rows, 3))
    return logits, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def exact_loss(logits, label):
    """Log of the sum of exponentials minus the logit of the label, with 800 digits."""
    with localcontext() as context:
        context.prec = 800
        numbers = [Decimal(float(z)) for z in logits]
        top = max(numbers)
        total = sum((z - top).exp() for z in numbers)
        return float(total.ln() + top - numbers[label])


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_of_logits_is_that_of_their_probabilities(metric):
    z, y = MATCHES.logits, MATCHES.label
    want = metric(y, proba_from_logits(z))
    assert metric(y, z, inputs="logits") == pytest.approx(want, rel=1e-12)
    assert metric(y, z[:, None], inputs="logits") == pytest.approx(want, rel=1e-12)
    many, labels = three_classes()
    want = metric(labels, proba_from_logits(many))
    assert metric(labels, many, inputs="logits") == pytest.approx(want, rel=1e-12)


def test_those_without_labels_and_over_time_take_logits_too():
    z, y, t, match = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence
    p = proba_from_logits(z)
    same = {"inputs": "logits"}
    assert sampling_floor(z, n_draws=5, **same) == sampling_floor(p, n_draws=5)
    assert martingale_check(z, sequence=match, **same).z == martingale_check(p, sequence=match).z
    np.testing.assert_array_equal(
        reliability_curve(y, z, groups=match, **same).frequency,
        reliability_curve(y, p, groups=match).frequency,
    )
    for metric in (nll, ece, smooth_ece):
        found = over_time(metric, y, z, t, bins=3, sequence=match, **same)
        want = over_time(metric, y, p, t, bins=3, sequence=match)
        for name in ("value", "lower", "upper", "floor"):
            np.testing.assert_allclose(found.columns()[name], want.columns()[name], rtol=1e-9)
        alone = with_interval(metric, y, z, sequence=match, **same)
        assert alone == pytest.approx(float(with_interval(metric, y, p, sequence=match)))
    assert gain(nll, y, z, p, inputs=("logits", "proba")) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_nll_is_exact_for_logits_of_any_size(size, sign):
    """As arrays and in tables, of one column and of three; a sigmoid would round."""
    for label in (0, 1):
        want = exact_loss([0.0, sign * size], label)
        rows = pd.DataFrame({"z": [sign * size] * 2, "y": [label] * 2})
        given = {"label": "y", "logits": "z", "classes": [0, 1]}
        assert with_interval_table(nll, rows, **given) == pytest.approx(want, rel=1e-12)
        found = nll(rows["y"], rows["z"], inputs="logits", classes=[0, 1])
        assert found == pytest.approx(want, rel=1e-12)
    for label in range(3):
        logits = [sign * size, 0.5, -0.25 * size]
        want = exact_loss(logits, label)
        rows = pl.DataFrame({f"z{k}": [z] * 2 for k, z in enumerate(logits)} | {"y": [label] * 2})
        given = {"label": "y", "logits": ["z0", "z1", "z2"], "classes": [0, 1, 2]}
        assert with_interval_table(nll, rows, **given) == pytest.approx(want, rel=1e-12)
        found = nll([label], [logits], inputs="logits", classes=[0, 1, 2])
        assert found == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("size", [800.0, 1e6, 2.0**53])
def test_a_wrong_logit_costs_what_it_says(size):
    rows = pd.DataFrame({"z": [size, -size], "y": [0, 1]})
    assert nll(rows["y"], rows["z"], inputs="logits") == size
    assert nll([0, 1], np.float32([[0.0, 800.0], [800.0, 0.0]]), inputs="logits") == 800.0
    assert with_interval_table(nll, rows, label="y", logits="z") == size
    assert nll([1, 0], [size, -size], inputs="logits") == pytest.approx(0.0, abs=1e-300)


@pytest.mark.parametrize(
    ("logits", "label", "loss"),
    [
        (np.inf, 1, 0.0),
        (np.inf, 0, np.inf),
        (-np.inf, 0, 0.0),
        (-np.inf, 1, np.inf),
        ([np.inf, 3.0, 1.0], 0, 0.0),
        ([np.inf, 3.0, 1.0], 1, np.inf),
        ([-np.inf, 0.0, 0.0], 1, np.log(2.0)),
        ([-np.inf, 0.0, 0.0], 0, np.inf),
    ],
)
def test_what_is_impossible_and_happened_costs_infinity(logits, label, loss):
    """As a probability of 0 does, in arrays and in tables; a clip limits it."""
    columns = np.atleast_1d(logits)
    classes = np.arange(max(len(columns), 2))
    given = {"inputs": "logits", "classes": classes}
    assert nll([label] * 2, [columns] * 2, **given) == pytest.approx(loss, abs=1e-15)
    rows = pl.DataFrame({f"z{k}": [z] * 2 for k, z in enumerate(columns)} | {"y": [label] * 2})
    names = [f"z{k}" for k in range(len(columns))]
    table = {"label": "y", "logits": names, "classes": classes}
    assert with_interval_table(nll, rows, **table) == pytest.approx(loss, abs=1e-15)
    limited = partial(nll, clip=1e-6)
    highest = min(loss, -np.log(1e-6))
    assert limited([label] * 2, [columns] * 2, **given) == pytest.approx(highest, abs=1e-15)
    assert with_interval_table(limited, rows, **table) == pytest.approx(highest, abs=1e-15)


def test_an_infinite_logit_is_a_probability_of_0_or_1():
    z = np.array([np.inf, -np.inf, np.inf, 0.5])
    p = np.array([1.0, 0.0, 1.0, 1.0 / (1.0 + np.exp(-0.5))])
    y = [1, 0, 0, 1]
    for metric in (brier, ece, overconfidence):
        assert metric(y, z, inputs="logits") == pytest.approx(float(metric(y, p)), rel=1e-15)


def test_weights_soft_labels_and_rows_of_weight_zero_keep_their_logits():
    z, y = np.array([800.0, -2.0, 1.0]), np.array([0, 0, 1])
    weighted = nll(y, z, inputs="logits", sample_weight=[0.0, 2.0, 1.0])
    assert weighted == pytest.approx(nll([0, 0, 1], [-2.0, -2.0, 1.0], inputs="logits"))
    soft = nll([0.25, 1.0], [800.0, 0.0], inputs="logits", soft_label=True)
    assert soft == pytest.approx((0.75 * 800.0 + np.log(2.0)) / 2)


def test_tables_over_time_take_logits():
    frame = pl.DataFrame(
        {"z": MATCHES.logits, "y": MATCHES.label, "t": MATCHES.time, "m": MATCHES.sequence}
    )
    named = {"label": "y", "time": "t", "sequence": "m", "bins": 3}
    for metric in (nll, ece):
        found = over_time_table(metric, frame, logits="z", **named)
        want = over_time(
            metric,
            MATCHES.label,
            MATCHES.logits,
            MATCHES.time,
            sequence=MATCHES.sequence,
            bins=3,
            inputs="logits",
        )
        np.testing.assert_allclose(found.value, want.value, rtol=1e-12)
        np.testing.assert_allclose(found.lower, want.lower, rtol=1e-9)


def test_what_they_are_is_said_and_never_guessed():
    with pytest.raises(InputError, match=r"must lie in \[0, 1\].*say inputs=\"logits\""):
        nll([0, 1], [-1.0, 2.0])
    with pytest.raises(InputError, match='inputs must be "logits" or "proba", but it is \'odds\''):
        nll([0, 1], [0.5, 0.5], inputs="odds")
    with pytest.raises(InputError, match="a pair of them, for before and after"):
        gain(nll, [0, 1], [0.5, 0.5], [0.5, 0.5], inputs=("logits",))
    with pytest.raises(InputError, match="'inputs' of its own"):
        over_time(partial(nll, inputs="logits"), [0, 1], [0.5, 0.5], [0, 1])
    with pytest.raises(InputError, match="after"):
        gain(nll, [0, 1], [0.5, 0.5], [0.5, np.nan])
    with pytest.raises(InputError, match="several certain ones"):
        nll([0, 1], [[np.inf, np.inf, 0.0]] * 2, inputs="logits", classes=[0, 1, 2])
    with pytest.warns(LooksLikeProbabilitiesWarning):
        nll([0, 1] * 50, np.linspace(0.01, 0.99, 100), inputs="logits")
