"""What every calibrator does with every kind of input."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.special import expit, log_softmax, softmax

import tempocal as tc
from inputs.containers import OF_ONE_COLUMN, OF_SEVERAL_COLUMNS, read_only
from support.calibrators import ALL, at_fixed_shrinkage, simulate
from tempocal.errors import InputError
from tempocal.inputs import CERTAIN_LOGIT

every_kind = pytest.mark.parametrize("kind", ALL)
# They are invariant to shifts of the logits, so two columns are equivalent to one.
BLIND_TO_SHIFTS = [kind for kind in ALL if kind not in (tc.VectorScaling, tc.MatrixScaling)]
# They depend only on the order of the logits.
BY_ORDER = [
    tc.HistogramBinning,
    tc.BayesianBinning,
    tc.IsotonicCalibration,
    tc.NearIsotonicEnsemble,
]


def rounded(z):
    """Logits that bfloat16 can hold, so that no container changes them."""
    return np.clip(np.round(4 * z) / 4, -16, 16)


ONE_COLUMN, LABELS_OF_ONE = simulate(2, 60)
SEVERAL_COLUMNS, LABELS_OF_SEVERAL = simulate(3, 60)
ROUNDED = {2: rounded(ONE_COLUMN), 3: rounded(SEVERAL_COLUMNS)}
LABELS = {2: LABELS_OF_ONE, 3: LABELS_OF_SEVERAL}


def everything_predicted(cal, z):
    return [cal.predict_proba(z), cal.predict_log_proba(z), cal.decision_function(z)]


def assert_same_bits(got, expected):
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


# Containers


@pytest.mark.parametrize("container", OF_ONE_COLUMN.values(), ids=OF_ONE_COLUMN)
def test_one_column_may_come_in_any_container(container):
    z, y = ROUNDED[2], LABELS[2]
    expected = everything_predicted(tc.HistogramBinning().fit(z, y), z)
    given = container(z)
    assert_same_bits(everything_predicted(tc.HistogramBinning().fit(given, y), given), expected)


@pytest.mark.parametrize("container", OF_SEVERAL_COLUMNS.values(), ids=OF_SEVERAL_COLUMNS)
def test_several_columns_may_come_in_any_container(container):
    z, y = ROUNDED[3], LABELS[3]
    expected = everything_predicted(tc.HistogramBinning().fit(z, y), z)
    given = container(z)
    assert_same_bits(everything_predicted(tc.HistogramBinning().fit(given, y), given), expected)


FOR_EVERY_KIND = ["list", "float16", "pandas, shuffled index", "polars", "torch with gradient"]


@every_kind
@pytest.mark.parametrize("container", FOR_EVERY_KIND)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_container_makes_no_difference_to_a_bit(kind, container, n_classes):
    z, y = ROUNDED[n_classes], LABELS[n_classes]
    given = (OF_ONE_COLUMN if n_classes == 2 else OF_SEVERAL_COLUMNS)[container](z)
    cal = at_fixed_shrinkage(kind)
    expected = everything_predicted(cal.fit(z, y), z)
    assert_same_bits(everything_predicted(cal.fit(given, y), given), expected)


@every_kind
def test_labels_weights_and_groups_are_taken_by_position(kind):
    z, y = ROUNDED[2], LABELS[2]
    weights, groups = 1.0 + np.arange(60) % 3, np.arange(60) // 4
    index = np.random.default_rng(0).permutation(60)
    cal = at_fixed_shrinkage(kind)
    expected = everything_predicted(cal.fit(z, y, sample_weight=weights, groups=groups), z)
    cal.fit(
        pd.Series(z, index=index),
        pd.Series(y, index=index[::-1]),
        sample_weight=pd.Series(weights, index=np.zeros(60)),
        groups=pl.Series(groups),
    )
    assert_same_bits(everything_predicted(cal, z), expected)
    cal.fit(torch.tensor(z), torch.tensor(y), sample_weight=weights.tolist(), groups=groups)
    assert_same_bits(everything_predicted(cal, z), expected)


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_float32_is_as_good_as_float64(kind, n_classes):
    z, y = simulate(n_classes, 200)
    narrow = z.astype(np.float32)
    assert (narrow != z).any()
    p = kind().fit(z, y).predict_proba(z)
    q = kind().fit(narrow, y).predict_proba(narrow)
    assert q.dtype == np.float64
    # Strengths from the data are found to so many digits where the evidence is flat.
    np.testing.assert_allclose(q, p, atol=1e-5)


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_float32_softmax_is_probabilities(kind, n_classes):
    z, y = simulate(n_classes, 200)
    z = z if n_classes == 3 else np.stack([np.zeros(200), z], axis=1)
    p = torch.softmax(torch.tensor(z, dtype=torch.float32), dim=1)
    cal = kind(inputs="proba").fit(p, y)
    exact = kind(inputs="proba").fit(softmax(z, axis=1), y)
    np.testing.assert_allclose(
        cal.predict_proba(p), exact.predict_proba(softmax(z, axis=1)), atol=1e-5
    )


# Shapes


@every_kind
def test_a_column_may_have_a_second_axis(kind):
    z, y = ROUNDED[2], LABELS[2]
    cal = at_fixed_shrinkage(kind)
    expected = everything_predicted(cal.fit(z, y), z)
    assert_same_bits(everything_predicted(cal.fit(z[:, None], y), z[:, None]), expected)
    assert_same_bits(everything_predicted(cal, z), expected)


@pytest.mark.parametrize("kind", BLIND_TO_SHIFTS)
@pytest.mark.parametrize("inputs", ["logits", "proba"])
def test_one_column_is_the_second_of_two(kind, inputs):
    z, y = simulate(2, 200)
    one = expit(z) if inputs == "proba" else z
    two = np.stack([expit(-z) if inputs == "proba" else 0 * z, one], axis=1)
    cal = at_fixed_shrinkage(kind).set_params(inputs=inputs)
    p = cal.fit(one, y).predict_proba(one)
    np.testing.assert_allclose(cal.fit(two, y).predict_proba(two), p, atol=1e-9)


@pytest.mark.parametrize("kind", [tc.VectorScaling, tc.MatrixScaling])
def test_two_columns_without_shrinkage_are_slope_and_bias_as_is_one(kind):
    z, y = simulate(2, 200)
    two = np.stack([-z / 2, z / 2], axis=1)
    p = kind(shrinkage=0).fit(z, y).predict_proba(z)
    np.testing.assert_allclose(kind(shrinkage=0).fit(two, y).predict_proba(two), p, atol=1e-6)


@every_kind
@pytest.mark.parametrize(
    ("new", "words"),
    [
        (np.zeros((4, 2)), "X has 2 features.*expecting 3"),
        (np.zeros((4, 1)), "X has 1 features.*expecting 3"),
        (np.zeros(3), r"must have 3 columns as in the fit.* a single row is \[\[...\]\]"),
        (np.zeros((2, 2, 3)), r"its shape is \(2, 2, 3\)"),
        (np.zeros((0, 3)), "is empty"),
        ([[0.0, np.nan, 0.0]], "contains NaN"),
        ([["0", "1", "2"]], "must be numbers"),
    ],
)
def test_what_is_predicted_must_look_like_what_was_fitted(kind, new, words):
    cal = kind(classes=[0, 1, 2]).fit(ROUNDED[3], LABELS[3])
    with pytest.raises(ValueError, match=words):
        cal.predict_proba(new)


@every_kind
@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_is_predicted_alone_as_among_others(kind, n_classes):
    z, y = ROUNDED[n_classes].copy(), LABELS[n_classes]
    z[5] = np.inf if n_classes == 2 else [0.0, np.inf, -np.inf]
    cal = at_fixed_shrinkage(kind).fit(z, y)
    alone = np.concatenate([cal.predict_proba(z[i : i + 1]) for i in range(len(z))])
    np.testing.assert_allclose(alone, cal.predict_proba(z), rtol=1e-14)


# Nothing is broadcast

N = 6
GOOD = {"y": [0, 1, 0, 1, 1, 0], "sample_weight": np.ones(N), "groups": np.arange(N)}
ODD = {
    "a number": (1, r"one-dimensional, but its shape is \(\)"),
    "one entry": ([1], f"has 1 entries and the predictions {N} rows"),
    "one too few": ([0, 1] * (N // 2 - 1) + [0], f"has {N - 1} entries and the predictions {N}"),
    "a row": ([[1] * N], r"one-dimensional, but its shape is \(1, 6\)"),
    "a column": ([[1]] * N, r"one(-dimensional| label a row), but its shape is \(6, 1\)"),
    "a table": (np.ones((N, 2)), r"one-dimensional, but its shape is \(6, 2\)"),
    "nothing": ([], "has 0 entries"),
}


@every_kind
@pytest.mark.parametrize("argument", GOOD)
@pytest.mark.parametrize(("odd", "words"), ODD.values(), ids=ODD)
def test_nothing_is_broadcast(kind, argument, odd, words):
    with pytest.raises(InputError, match=f"^{argument} .*{words}"):
        kind().fit(np.linspace(-1, 1, N), **{**GOOD, argument: odd})


def test_an_array_of_labels_with_a_second_axis_is_taken_with_scikit_learns_warning():
    z, y = ROUNDED[2], LABELS[2]
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        cal = tc.Identity().fit(z, y[:, None])
    assert cal.classes_.tolist() == [0, 1]


BAD = {
    "a NaN in y": ({"y": [0, 1, np.nan, 1, 0, 1]}, "y contains NaN"),
    "a None in y": ({"y": ["a", "b", None, "a", "b", "a"]}, "y contains NaN or None"),
    "a mixed y": ({"y": [0, 1, "1", 1, 0, 1]}, "y mixes text with other kinds"),
    "a continuous y": ({"y": np.linspace(0, 1, N)}, "y must be class labels"),
    "no y": ({"y": None}, "requires y to be passed"),
    "three classes": ({"y": [0, 1, 2, 0, 1, 2]}, r"y holds 3 classes \[0, 1, 2\]"),
    "negative weights": ({"sample_weight": [1, 1, -1, 1, 1, 1]}, "sample_weight must not be neg"),
    "no weights": ({"sample_weight": np.zeros(N)}, "sample_weight is zero everywhere"),
    "a weight of NaN": ({"sample_weight": [1, 1, np.nan, 1, 1, 1]}, "sample_weight contains NaN"),
    "infinite weights": ({"sample_weight": [np.inf] * N}, "sample_weight contains infinity"),
    "weights as text": ({"sample_weight": ["1"] * N}, "sample_weight must be numbers"),
    "a missing group": ({"groups": ["a", "b", None, "a", "b", "a"]}, "groups contains a missing"),
    "mixed groups": ({"groups": [1, "1", 2, "2", 3, "3"]}, "groups mixes text"),
}


@every_kind
@pytest.mark.parametrize(("bad", "words"), BAD.values(), ids=BAD)
def test_bad_arguments_are_refused_by_name(kind, bad, words):
    with pytest.raises(InputError, match=words):
        kind().fit(np.linspace(-1, 1, N), **{**GOOD, **bad})


@every_kind
@pytest.mark.parametrize(
    ("p", "words"),
    [
        ([0.5] * 5 + [1.0000001], r"proba must lie in \[0, 1\], but row 5 has 1.0000001"),
        ([0.5] * 5 + [-1e-17], r"proba must lie in \[0, 1\], but row 5 has -1e-17"),
        ([[0.5, 0.5]] * 5 + [[0.5, 0.6]], "rows of proba must sum to 1, but row 5 sums to 1.1"),
        ([0.5] * 5 + [np.nan], r"proba contains NaN \(first at row 5\)"),
    ],
)
def test_probabilities_are_checked_and_never_clipped(kind, p, words):
    with pytest.raises(InputError, match=words):
        kind(inputs="proba").fit(p, GOOD["y"])


@every_kind
def test_logits_that_look_like_probabilities_are_logits(kind):
    z = np.linspace(0.0, 1.0, N)
    cal = at_fixed_shrinkage(kind)
    p = cal.fit(z, GOOD["y"]).predict_proba(z)
    cal.set_params(inputs="proba")
    np.testing.assert_allclose(cal.fit(expit(z), GOOD["y"]).predict_proba(expit(z)), p, atol=1e-9)


@every_kind
@pytest.mark.parametrize("inputs", ["probabilities", None])
def test_the_kind_of_input_must_be_one_of_two(kind, inputs):
    with pytest.raises(InputError, match='inputs must be "logits" or "proba"'):
        kind(inputs=inputs).fit(np.linspace(0, 1, N), GOOD["y"])


# Classes


@every_kind
def test_columns_follow_the_given_classes(kind):
    z, y = simulate(3, 60)
    names = np.array(["a", "b", "c"])
    order = [2, 0, 1]
    cal = at_fixed_shrinkage(kind)
    p = cal.fit(z, names[y]).predict_proba(z)
    given = at_fixed_shrinkage(kind).set_params(classes=names[order])
    given.fit(z[:, order], names[y])
    assert given.classes_.tolist() == ["c", "a", "b"]
    np.testing.assert_allclose(given.predict_proba(z[:, order]), p[:, order], atol=1e-7)
    assert (given.predict(z[:, order]) == cal.predict(z)).all()


@every_kind
def test_one_column_is_that_of_the_second_class_given(kind):
    # Of 64 rows none lies on the edge of a quantile, where bins would take it to their left.
    z, y = simulate(2, 64)
    p = at_fixed_shrinkage(kind).fit(z, y).predict_proba(z)
    swapped = at_fixed_shrinkage(kind).set_params(classes=[1, 0]).fit(-z, y)
    assert swapped.classes_.tolist() == [1, 0]
    np.testing.assert_allclose(swapped.predict_proba(-z)[:, ::-1], p, atol=1e-7)


# Certain predictions


def with_certain_rows(n_classes):
    """Probabilities of which some are 0 and 1, right and wrong, and labels."""
    z, y = simulate(n_classes, 200)
    if n_classes == 2:
        p = expit(z)
        p[::10], p[5::40] = 0.0, 1.0
    else:
        p = softmax(z, axis=1)
        p[::10], p[5::40] = [1.0, 0.0, 0.0], [0.25, 0.75, 0.0]
    return p, y


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_logits_of_their_log_odds_at_0_and_1_too(kind, n_classes):
    p, y = with_certain_rows(n_classes)
    with np.errstate(divide="ignore"):
        z = np.log(p / (1 - p)) if n_classes == 2 else np.log(p)
    assert np.isinf(z).any()
    from_p = at_fixed_shrinkage(kind).set_params(inputs="proba").fit(p, y)
    from_z = at_fixed_shrinkage(kind).fit(z, y)
    np.testing.assert_allclose(from_z.predict_proba(z), from_p.predict_proba(p), atol=1e-8)


@every_kind
def test_an_infinite_logit_is_a_certain_one(kind):
    z, y = ROUNDED[2].copy(), LABELS[2]
    z[:4] = [np.inf, -np.inf, np.inf, -np.inf]
    certain = np.clip(z, -CERTAIN_LOGIT, CERTAIN_LOGIT)
    cal = at_fixed_shrinkage(kind)
    expected = everything_predicted(cal.fit(certain, y), certain)
    assert_same_bits(everything_predicted(cal.fit(z, y), z), expected)


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("extreme", [0.0, np.inf, -np.inf, 1e6])
def test_a_weight_of_0_is_no_row_whatever_is_in_it(kind, n_classes, extreme):
    z, y = ROUNDED[n_classes].copy(), LABELS[n_classes]
    if n_classes == 2:
        z[-3:] = extreme
    else:
        z[-3:, 1] = extreme
    weights = np.ones(60)
    weights[-3:] = 0
    cal = at_fixed_shrinkage(kind)
    without = cal.fit(z[:-3], y[:-3]).predict_proba(z)
    loss = cal.summary().nll_after
    cal.fit(z, y, sample_weight=weights)
    np.testing.assert_allclose(cal.predict_proba(z), without, atol=1e-8)
    assert cal.summary().nll_after == pytest.approx(loss, rel=1e-9)


# Extremes


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("size", [1e-90, 1e-20])
def test_tiny_logits_leave_all_classes_alike(kind, n_classes, size):
    """With shrinkage no slope makes up for them."""
    z = size * ROUNDED[n_classes]
    y = np.arange(60) % n_classes
    p = kind().fit(z, y).predict_proba(z)
    if kind in BY_ORDER:
        np.testing.assert_allclose(p.mean(axis=0), 1 / n_classes, atol=0.05)
    else:
        np.testing.assert_allclose(p, 1 / n_classes, atol=1e-6)


@every_kind
@pytest.mark.parametrize("size", [1e-320, 1e-300])
def test_logits_too_small_for_any_slope_are_refused(kind, size):
    with pytest.raises(InputError, match="must not all be smaller than 1e-100"):
        kind().fit(size * ROUNDED[2], LABELS[2])


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_finite_logit_is_predicted_as_nan_or_with_a_warning(kind, n_classes):
    cal = kind().fit(ROUNDED[n_classes], LABELS[n_classes])
    sizes = np.array([0.0, 5e-324, 1e-17, 40.0, 745.0, 1e5, 1e9, 2.0**53])
    column = np.concatenate([-sizes, sizes])
    pairs = np.stack(np.meshgrid(column, column), axis=-1).reshape(-1, 2)
    z = column if n_classes == 2 else np.column_stack([pairs, pairs[::-1, 0]])
    p = cal.predict_proba(z)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert not np.isnan(cal.predict_log_proba(z)).any()
    assert not np.isnan(cal.decision_function(z)).any()


@every_kind
@pytest.mark.parametrize("logit", [1e308, -1e308, 1e300, 3e38])
def test_logits_that_no_double_can_be_precise_about_are_refused(kind, logit):
    z = ROUNDED[2].copy()
    z[7] = logit
    with pytest.raises(InputError, match=r"logits must lie within 2\*\*53 of zero, but row 7"):
        kind().fit(z, LABELS[2])


@pytest.mark.parametrize("kind", BLIND_TO_SHIFTS)
def test_the_raw_loss_is_that_of_the_softmax_with_infinities_too(kind):
    p, y = with_certain_rows(3)
    with np.errstate(divide="ignore"):
        z = np.log(p)
    finite = np.where(np.isneginf(z), -CERTAIN_LOGIT, z)
    expected = -log_softmax(finite, axis=1)[np.arange(200), y].mean()
    assert at_fixed_shrinkage(kind).fit(z, y).summary().nll_before == pytest.approx(expected)


# What is not ours stays as it was


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_arrays_that_come_in_are_left_alone(kind, n_classes):
    weights, groups = read_only(1.0 + np.arange(60) % 3), read_only(np.arange(60) // 4)
    z, y = read_only(ROUNDED[n_classes]), read_only(LABELS[n_classes])
    cal = kind().fit(z, y, sample_weight=weights, groups=groups)
    everything_predicted(cal, z)
    np.testing.assert_array_equal(z, ROUNDED[n_classes])
    np.testing.assert_array_equal(y, LABELS[n_classes])


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_does_not_change_with_the_arrays_it_was_given(kind, n_classes):
    """Not even if it kept one of them, they are the user's to write to."""
    z, y = ROUNDED[n_classes].copy(), LABELS[n_classes].copy()
    weights, classes = np.ones(60), np.arange(n_classes)
    cal = kind(classes=classes).fit(z, y, sample_weight=weights)
    new = ROUNDED[n_classes][:5].copy()
    expected = everything_predicted(cal, new)
    for mine in (z, y, weights, classes):
        mine[:] = 7
    assert_same_bits(everything_predicted(cal, new), expected)
    assert cal.classes_.tolist() == list(range(n_classes))
    expected[0][:] = 7
    assert_same_bits(everything_predicted(cal, new)[1:], expected[1:])


@every_kind
def test_filters_of_warnings_and_errors_are_left_alone(kind):
    filters, state = list(warnings.filters), np.geterr()
    cal = kind().fit(ROUNDED[3], LABELS[3])
    everything_predicted(cal, ROUNDED[3])
    with pytest.raises(InputError):
        kind().fit([np.nan], [1])
    assert warnings.filters == filters
    assert np.geterr() == state


def test_importing_leaves_filters_of_warnings_and_errors_alone():
    code = """
import warnings
import numpy, scipy.optimize, scipy.special, sklearn.base, sklearn.utils.validation
filters, state = list(warnings.filters), numpy.geterr()
import tempocal
for name in tempocal.__all__:
    getattr(tempocal, name)
assert warnings.filters == filters, set(warnings.filters) ^ set(filters)
assert numpy.geterr() == state
"""
    subprocess.run([sys.executable, "-c", code], check=True)
