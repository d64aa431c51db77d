"""Times of any kind become float64 by position; what cannot be on one scale is refused."""

from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from inputs.containers import OF_ONE_COLUMN, OF_SEVERAL_COLUMNS, shuffled_index
from tempocal.errors import InputError
from tempocal.inputs import check_time, require_same_kind

# Numbers


@pytest.mark.parametrize("container", OF_ONE_COLUMN.values(), ids=OF_ONE_COLUMN)
def test_one_clock_of_numbers_is_read_by_position(container):
    numbers = np.arange(-8, 8) / 4
    times = check_time(container(numbers), 16)
    assert times.kinds == ("number",)
    assert type(times.values) is np.ndarray
    assert times.values.dtype == np.float64
    np.testing.assert_array_equal(times.values, numbers)


# A tuple is clocks, not rows.
ROWS = {name: rows for name, rows in OF_SEVERAL_COLUMNS.items() if name != "tuple of tuples"}


@pytest.mark.parametrize("container", ROWS.values(), ids=ROWS)
def test_two_clocks_of_numbers_are_read_by_position(container):
    numbers = np.random.default_rng(0).integers(-32, 32, size=(16, 2)) / 4
    times = check_time(container(numbers), 16, clocks=2)
    assert times.kinds == ("number", "number")
    assert times.values.dtype == np.float64
    np.testing.assert_array_equal(times.values, numbers)


WHOLE = {
    "range": range(3),
    "Int64": pd.Series(range(3), dtype="Int64"),
    "Arrow ints": pa.array(range(3)),
    "polars ints": pl.Series(range(3)),
    "polars decimals": pl.Series([Decimal(k) for k in range(3)]),
    "torch ints": torch.arange(3),
    "objects": np.arange(3).astype(object),
    "several kinds of numbers": [Decimal(0), 1, np.float32(2)],
    "categories": pd.Series(range(3), dtype="category"),
    "a column": np.arange(3)[:, None],
    "a column of lists": [[0], [1], [2]],
    "a table": pd.DataFrame({"round": range(3)}),
    "a polars table": pl.DataFrame({"round": range(3)}),
}
WHOLE |= {str(np.dtype(kind)): np.arange(3, dtype=kind) for kind in "bBhHiIqQefdg"}


@pytest.mark.parametrize("numbers", WHOLE.values(), ids=WHOLE)
def test_integers_are_numbers(numbers):
    times = check_time(numbers, 3)
    assert times.kinds == ("number",)
    assert times.values.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [np.int64, object])
def test_integers_that_would_lose_digits_are_refused(sign, dtype):
    times = sign * np.array([5, 2**62 + 1, 2**62 + 2], dtype=dtype)
    words = r"time has -?\d{19} in row 1, but whole numbers beyond 2\*\*53 lose digits: subtract"
    with pytest.raises(InputError, match=words):
        check_time(times, 3)


@pytest.mark.parametrize("times", [[2**53 - 1], [2.0**62], [1e300], np.array([2**40], "u8")])
def test_what_a_double_can_say_is_a_time(times):
    assert check_time(times, 1).values.tolist() == [float(times[0])]


# Two clocks

PAIRS = [
    (datetime(1970, 1, 1, 0, 1), 3),
    (datetime(1970, 1, 1, 0, 2), 5),
    (datetime(1970, 1, 1), 4),
]
AT, ROUND = [pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS]
OF_TWO_KINDS = {
    "pandas": pd.DataFrame({"at": AT, "round": ROUND}),
    "pandas, shuffled": pd.DataFrame({"at": AT, "round": ROUND}, index=[2, 0, 1]),
    "pandas, zone": pd.DataFrame({"at": pd.Series(AT).dt.tz_localize("UTC"), "round": ROUND}),
    "pandas, one name twice": pd.DataFrame(PAIRS, columns=["t", "t"]),
    "polars": pl.DataFrame({"at": AT, "round": ROUND}),
    "Arrow": pa.table({"at": AT, "round": ROUND}),
    "tuple of lists": (AT, ROUND),
    "tuple of containers": (pd.Series(AT, index=[1, 1, 0]), torch.tensor(ROUND)),
    "tuple of columns": (np.array(AT, "M8[s]")[:, None], pl.Series(ROUND)),
    "pairs": PAIRS,
    "objects": np.array(PAIRS, dtype=object),
    "pairs with datetime64": [(np.datetime64(at), number) for at, number in PAIRS],
}


@pytest.mark.parametrize("time", OF_TWO_KINDS.values(), ids=OF_TWO_KINDS)
def test_each_clock_has_its_own_kind(time):
    times = check_time(time, 3, clocks=2)
    assert times.kinds == ("datetime", "number")
    assert times.values.tolist() == [[60, 3], [120, 5], [0, 4]]


