import numpy as np
import pytest

import tempocal as tc
from tempocal.calibrators.fit_data import check_rows
from tempocal.inputs import check_time
from tempocal.temporal.ece_over_time import ece_over_time


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_mean_that_over_time_gives(weighted):
    matches = tc.datasets.simulate_match(200)
    weight = np.random.default_rng(0).integers(1, 4, len(matches.label)) if weighted else None
    proba = np.stack([1 - matches.true_probability, matches.true_probability], axis=1)
    checked = check_rows(
        matches.logits,
        matches.label,
        inputs="logits",
        classes=None,
        times=check_time(matches.time, len(matches.time)),
        groups=None,
        sample_weight=weight,
    )
    expected = tc.metrics.over_time(
        tc.metrics.ece, matches.label, proba, matches.time, sample_weight=weight
    ).mean
    assert ece_over_time(proba, checked.data) == pytest.approx(expected, rel=1e-12)
