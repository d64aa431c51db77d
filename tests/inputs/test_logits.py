"""Logits and probabilities, as declared; certain predictions; what is neither."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tempocal.errors import InputError
from tempocal.inputs import CERTAIN_LOGIT, as_logits, check_proba
from tempocal.links import log_odds, log_softmax, sigmoid

LARGEST = 2.0**53
logits_of_any_size = st.floats(-LARGEST, LARGEST)


# Shapes


@pytest.mark.parametrize("inputs", ["logits", "proba"])
def test_one_column_may_have_a_second_axis(inputs):
    column = np.array([0.1, 0.4, 0.9])
    flat = as_logits(column, inputs)
    assert flat.shape == (3,)
    np.testing.assert_array_equal(as_logits(column[:, None], inputs), flat)


def test_two_columns_are_a_softmax_and_stay_two():
    assert as_logits([[0.1, 0.9], [0.5, 0.5]], "proba").shape == (2, 2)


SHAPES = {
    "a number": (0.5, r"shape \(n,\), \(n, 1\) or \(n, K\), but its shape is \(\)"),
    "None": (None, r"its shape is \(\)"),
    "three axes": (np.zeros((2, 2, 2)), r"its shape is \(2, 2, 2\)"),
    "no rows": ([], "is empty: .* at least 1 is needed"),
    "no rows of three": (np.zeros((0, 3)), "is empty"),
    "no columns": (np.zeros((3, 0)), "0 feature.* minimum of 1"),
}


@pytest.mark.parametrize("inputs", ["logits", "proba"])
@pytest.mark.parametrize(("scores", "words"), SHAPES.values(), ids=SHAPES)
def test_other_shapes_are_refused(scores, words, inputs):
    with pytest.raises(InputError, match=f"^{inputs}.*{words}"):
        as_logits(scores, inputs, name=inputs)


@pytest.mark.parametrize("inputs", ["probability", "logit", "", None, True, ["logits"]])
def test_what_the_inputs_are_must_be_said(inputs):
    with pytest.raises(InputError, match='inputs must be "logits" or "proba", but it is'):
        as_logits([0.5], inputs)


MISSING = {
    "None": [0.5, None],
    "NaN": [0.5, np.nan],
    "pandas NA": [0.5, pd.NA],
    "pandas Float64": pd.Series([0.5, None], dtype="Float64"),
    "pandas Int64": pd.Series([1, None], dtype="Int64"),
    "pandas on Arrow": pd.Series([0.5, None], dtype="double[pyarrow]"),
    "pandas table": pd.DataFrame({"a": [0.5, 0.5], "b": [0.5, None]}, dtype="Float64"),
    "polars": pl.Series([0.5, None]),
    "polars table": pl.DataFrame({"a": [0.5, 0.5], "b": [0.5, None]}),
    "polars int": pl.Series([1, None]),
    "Arrow": pa.array([0.5, None]),
    "Arrow table": pa.table({"a": [0.5, 0.5], "b": [0.5, None]}),
    "not a time": [0.5, pd.NaT],
    "torch": torch.tensor([0.5, np.nan]),
}


@pytest.mark.parametrize("inputs", ["logits", "proba"])
@pytest.mark.parametrize("scores", MISSING.values(), ids=MISSING)
def test_a_missing_score_is_refused(scores, inputs):
    words = r"(contains NaN \(first at row 1\)|must be numbers without missing values)"
    with pytest.raises(InputError, match=f"^{inputs} {words}"):
        as_logits(scores, inputs, name=inputs)


# Logits


@given(arrays(np.float64, (4, 3), elements=logits_of_any_size))
def test_finite_logits_are_never_changed(logits):
    np.testing.assert_array_equal(as_logits(logits), logits)
    np.testing.assert_array_equal(as_logits(logits[:, 0]), logits[:, 0])


@pytest.mark.parametrize("logit", [1e308, -1e308, 1e300, np.finfo(np.float32).min, 1.01 * LARGEST])
@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_a_finite_logit_beyond_the_doubles_that_count_is_refused(logit, shape):
    """Among such numbers the logits of the other classes would be lost to rounding."""
    logits = np.zeros(shape)
    logits[2] = logit
    with pytest.raises(InputError, match=r"must lie within 2\*\*53 of zero, but row 2 .*-inf"):
        as_logits(logits)


def test_a_refused_logit_is_not_hidden_by_an_infinite_one():
    with pytest.raises(InputError, match="row 1 has 1e"):
        as_logits([-np.inf, 1e200])
    with pytest.raises(InputError, match="contains NaN"):
        as_logits([-np.inf, np.nan])


def test_subnormal_logits_are_logits():
    assert as_logits([1e-320, -5e-324]).tolist() == [1e-320, -5e-324]


def test_certainty_is_what_the_largest_double_below_1_says():
    p = np.nextafter(1.0, 0.0)
    assert pytest.approx(np.log(p) - np.log1p(-p), rel=1e-15) == CERTAIN_LOGIT
    assert as_logits([np.inf, 2.0, -np.inf]).tolist() == [CERTAIN_LOGIT, 2.0, -CERTAIN_LOGIT]


@given(arrays(np.float64, 4, elements=st.floats(-500, 500)), st.integers(0, 3))
def test_a_class_at_plus_infinity_is_certain_and_the_others_keep_their_proportions(row, k):
    logits = row.copy()
    logits[k] = np.inf
    filled = as_logits(logits[None])
    assert log_odds(filled)[0, k] == pytest.approx(CERTAIN_LOGIT, abs=1e-12)
    others = np.arange(4) != k
    np.testing.assert_array_equal(filled[0, others], row[others])


@given(
    arrays(np.float64, 4, elements=st.floats(-500, 500)),
    st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
)
def test_a_class_at_minus_infinity_is_impossible_and_the_others_do_not_notice(row, ruled_out):
    logits = row.copy()
    logits[ruled_out] = -np.inf
    log_p = log_softmax(as_logits(logits[None]))[0]
    np.testing.assert_allclose(log_p[ruled_out], np.log(2.0**-53), atol=1e-9)
    left = np.isfinite(logits)
    np.testing.assert_allclose(log_p[left], log_softmax(logits[left]), atol=1e-9)


@pytest.mark.parametrize(
    ("row", "proba"),
    [
        ([np.inf, -np.inf], [1, 0]),
        ([-np.inf, 3.0], [0, 1]),
        ([-np.inf, np.inf, -np.inf], [0, 1, 0]),
        ([np.inf, 1.0, -np.inf], [1, 0, 0]),
        ([0.0, -np.inf, -np.inf], [1, 0, 0]),
        ([0.0, -np.inf, 0.0], [0.5, 0, 0.5]),
    ],
)
def test_infinities_mean_what_they_say(row, proba):
    got = np.exp(log_softmax(as_logits([row])))
    np.testing.assert_allclose(got, [proba], atol=1e-15)
    assert (got > 0).all()


@pytest.mark.parametrize("row", [[np.inf, np.inf], [np.inf, np.inf, 0.0], [-np.inf, -np.inf]])
def test_infinities_that_contradict_each_other_are_refused(row):
    with pytest.raises(InputError, match=r"logits at row 1 is .* one certain class or"):
        as_logits([[0.0] * len(row), row])


# Probabilities


@given(arrays(np.float64, 5, elements=st.floats(2.0**-53, 1 - 2.0**-53)))
def test_a_probability_is_its_log_odds(p):
    np.testing.assert_allclose(as_logits(p, "proba"), np.log(p) - np.log1p(-p), rtol=1e-14)


def test_probabilities_and_logits_say_the_same_at_the_ends_too():
    p = np.array([0.0, 0.25, 1.0])
    with np.errstate(divide="ignore"):
        logits = np.log(p / (1 - p))
        columns = np.log([1 - p, p]).T
    np.testing.assert_allclose(as_logits(p, "proba"), as_logits(logits), rtol=1e-15)
    np.testing.assert_allclose(
        as_logits(np.stack([1 - p, p], axis=1), "proba"), as_logits(columns), atol=1e-15
    )


def test_certain_probabilities_stand_at_the_ends_and_order_is_kept():
    p = np.array([0.0, 1e-300, 2.0**-53, 0.5, 1 - 2.0**-53, 1.0])
    logits = as_logits(p, "proba")
    assert (logits[0], logits[-1]) == (-CERTAIN_LOGIT, CERTAIN_LOGIT)
    assert (np.diff(logits) >= 0).all()
    assert (np.abs(logits) <= CERTAIN_LOGIT).all()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 10, 1000])
def test_a_softmax_in_any_width_sums_to_one_well_enough(kind, n_classes):
    z = (10 * np.random.default_rng(0).normal(size=(100, n_classes))).astype(kind)
    p = torch.softmax(torch.tensor(z), dim=1)
    logits = as_logits(p, "proba")
    likely = p.numpy() > 1e-3
    exact = log_softmax(z.astype(np.float64))
    np.testing.assert_allclose(
        log_softmax(logits)[likely], exact[likely], atol=20 * np.finfo(kind).eps
    )


OUTSIDE = {
    "just above": [0.5, 1.0000001],
    "just below": [0.5, -1e-17],
    "percent": [50, 99],
    "a logit": [0.5, -3.0],
}


@pytest.mark.parametrize("p", OUTSIDE.values(), ids=OUTSIDE)
@pytest.mark.parametrize(
    ("check", "hint"),
    [
        (check_proba, r"metrics take probabilities, after the labels"),
        (lambda p, name: as_logits(p, "proba", name), r'say inputs="logits"'),
    ],
)
def test_a_probability_outside_0_1_is_refused_not_clipped(p, check, hint):
    words = r"proba must lie in \[0, 1\], but row \d has -?[\d.e-]+: .*" + hint
    with pytest.raises(InputError, match=words):
        check(p, name="proba")


@pytest.mark.parametrize("row", [[0.5, 0.6], [0.2, 0.3, 0.4], [0.0, 0.0], [1.0, 1.0]])
@pytest.mark.parametrize("check", [check_proba, lambda p, name: as_logits(p, "proba", name)])
def test_rows_must_sum_to_1(row, check):
    first = [1.0] + [0.0] * (len(row) - 1)
    with pytest.raises(InputError, match="rows of proba must sum to 1, but row 1 sums to"):
        check([first, row], name="proba")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("check", [check_proba, lambda p, name: as_logits(p, "proba", name)])
def test_a_probability_is_finite(value, check):
    with pytest.raises(InputError, match=r"proba contains (NaN|infinity) \(first at row 1\)"):
        check([[0.5, 0.5], [value, 0.5]], name="proba")


def test_one_column_of_probabilities_is_that_of_the_second_class():
    np.testing.assert_array_equal(check_proba([0.25, 1.0]), [[0.75, 0.25], [0.0, 1.0]])
    np.testing.assert_array_equal(check_proba([[0.25], [1.0]]), [[0.75, 0.25], [0.0, 1.0]])


def test_probabilities_in_two_columns_keep_their_bits():
    p = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], size=20)
    np.testing.assert_array_equal(check_proba(p), p)


@given(arrays(np.float64, 5, elements=st.floats(0.0, 1.0)))
def test_what_comes_in_as_a_probability_comes_out_as_one(p):
    np.testing.assert_allclose(sigmoid(as_logits(p, "proba")), p, rtol=1e-13, atol=2.0**-52)