def test_a_number_beside_a_timedelta64_in_a_pair_stays_a_number():
    """NumPy would read it as a second timedelta."""
    times = check_time([[np.timedelta64(1, "h"), 5], [np.timedelta64(2, "h"), 6]], 2, clocks=2)
    assert times.kinds == ("timedelta", "number")
    assert times.values.tolist() == [[3600, 5], [7200, 6]]


def test_of_two_lists_of_two_a_list_is_rows_and_a_tuple_is_clocks():
    assert check_time([[1, 2], [3, 4]], 2, clocks=2).values.tolist() == [[1, 2], [3, 4]]
    assert check_time(([1, 2], [3, 4]), 2, clocks=2).values.tolist() == [[1, 3], [2, 4]]


def test_a_list_is_rows_for_any_number_of_rows():
    with pytest.raises(InputError, match=r"^time must be .* tuple of two arrays .* has 3 columns"):
        check_time([[1, 2, 3], [4, 5, 6]], 3, clocks=2)


def test_a_tuple_is_clocks_for_any_number_of_rows():
    with pytest.raises(InputError, match=r"^time must be an array .* but it has 3 columns"):
        check_time(((1, 2), (3, 4), (5, 6)), 3, clocks=2)


# What is refused

MOMENTS = [datetime(2026, 5, 1, 12, 30), datetime(1969, 12, 31, 23, 59, 59, 250_000)]
ZONED = pd.Series(MOMENTS).dt.tz_localize("Europe/Berlin")
DAYS = [date(1970, 1, 2), date(2026, 1, 1)]

NOT_TIMES = {
    "NaN": ([1.0, np.nan, 2.0], r"contains NaN, NaT or None \(first at row 1\): no time may be"),
    "None": ([1.0, 2.0, None], r"contains .*row 2\)"),
    "pandas NA": (np.array([1, pd.NA, 2], dtype=object), r"contains .*row 1\)"),
    "Int64": (pd.Series([1, None, 2], dtype="Int64"), r"contains .*row 1\)"),
    "on Arrow": (pd.Series([1, None, 2], dtype="int64[pyarrow]"), r"contains .*row 1\)"),
    "polars": (pl.Series([1, None, 2]), r"contains .*row 1\)"),
    "Arrow": (pa.array([1, None, 2]), r"contains .*row 1\)"),
    "Decimal NaN": ([Decimal(1), Decimal("NaN"), Decimal(2)], r"contains .*row 1\)"),
    "torch NaN": (torch.tensor([1.0, torch.nan, 2.0]), r"contains .*row 1\)"),
    "NaT": (np.array(["2026", "NaT", "2027"], "M8[s]"), r"contains .*row 1\)"),
    "NaT among timedeltas": (np.array([1, "NaT", 2], "m8[s]"), r"contains .*row 1\)"),
    "NaT in a list": ([MOMENTS[0], pd.NaT, MOMENTS[1]], r"contains .*row 1\)"),
    "None among datetimes": ([MOMENTS[0], None, MOMENTS[1]], r"contains .*row 1\)"),
    "None among polars datetimes": (pl.Series([MOMENTS[0], None, None]), r"contains .*row 1\)"),
    "None among Arrow dates": (pa.array([DAYS[0], None, None]), r"contains .*row 1\)"),
    "NaT with a zone": (ZONED.reindex([0, 5, 1]), r"contains .*row 1\)"),
    "infinity": ([1.0, np.inf, 2.0], r"contains infinity \(first at row 1\): .* must be finite"),
    "minus infinity": ([1.0, 2.0, -np.inf], r"contains infinity \(first at row 2\)"),
    "Decimal infinity": ([Decimal(1), Decimal(2), Decimal("Infinity")], "contains infinity"),
    "beyond a double": ([1, 2, 10**400], "must be numbers .* a double can hold"),
    "booleans": (
        [True, False, True],
        "must be numbers, datetimes or timedeltas, but .* bool",
    ),
    "nullable booleans": (pd.Series([True] * 3, dtype="boolean"), "must be numbers.* bool"),
    "booleans among objects": (np.array([1, True, 2], dtype=object), "must be .* row 1 has True"),
    "text": (["1", "2", "3"], "must be numbers, datetimes or timedeltas, but its type is <U1"),
    "bytes": ([b"1", b"2", b"3"], "must be numbers, datetimes or timedeltas, but its type is"),
    "dates as text": (pd.Series(["2026-01-01"] * 3), "must be .* '2026-01-01': convert it first"),
    "text in polars": (pl.Series(["1", "2", "3"]), "must be numbers, datetimes or timedeltas"),
    "complex": ([1j, 2, 3], ".*Complex data not supported"),
    "times of day": ([time(1), time(2), time(3)], "must be .* row 0 has datetime.time"),
    "periods": (pd.period_range("2026", periods=3), "must be .* row 0 has Period"),
    "records": (np.zeros(3, dtype=[("a", float)]), "must be numbers, datetimes or timedeltas"),
    "arrays": (pd.Series([np.zeros(2)] * 3), "must be .* row 0 has array"),
    "no unit": (np.array([1, 2, 3], "m8"), "is timedelta64 without a unit"),
    "too few": ([1, 2], "has 2 entries and the predictions 3 rows"),
    "too many datetimes": (MOMENTS * 2, "has 4 entries and the predictions 3 rows"),
    "one for all": ([1], "has 1 entries and the predictions 3 rows"),
    "a scalar": (1.0, r"must be one-dimensional, but its shape is \(\)"),
    "a moment": (MOMENTS[0], r"must be one-dimensional, but its shape is \(\)"),
    "a dictionary": ({"a": 1}, r"must be one-dimensional, but its shape is \(\)"),
    "two columns": (np.zeros((3, 2)), r"must be one time for each row, .* but it has 2 columns"),
    "a table of two": (pd.DataFrame(np.zeros((3, 2))), "must be one time .* has 2 columns"),
    "no columns": (np.zeros((3, 0)), "must be one time .* has 0 columns"),
    "three axes": (np.zeros((3, 1, 1)), r"must have one or two axes, but its shape is \(3, 1, 1\)"),
    "ragged": ([[1], [1, 2], [1]], "cannot be read as an array"),
    "sparse": (sparse.csr_matrix(np.ones((3, 1))), "is a sparse matrix"),
    "masked": (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "is a masked array"),
    "masked datetimes": (np.ma.array([1, 2, 3], "M8[s]", mask=[0, 1, 0]), "is a masked array"),
    "a tensor elsewhere": (torch.zeros(3, device="meta"), r"is a tensor on meta: pass time.cpu"),
}


