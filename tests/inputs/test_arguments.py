"""Any container of numbers comes in as float64; anything else is refused in words."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from inputs.containers import OF_ONE_COLUMN, OF_SEVERAL_COLUMNS
from tempocal.errors import InputError
from tempocal.inputs import as_float64

ONE_COLUMN = np.arange(-8, 8) / 4
SEVERAL_COLUMNS = np.random.default_rng(0).integers(-32, 32, size=(16, 3)) / 4


@pytest.mark.parametrize("container", OF_ONE_COLUMN.values(), ids=OF_ONE_COLUMN)
def test_one_column_is_read_by_position(container):
    got = as_float64(container(ONE_COLUMN), "logits")
    assert type(got) is np.ndarray
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, ONE_COLUMN)


@pytest.mark.parametrize("container", OF_SEVERAL_COLUMNS.values(), ids=OF_SEVERAL_COLUMNS)
def test_several_columns_are_read_by_position(container):
    got = as_float64(container(SEVERAL_COLUMNS), "logits")
    assert type(got) is np.ndarray
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, SEVERAL_COLUMNS)


@pytest.mark.parametrize(
    "integers",
    [
        range(-3, 5),
        np.arange(-3, 5, dtype=np.int8),
        np.arange(-3, 5, dtype=object),
        pd.Series(np.arange(-3, 5), dtype="Int64"),
        pd.Series(np.arange(-3, 5), dtype="int16[pyarrow]"),
        pl.Series(range(-3, 5)),
        pa.array(range(-3, 5)),
        torch.arange(-3, 5),
    ],
    ids=lambda values: type(values).__module__ + str(getattr(values, "dtype", "")),
)
def test_integers_are_numbers(integers):
    np.testing.assert_array_equal(as_float64(integers, "logits"), np.arange(-3.0, 5.0))


def test_numbers_that_float64_does_not_hold_are_rounded_as_by_python():
    given = [2**70, 2**53 + 1, Decimal("0.1")]
    np.testing.assert_array_equal(as_float64(given, "logits"), [float(n) for n in given])


MASKED = np.ma.array([0.5, 1.0], mask=[False, True])
NOT_NUMBERS = {
    "text": (["0.5", "1.5"], "must be numbers, but its type is <U3"),
    "bytes": ([b"0.5"], r"must be numbers, but its type is \|S3"),
    "numbers and text": ([0.5, "1.5"], "mixes text with other kinds of values: 0.5 and '1.5'"),
    "text among objects": (np.array([0.5, "1.5"], object), "must be numbers.* contains '1.5'"),
    "text in pandas": (pd.Series(["0.5"]), "must be numbers.* contains '0.5'"),
    "text in polars": (pl.Series(["0.5"]), "must be numbers, but its type is"),
    "booleans": ([True, False], "must be numbers, but its type is bool"),
    "booleans among objects": (np.array([True, 0.5], object), "must be numbers.* contains True"),
    "nullable booleans": (pd.Series([True], dtype="boolean"), "must be numbers.* bool"),
    "complex": ([1j], "Complex data not supported, it must be real numbers"),
    "complex tensor": (torch.tensor([1j]), "Complex data not supported"),
    "complex among objects": (np.array([1j, None]), "must be numbers"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), "must be numbers, but its type is datetime64"),
    "durations": (np.array([1], "m8[s]"), "must be numbers, but its type is timedelta64"),
    "durations among objects": (np.array([np.timedelta64(1)], object), "must be numbers"),
    "timestamps": ([pd.Timestamp("2020-01-01")], "must be numbers"),
    "records": (np.zeros(2, dtype=[("a", float)]), "must be numbers, but its type is"),
    "ragged lists": ([[1.0], [1.0, 2.0]], "cannot be read as an array"),
    "arrays in a column": (pd.Series([np.zeros(1), np.zeros(2)]), "must be numbers"),
    "a dictionary": ({"a": 1.0}, "must be numbers"),
    "a set": ({0.5}, "must be numbers"),
    "a generator": ((n for n in [0.5]), "must be numbers"),
    "a lazy table": (pl.LazyFrame({"a": [0.5]}), "must be numbers"),
    "an integer beyond float64": ([10**400], "must be numbers.* a double can hold"),
    "masked entries": (MASKED, "masked array with masked entries: drop or fill them"),
    "masked rows": (np.ma.array(np.zeros((2, 2)), mask=[[0, 0], [0, 1]]), "masked entries"),
    "sparse matrix": (sparse.csr_matrix(np.eye(2)), r"sparse matrix.* pass .* logits.toarray\(\)"),
    "sparse array": (sparse.coo_array(np.eye(2)), "sparse matrix"),
    "sparse tensor": (torch.eye(2).to_sparse(), "cannot be read as an array: .*dense"),
    "tensor elsewhere": (torch.zeros(2, device="meta"), r"on meta: pass logits.cpu\(\)"),
}


if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    TEXT = np.array(["0.5"], dtype=np.dtypes.StringDType())
    NOT_NUMBERS["text in NumPy's own strings"] = (TEXT, "must be numbers.* contains '0.5'")


@pytest.mark.parametrize(("values", "words"), NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_what_is_not_a_number_is_refused_by_name(values, words):
    with pytest.raises(InputError, match=f"^logits.*{words}"):
        as_float64(values, "logits")


@pytest.mark.skipif(
    np.finfo(np.longdouble).max == np.finfo(float).max, reason="no number is wider than float64"
)
def test_a_number_beyond_float64_is_infinite_without_a_warning():
    largest = np.finfo(np.longdouble).max
    assert as_float64(np.array([largest, -largest]), "weights").tolist() == [np.inf, -np.inf]
