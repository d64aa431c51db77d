"""Groups of rows: ids of any kind as codes."""

from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from tempocal.errors import InputError
from tempocal.inputs import check_groups

IDS = {
    "ints": [5, 3, 5],
    "huge": [2**62 + 1, 2**62, 2**62 + 1],
    "text": ["b", "a", "b"],
    "floats": [2.5, -1.0, 2.5],
    "booleans": [True, False, True],
    "dates": np.array(["2021", "2020", "2021"], "M8[Y]"),
    "tuples": pd.Series([(1, 2), (1, 1), (1, 2)]),
    "identifiers": [UUID(int=2), UUID(int=1), UUID(int=2)],
    "pandas": pd.Series(["b", "a", "b"], index=[2, 2, 0]),
    "categorical": pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"]),
    "pandas string": pd.Series(["b", "a", "b"], dtype="string"),
    "polars": pl.Series(["b", "a", "b"]),
    "Arrow": pa.array([5, 3, 5]),
    "torch": torch.tensor([5, 3, 5]),
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_rows_with_the_same_id_are_one_group(ids):
    groups = check_groups(ids, 3)
    assert groups.codes.tolist() == [1, 0, 1]
    assert groups.codes.dtype == np.intp
    assert groups.count == 2


@pytest.mark.parametrize(
    "ids",
    [
        np.array([3, 1, 3, 7]),
        np.array([-128, 127, 0, 127], dtype=np.int8),
        np.repeat(np.array([-128, 127, 0, 127], dtype=np.int8), 100),
        np.array([255, 0, 255], dtype=np.uint8),
        np.repeat(np.array([255, 0, 255], dtype=np.uint8), 100),
        np.array([0, 1, 2, 0]),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype=np.uint64),
        np.array([-(2**63), -(2**63) + 1, -(2**63)]),
        np.array([2**63 - 1, -(2**63), 0]),
        np.array([5]),
        np.array([0, 10**9, 5]),
        np.array([1, 0, 2, 1], dtype=">i4"),
    ],
    ids=repr,
)
def test_integers_are_counted_as_they_would_be_sorted(ids):
    found = check_groups(ids, len(ids))
    distinct, codes = np.unique(ids, return_inverse=True)
    assert found.count == len(distinct)
    assert found.codes.dtype == np.intp
    np.testing.assert_array_equal(found.codes, codes)
    assert found.codes is not ids


@given(
    ids=st.lists(st.integers(0, 9), min_size=1, max_size=60),
    repeats=st.integers(1, 9),
    gap=st.sampled_from([1, 3, 50, 10**9]),
    low=st.sampled_from([0, -7, 2**40]),
    dtype=st.sampled_from([np.int64, np.float64, ">i8", np.uint64, "U", "S", object]),
    narrow=st.booleans(),
)
def test_codes_are_those_of_sorted_ids(ids, repeats, gap, low, *, dtype, narrow):
    """Wherever rows of a group are, whatever their ids, and in however many bytes."""
    ids = np.repeat(np.array(ids) * gap + (abs(low) if dtype == np.uint64 else low), repeats)
    ids = ids.astype(dtype)
    before = ids.copy()
    found = check_groups(ids, len(ids), narrow=narrow)
    distinct, codes = np.unique(ids, return_inverse=True)
    assert found.count == len(distinct)
    np.testing.assert_array_equal(found.codes, codes)
    np.testing.assert_array_equal(ids, before)
    assert narrow or found.codes.dtype == np.intp


@pytest.mark.parametrize("kept", [slice(3, 7), np.array([3, 4, 6]), np.arange(10) % 2 == 1])
def test_taking_some_rows_leaves_ids_alone(kept):
    ids = np.arange(10)
    found = check_groups(ids, 10, narrow=True).take(kept)
    assert found.codes.tolist() == list(range(found.count))
    np.testing.assert_array_equal(ids, np.arange(10))


@pytest.mark.parametrize("ids", [np.array([0, 3, 9, 3] * 5), np.arange(20), np.arange(20) * 7])
def test_a_fit_leaves_ids_alone(ids):
    before, z = ids.copy(), np.linspace(-2, 2, 20)
    tc.TemperatureScaling().fit(z, np.arange(20) % 3 > 0, groups=ids, sample_weight=np.arange(20))
    np.testing.assert_array_equal(ids, before)


def test_no_groups_are_no_groups():
    assert check_groups(None, 3) is None


NOT_GROUPS = {
    "NaN": ([1.0, np.nan, 1.0], r"contains a missing id \(first at row 1\)"),
    "None": (["a", None, "a"], r"contains a missing id \(first at row 1\)"),
    "pandas string": (pd.Series(["a", None, "b"], dtype="string"), "contains a missing id"),
    "pandas Int64": (pd.Series([1, None, 2], dtype="Int64"), "contains a missing id"),
    "pandas NA": (np.array([1, pd.NA, 2], dtype=object), "contains a missing id"),
    "categorical": (pd.Categorical(["a", None, "a"]), "contains a missing id"),
    "not a time": (np.array(["2020", "NaT", "2020"], "M8[Y]"), "contains a missing id"),
    "polars": (pl.Series(["a", None, "a"]), "contains a missing id"),
    "too few": ([1, 1], "has 2 entries and the predictions 3 rows"),
    "one for all": ([1], "has 1 entries and the predictions 3 rows"),
    "a number": (1, r"must be one-dimensional, but its shape is \(\)"),
    "a column": ([[1], [1], [1]], r"must be one-dimensional, but its shape is \(3, 1\)"),
    "numbers and text": ([1, "1", 1], "mixes text with other kinds of values: 1 and '1'"),
    "NaN and text": (["a", np.nan, "a"], "mixes text with other kinds of values: 'a' and nan"),
    "numbers and text, objects": (np.array([1, "a", 1], dtype=object), "mixes ids that cannot"),
    "arrays": (pd.Series([np.zeros(2), np.zeros(1), np.ones(2)]), "must be ids: numbers"),
    "infinity": ([np.inf, 0.0, np.inf], "has inf in row 0: ids that are floats must be so"),
    "rounded": ([1.0, 2.0**60, 1.0], r"has 1.15292e\+18 in row 1: ids that are floats"),
    "complex": ([1j, 2, 3], ".*Complex data not supported"),
    "masked": (np.ma.array([1, 1, 2], mask=[0, 0, 1]), "is a masked array"),
}


@pytest.mark.parametrize(("ids", "words"), NOT_GROUPS.values(), ids=NOT_GROUPS)
def test_what_is_no_id_is_refused(ids, words):
    with pytest.raises(InputError, match=f"^groups:? ?{words}"):
        check_groups(ids, 3)
