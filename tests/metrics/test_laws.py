"""Laws that every metric obeys."""

import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from tempocal import metrics
from tempocal.errors import InputError

OF_ANY_K = {
    "nll": metrics.nll,
    "nll clipped": partial(metrics.nll, clip=1e-3),
    "brier": metrics.brier,
    "ece": metrics.ece,
    "ece, equal mass": partial(metrics.ece, binning="equal_mass", bins=4),
    "classwise ece": metrics.classwise_ece,
    "classwise ece, equal mass": partial(metrics.classwise_ece, binning="equal_mass", bins=3),
    "debiased ece": partial(metrics.debiased_ece, bins=3),
    "debiased ece, equal width": partial(metrics.debiased_ece, binning="equal_width", bins=4),
    "max calibration error": metrics.max_calibration_error,
    "smooth ece": metrics.smooth_ece,
}
OF_TWO = {
    "brier, positive class": partial(metrics.brier, of="positive_class"),
    "ece, positive class": partial(metrics.ece, of="positive_class"),
    "smooth ece, positive class": partial(metrics.smooth_ece, of="positive_class"),
}
any_metric = pytest.mark.parametrize("metric", OF_ANY_K.values(), ids=OF_ANY_K)
binary_metric = pytest.mark.parametrize(
    "metric", (OF_ANY_K | OF_TWO).values(), ids=OF_ANY_K | OF_TWO
)


def known(metric, *arguments, **settings):
    """Value of a metric, NaN where it refuses because no bin has the two rows that it needs."""
    try:
        return metric(*arguments, **settings)
    except InputError as error:
        if "take fewer bins" not in str(error):
            raise
        return np.nan


@st.composite
def coarse_rows(draw):
    """Codes, probabilities and whole weights, with many ties, zeros and ones."""
    n_classes = draw(st.integers(2, 4))
    shares = st.lists(st.integers(0, 4), min_size=n_classes, max_size=n_classes).filter(any)
    row = st.tuples(st.integers(0, n_classes - 1), shares, st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=25).filter(lambda rows: any(r[2] for r in rows)))
    codes, parts, weight = (np.array(column) for column in zip(*rows, strict=True))
    return codes, parts / parts.sum(axis=1, keepdims=True), weight


def simulate(n=300, n_classes=3, seed=0):
    random = np.random.default_rng(seed)
    proba = random.dirichlet(np.ones(n_classes), size=n)
    codes = (random.random(n)[:, None] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return codes, proba, random


@any_metric
@examples(30)
@given(rows=coarse_rows())
def test_weight_is_repetition(metric, rows):
    codes, proba, weight = rows
    classes = np.arange(proba.shape[1])
    repeated = np.repeat(np.arange(len(codes)), weight)
    weighted = known(metric, codes, proba, sample_weight=weight, classes=classes)
    alone = known(metric, codes[repeated], proba[repeated], classes=classes)
    assert weighted == pytest.approx(alone, rel=1e-7, abs=1e-8, nan_ok=True)


@any_metric
@examples(30)
@given(rows=coarse_rows(), seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_is_nothing(metric, rows, seed):
    codes, proba, weight = rows
    classes = np.arange(proba.shape[1])
    order = np.random.default_rng(seed).permutation(len(codes))
    inputs = codes[order], proba[order]
    shuffled = known(metric, *inputs, sample_weight=weight[order], classes=classes)
    straight = known(metric, codes, proba, sample_weight=weight, classes=classes)
    assert shuffled == pytest.approx(straight, rel=1e-7, abs=1e-8, nan_ok=True)


@any_metric
def test_order_of_classes_is_nothing(metric):
    codes, proba, _ = simulate()
    classes, order = np.array(["x", "y", "z"]), [2, 0, 1]
    turned = metric(classes[codes], proba[:, order], classes=classes[order])
    assert turned == pytest.approx(metric(codes, proba), rel=1e-9)


@any_metric
def test_scale_of_weights_is_nothing_but_to_debiasing(metric):
    codes, proba, random = simulate()
    weight = random.integers(1, 4, len(codes))
    same = metric(codes, proba, sample_weight=weight) == pytest.approx(
        metric(codes, proba, sample_weight=0.1 * weight), rel=1e-9
    )
    # Weights count rows, and fewer rows are noisier: only the debiased error looks at how many.
    assert same == (getattr(metric, "func", metric) is not metrics.debiased_ece)


@binary_metric
def test_one_column_is_the_second_class(metric):
    codes, proba, _ = simulate(n_classes=2)
    expected = metric(codes, proba)
    for column in (proba[:, 1], proba[:, [1]]):
        assert metric(codes, column) == pytest.approx(expected, rel=1e-12)


@binary_metric
@pytest.mark.parametrize(
    "rename",
    [
        lambda codes: codes + 1,
        lambda codes: codes == 1,
        lambda codes: codes.astype(np.float32),
        lambda codes: np.where(codes == 1, "won", "lost"),
        lambda codes: pd.Series(codes, index=codes),
        lambda codes: pl.Series(np.where(codes == 1, "b", "a")),
        lambda codes: codes.tolist(),
    ],
    ids=["1 and 2", "bool", "float", "text", "pandas", "polars", "list"],
)
def test_labels_are_of_any_kind(metric, rename):
    codes, proba, _ = simulate(n=50, n_classes=2)
    assert metric(rename(codes), proba) == metric(codes, proba)


@binary_metric
def test_class_that_does_not_occur(metric):
    with pytest.raises(InputError, match="classes="):
        metric(["b"] * 4, [0.9, 0.9, 1.0, 1.0])
    assert 0 <= metric(["b"] * 4, [0.9, 0.9, 1.0, 1.0], classes=["a", "b"]) < 0.2


@any_metric
def test_certain_and_right_is_zero(metric):
    value = metric([0, 1, 2, 1], np.eye(3)[[0, 1, 2, 1]])
    assert value == 0
    assert not np.signbit(value)


@binary_metric
@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("proba contains NaN .first at row 1", {"proba": [0.1, np.nan, 0.3]}),
        ("proba must lie in", {"proba": [0.1, 1.2, 0.3]}),
        ("proba must lie in", {"proba": [0.1, -0.2, 0.3]}),
        ("must sum to 1", {"proba": [[0.5, 0.4], [0.5, 0.5], [1.0, 0.0]]}),
        ("proba is empty", {"y": [], "proba": []}),
        ("y has 2 entries", {"y": [0, 1]}),
        ("contains NaN", {"y": [0, np.nan, 1]}),
        ("label 7, which is not among the classes", {"y": [0, 1, 7], "classes": [0, 1]}),
        ("3 classes", {"y": [0, 1, 7]}),
        ("sample_weight has 2 entries", {"sample_weight": [1, 1]}),
        ("sample_weight must not be negative", {"sample_weight": [1, -1, 1]}),
        ("sample_weight is zero everywhere", {"sample_weight": [0, 0, 0]}),
    ],
)
def test_bad_rows_are_refused(metric, message, change):
    arguments = {"y": [0, 1, 1], "proba": [0.1, 0.2, 0.3]} | change
    with pytest.raises(InputError, match=message):
        metric(arguments.pop("y"), arguments.pop("proba"), **arguments)


def test_import_is_light():
    code = "import sys, tempocal.metrics; print({'scipy', 'sklearn', 'pandas'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert printed.stdout.strip() == b"set()"
