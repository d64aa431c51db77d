"""Weights of rows."""

import numpy as np
import pandas as pd
import pytest

from inputs.containers import OF_ONE_COLUMN
from tempocal.errors import InputError
from tempocal.inputs import check_weights


@pytest.mark.parametrize("container", OF_ONE_COLUMN.values(), ids=OF_ONE_COLUMN)
def test_weights_may_be_any_numbers(container):
    weights = np.arange(8) / 4
    np.testing.assert_array_equal(check_weights(container(weights), 8), weights)


def test_no_weights_are_no_weights():
    assert check_weights(None, 8) is None


@pytest.mark.parametrize("weights", [[0, 0, 3], [1e-100, 0, 0], [1e20, 1e-100, 0]])
def test_some_rows_may_not_count_and_sizes_may_differ(weights):
    assert check_weights(weights, 3).tolist() == weights


NOT_WEIGHTS = {
    "negative": ([1, -2, 1], "must not be negative, but row 1 has -2"),
    "all zero": ([0, 0, 0], "is zero everywhere: some row must count"),
    "NaN": ([1, np.nan, 1], r"contains NaN \(first at row 1\)"),
    "None": ([1, None, 1], r"contains NaN \(first at row 1\)"),
    "infinity": ([1, 1, np.inf], r"contains infinity \(first at row 2\): .* must be finite"),
    "overflowing": ([1e308, 1, 0], r"must be 0 or from .* goes from 1 to 1e\+308: divide it"),
    "vanishing": ([1e-320, 1, 0], "must be 0 or from .* let the least be 0"),
    "too few": ([1, 1], "has 2 entries and the predictions 3 rows"),
    "one for all": ([1], "has 1 entries and the predictions 3 rows"),
    "a number": (1.0, r"must be one-dimensional, but its shape is \(\)"),
    "a column": ([[1], [1], [1]], r"must be one-dimensional, but its shape is \(3, 1\)"),
    "text": (["1", "1", "1"], "must be numbers, but its type is"),
    "booleans": ([True, True, False], "must be numbers, but its type is bool"),
    "missing": (pd.Series([1, None, 1], dtype="Int64"), "contains NaN"),
}


@pytest.mark.parametrize(("weights", "words"), NOT_WEIGHTS.values(), ids=NOT_WEIGHTS)
def test_what_is_no_weight_is_refused(weights, words):
    with pytest.raises(InputError, match=f"^sample_weight {words}"):
        check_weights(weights, 3)
