import numpy as np
import pytest

from tempocal import metrics
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