@pytest.mark.parametrize(("values", "words"), NOT_TIMES.values(), ids=NOT_TIMES)
def test_what_is_no_time_is_refused(values, words):
    with pytest.raises(InputError, match=f"^time:? ?{words}"):
        check_time(values, 3)


NOT_TWO = {
    "one column": ([1, 2, 3], "must be an array of shape .* but it has 1 column$"),
    "three columns": (np.zeros((3, 3)), "must be an array of shape .* but it has 3 columns$"),
    "a tuple of three": (([1, 2, 3],) * 3, "must be .* but it has 3 columns$"),
    "a table of three": (pl.DataFrame(np.zeros((3, 3))), "must be .* but it has 3 columns$"),
    "a scalar": (1.0, "must be .* but it has 1 column$"),
    "three axes": (np.zeros((3, 2, 1)), "must have one or two axes"),
    "too few": (np.zeros((2, 2)), r"\(clock 1\) has 2 entries and the predictions 3 rows"),
    "second too short": (([1, 2, 3], [1, 2]), r"\(clock 2\) has 2 entries and the predictions"),
    "a scalar as second": (([1, 2, 3], 1), r"\(clock 2\) must be one-dimensional"),
    "two columns as second": (([1, 2, 3], np.zeros((3, 2))), r"\(clock 2\) must be one-dim"),
    "NaN in the second": (
        pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, np.nan]}),
        r"\(clock 2\) .*2\)",
    ),
    "text in the first": (pl.DataFrame({"a": ["x"] * 3, "b": [1] * 3}), r"\(clock 1\) must be num"),
    "kinds in the second": (([1, 2, 3], [1, 2, MOMENTS[0]]), r"\(clock 2\) must be of one kind"),
}


@pytest.mark.parametrize(("values", "words"), NOT_TWO.values(), ids=NOT_TWO)
def test_what_is_not_two_clocks_is_refused(values, words):
    with pytest.raises(InputError, match=f"^time {words}"):
        check_time(values, 3, clocks=2)


def test_an_error_calls_times_by_the_name_of_the_argument():
    with pytest.raises(InputError, match=r"^grid contains NaN"):
        check_time([np.nan], 1, name="grid")


# Kinds of a fit


def test_the_kind_of_the_fit_is_the_kind_of_the_prediction():
    numbers, moments = check_time([1, 2], 2), check_time(MOMENTS, 2)
    require_same_kind(numbers, ("number",))
    require_same_kind(moments, ("datetime",))
    with pytest.raises(InputError, match=r"^time was datetime in the fit and is number now"):
        require_same_kind(numbers, ("datetime",))
    with pytest.raises(InputError, match=r"^grid was number and timedelta in the fit and is dat"):
        require_same_kind(moments, ("number", "timedelta"), "grid")


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=9))
def test_the_index_of_pandas_is_ignored(numbers):
    shuffled = pd.Series(numbers, index=shuffled_index(np.array(numbers)))
    assert check_time(shuffled, len(numbers)).values.tolist() == numbers
