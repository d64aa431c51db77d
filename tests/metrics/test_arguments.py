import numpy as np
import pytest

from tempocal import metrics
from tempocal.errors import InputError

BINNED = [
    metrics.ece,
    metrics.max_calibration_error,
    metrics.classwise_ece,
    metrics.debiased_ece,
    metrics.reliability_curve,
]
OF = [
    metrics.ece,
    metrics.max_calibration_error,
    metrics.debiased_ece,
    metrics.reliability_curve,
    metrics.smooth_ece,
    metrics.brier,
]
THREE = [0, 1, 2], np.eye(3)


@pytest.mark.parametrize("metric", BINNED)
@pytest.mark.parametrize("bins", [0, -1, 2.5, "10", True, None, [0.0, 0.5, 1.0], np.nan])
def test_bins_must_be_a_whole_number(metric, bins):
    with pytest.raises(InputError, match="bins must be a whole number of at least 1, but it is"):
        metric([0, 1], [0.1, 0.2], bins=bins)


@pytest.mark.parametrize("metric", BINNED)
def test_bins_may_be_a_numpy_integer(metric):
    metric([0, 1, 0, 1], [0.1, 0.2, 0.1, 0.2], bins=np.int32(3))


@pytest.mark.parametrize("metric", BINNED)
@pytest.mark.parametrize("binning", ["uniform", None, ["equal_width"]])
def test_binning_must_be_known(metric, binning):
    with pytest.raises(InputError, match='binning must be "equal_width" or "equal_mass"'):
        metric([0, 1], [0.1, 0.2], binning=binning)


@pytest.mark.parametrize("metric", OF)
def test_of_must_be_known(metric):
    with pytest.raises(InputError, match=r'of must be ".*" or "positive_class", but it is 1'):
        metric([0, 1], [0.1, 0.2], of=1)


@pytest.mark.parametrize("metric", OF)
def test_positive_class_needs_two_classes(metric):
    with pytest.raises(InputError, match="needs two classes, but proba has 3: use of="):
        metric(*THREE, of="positive_class")
