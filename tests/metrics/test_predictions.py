from functools import partial

import numpy as np
import pytest

import tempocal as tc
from tempocal import metrics
from tempocal.errors import InputError
from tempocal.metrics import predictions
from tempocal.metrics.predictions import row_blocks


@pytest.mark.parametrize(
    "metric", [metrics.nll, metrics.brier, metrics.ece, metrics.smooth_ece, metrics.classwise_ece]
)
def test_blocks_are_nothing_to_the_result(metric, monkeypatch):
    random = np.random.default_rng(0)
    proba, weight = random.dirichlet(np.ones(3), size=100), random.exponential(size=100)
    y = random.integers(0, 3, 100)
    whole = metric(y, proba), metric(y, proba, sample_weight=weight)
    monkeypatch.setattr(predictions, "BLOCK_NUMBERS", 21)
    assert (metric(y, proba), metric(y, proba, sample_weight=weight)) == pytest.approx(whole)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 1), (2**17 + 1, 1), (70, 2**14), (3, 2**20)])
def test_blocks_hold_every_row_once(n_rows, n_columns):
    blocks = [np.arange(n_rows)[part] for part in row_blocks(n_rows, n_columns)]
    np.testing.assert_array_equal(np.concatenate(blocks), np.arange(n_rows))
    assert max(len(block) for block in blocks) * n_columns <= max(2**16, n_columns)


MATCHES = tc.datasets.simulate_match(60)
PROBA, SERIES = 1 / (1 + np.exp(-MATCHES.logits)), MATCHES.sequence // 4
LABELED = MATCHES.label, PROBA
GROUPED = {
    "over_time": partial(metrics.over_time, metrics.ece, *LABELED, MATCHES.time, bins=3),
    "with_interval": partial(metrics.with_interval, metrics.nll, *LABELED),
    "gain": partial(metrics.gain, metrics.nll, *LABELED, MATCHES.true_probability),
    "reliability_curve": partial(metrics.reliability_curve, *LABELED),
    "sampling_floor": partial(metrics.sampling_floor, PROBA, n_draws=5),
}


def numbers(found):
    return {name: repr(value) for name, value in vars(found).items()} | {"itself": repr(found)}


@pytest.mark.parametrize("name", GROUPED)
def test_sequences_are_what_is_independent_unless_groups_are(name):
    measure, sequence = GROUPED[name], MATCHES.sequence
    assert numbers(measure(sequence=sequence)) == numbers(measure(groups=sequence))
    assert numbers(measure(sequence=sequence, groups=SERIES)) == numbers(measure(groups=SERIES))
    assert numbers(measure(groups=SERIES)) != numbers(measure(groups=sequence))


@pytest.mark.parametrize("name", GROUPED)
def test_groups_hold_whole_sequences(name):
    with pytest.raises(InputError, match=r"groups must be .* the sequence 0: a group holds whole"):
        GROUPED[name](sequence=MATCHES.sequence, groups=np.arange(len(PROBA)))
    missing = np.where(np.arange(len(PROBA)) == 3, np.nan, MATCHES.sequence)
    with pytest.raises(InputError, match=r"sequence contains a missing id .first at row 3"):
        GROUPED[name](sequence=missing)


def test_sequences_of_rows_without_weight_are_left_out():
    weight = (MATCHES.sequence >= 10).astype(float)
    measure = GROUPED["with_interval"]
    by_sequence = measure(sequence=MATCHES.sequence, sample_weight=weight)
    assert numbers(by_sequence) == numbers(measure(groups=MATCHES.sequence, sample_weight=weight))
