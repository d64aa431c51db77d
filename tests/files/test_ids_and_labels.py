"""Ids and labels are those that are written: no two become one, and none is missing."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from tempocal.files import ColumnError, as_ids, as_labels, open_input, read_columns


def from_csv(path, values):
    path.write_text("who\n" + "\n".join(values) + "\n")
    with open_input(str(path)) as source:
        return read_columns(source, ["who"])["who"]


def column(values):
    return pa.chunked_array([pa.array(values)])


@pytest.mark.parametrize(
    "values",
    [
        ["12345678901234560001", "12345678901234560002"],
        ["01", "1"],
        ["1e3", "1000"],
        ["1000", "1000.0"],
        ["true", "True", "1"],
        ["-0.0", "0.0"],
        ["0x1", "1"],
    ],
    ids=str,
)
def test_no_two_names_of_a_csv_file_become_one(tmp_path, values):
    found = from_csv(tmp_path / "a.csv", values)
    assert as_ids(found, "who").ids().tolist() == values
    assert as_labels(found, "who").tolist() == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (["10", "9", "-2"], [10, 9, -2]),
        (["1.0", "0.0"], [1.0, 0.0]),
        (["True", "False"], [True, False]),
        (["0.5", "1"], ["0.5", "1"]),
    ],
    ids=str,
)
def test_names_of_one_spelling_are_what_other_formats_have(tmp_path, text, values):
    found = as_labels(from_csv(tmp_path / "a.csv", text), "who")
    assert found.tolist() == values
    assert np.unique(found).tolist() == sorted(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, False], [True, False]),
        ([2, 1], [2, 1]),
        ([1.0, 0.0], [1.0, 0.0]),
        (["x", "y"], ["x", "y"]),
    ],
)
def test_labels_of_any_kind_are_read(values, expected):
    found = as_labels(column(values), "y")
    assert found.tolist() == expected
    assert found.dtype.kind in "bifU"


def test_what_is_no_label_is_refused():
    with pytest.raises(ColumnError, match="must be class labels"):
        as_labels(column([date(2026, 5, 1)]), "y")
    with pytest.raises(ColumnError, match="no value in row 1"):
        as_ids(column([None, "x"]), "who")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([["a"], ["b"]], r"must be ids: numbers, text or dates, but row 1 has \['a'\]"),
        ([{"a": 1}], "must be ids: numbers, text or dates, but row 1 has {'a': 1}"),
        ([1.0, np.nan], "column 'who' holds NaN in row 2"),
        (["1", "2", "nan"], "column 'who' holds NaN in row 3"),
        ([1.0, 2.0**64], "ids as floats beyond 2"),
    ],
    ids=str,
)
def test_what_is_no_id_is_refused(values, words):
    with pytest.raises(ColumnError, match=words):
        as_ids(column(values), "who")


def test_ids_that_differ_by_a_nul_at_the_end_are_two():
    found = as_ids(column(["a", "a\0", "a"]), "who")
    assert found.codes.tolist() == [0, 1, 0]
    assert found.ids().tolist() == ["a", "a\0", "a"]


def test_codes_are_in_the_order_of_the_ids():
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 300, 1000).astype(str)
    found = as_ids(column(ids.tolist()), "who")
    values, codes = np.unique(ids, return_inverse=True)
    np.testing.assert_array_equal(found.codes, codes)
    np.testing.assert_array_equal(found.values, values)
