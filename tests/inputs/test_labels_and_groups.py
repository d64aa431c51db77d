"""Labels of any kind become codes into classes; nothing about them is guessed."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tempocal.errors import InputError
from tempocal.inputs import check_classes, check_labels, encode_labels


def encode(y, n_columns=2, classes=None):
    codes, found, counts = encode_labels(check_labels(y, len(y)), classes, n_columns)
    assert counts.tolist() == np.bincount(codes, minlength=len(found)).tolist()
    return codes, found


def as_python_finds(y):
    """Return codes and classes by sorting Python's own numbers, which have no width."""
    to_list = getattr(y, "tolist", None) or getattr(y, "to_list", None)
    values = to_list() if to_list else list(y)
    classes = sorted(set(values))
    return [classes.index(value) for value in values], classes


# Kinds of labels

KINDS = {
    "ints": [3, 1, 3],
    "negative": [-1, 1, -1],
    "booleans": [True, False, True],
    "whole floats": [2.0, -1.0, 2.0],
    "text": ["won", "lost", "won"],
    "bytes": [b"won", b"lost", b"won"],
    "text of several lengths": ["a", "a longer one", "a"],
    "the empty text": ["", "x", ""],
    "text that looks like numbers": ["10", "9", "10"],
    "far apart": [2**62, -(2**62), 2**62],
    "as far apart as can be": np.array([-(2**63), 2**63 - 1, -(2**63)]),
    "large and near": [2**62 + 3, 2**62 + 1, 2**62 + 3],
    "beyond int64, near": np.array([2**63 + 3, 2**63 + 1, 2**63 + 3], dtype=np.uint64),
    "beyond int64, far": np.array([2**64 - 1, 0, 2**64 - 1], dtype=np.uint64),
    "beyond uint64": [10**30, 1, 10**30],
    "int8, full span": np.array([127, -128, 127], dtype=np.int8),
    "int8, half span": np.array([0, -128, 0], dtype=np.int8),
    "uint8": np.array([255, 0, 255], dtype=np.uint8),
    "float16, unequal steps": np.array([2001, -2000, 2001], dtype=np.float16),
    "floats as large as they may be": [2.0**53, 2.0**53 - 1, 2.0**53],
    "objects: ints": np.array([3, 1, 3], dtype=object),
    "objects: booleans": np.array([True, False, True], dtype=object),
    "objects: text": np.array(["won", "lost", "won"], dtype=object),
    "decimals": [Decimal(2), Decimal(1), Decimal(2)],
    "strided": np.array([3, 9, 1, 9, 3, 9])[::2],
    "strided booleans": np.array([True, True, False, True, True, True])[::2],
    "negative stride": np.array([3, 1, 3])[::-1],
    "other byte order": np.array([3, 1, 3], dtype=">i4"),
    "range": range(7, 9),
    "pandas": pd.Series([3, 1, 3], index=[2, 2, 0]),
    "pandas text": pd.Series(["won", "lost", "won"], index=[9, 8, 7]),
    "pandas Int64": pd.Series([3, 1, 3], dtype="Int64"),
    "pandas boolean": pd.Series([True, False, True], dtype="boolean"),
    "pandas string": pd.Series(["won", "lost", "won"], dtype="string"),
    "pandas objects": pd.Series([3, 1, 3], dtype=object),
    "pandas on Arrow": pd.Series([3, 1, 3], dtype="int64[pyarrow]"),
    "categorical": pd.Categorical(["won", "lost", "won"]),
    "categorical, unused": pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"]),
    "categorical ints": pd.Series([3, 1, 3], dtype="category"),
    "polars": pl.Series([3, 1, 3]),
    "polars text": pl.Series(["won", "lost", "won"]),
    "polars booleans": pl.Series([True, False, True]),
    "polars Categorical": pl.Series(["won", "lost", "won"], dtype=pl.Categorical),
    "polars Enum": pl.Series(["b", "a", "b"], dtype=pl.Enum(["c", "b", "a"])),
    "Arrow": pa.array(["won", "lost", "won"]),
    "Arrow dictionary": pa.array(["won", "lost", "won"]).dictionary_encode(),
    "torch": torch.tensor([3, 1, 3]),
    "torch booleans": torch.tensor([True, False, True]),
}


if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    KINDS["NumPy's own strings"] = np.array(["won", "lost"], dtype=np.dtypes.StringDType())


@pytest.mark.parametrize("y", KINDS.values(), ids=KINDS)
def test_classes_are_the_sorted_labels_and_codes_their_places(y):
    codes, classes = encode(y)
    assert codes.dtype == np.intp
    assert (codes.tolist(), classes.tolist()) == as_python_finds(y)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([True, False], "b"),
        (np.array([-3, 4], dtype=np.int8), "i"),
        (np.array([3, 4], dtype=np.uint64), "u"),
        ([3.0, 4.0], "f"),
        (["a", "b"], "U"),
        (pd.Series([3, 4], dtype=object), "i"),
        (pd.Series([True, False], dtype="boolean"), "b"),
    ],
)
def test_classes_keep_the_type_of_the_labels(y, kind):
    assert encode(y)[1].dtype.kind == kind


WHOLE = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@given(st.data())
def test_counting_finds_what_sorting_finds(data):
    """Labels within a small span take a quicker way, which must not overflow or round."""
    kind = data.draw(st.sampled_from(WHOLE))
    ends = np.iinfo(kind)
    low = data.draw(st.integers(ends.min, ends.max))
    near = st.integers(low, min(low + data.draw(st.sampled_from([1, 300, 10_000])), ends.max))
    labels = data.draw(arrays(kind, st.integers(1, 30), elements=near))
    expected = as_python_finds(labels)
    assume(len(expected[1]) > 1)
    codes, classes = encode(labels, len(expected[1]))
    assert (codes.tolist(), classes.tolist()) == expected
    assert classes.dtype == kind
    given = classes[::-1]
    assert (encode(labels, len(given), given)[0] == len(given) - 1 - codes).all()


# Labels that are none

MISSING = {
    "NaN": [1.0, np.nan],
    "None": [1, None],
    "None beside text": ["a", None],
    "NaN among objects": np.array(["a", np.nan], dtype=object),
    "not a time": np.array([1, pd.NaT], dtype=object),
    "pandas NA": np.array([1, pd.NA], dtype=object),
    "pandas Int64": pd.Series([1, None], dtype="Int64"),
    "pandas boolean": pd.Series([True, None], dtype="boolean"),
    "pandas string": pd.Series(["a", None], dtype="string"),
    "pandas text": pd.Series(["a", None]),
    "categorical": pd.Categorical(["a", None], categories=["a", "b"]),
    "categorical ints": pd.Categorical([1, None], categories=[1, 2]),
    "polars": pl.Series([1, None]),
    "polars text": pl.Series(["a", None]),
    "polars booleans": pl.Series([True, None]),
    "polars Categorical": pl.Series(["a", None], dtype=pl.Categorical),
    "Arrow": pa.array(["a", None]),
}


@pytest.mark.parametrize("y", MISSING.values(), ids=MISSING)
def test_a_missing_label_is_refused(y):
    with pytest.raises(InputError, match=r"Input y contains NaN or None \(first at row 1\)"):
        check_labels(y, 2)


NOT_LABELS = {
    "nothing": (None, "y is None"),
    "one number": (3, r"y must be one-dimensional, but its shape is \(\)"),
    "one text": ("ab", r"y must be one-dimensional, but its shape is \(\)"),
    "a set": ({1, 2}, r"y must be one-dimensional, but its shape is \(\)"),
    "a column": ([[1], [2]], r"one label a row, but its shape is \(2, 1\): pass y.ravel\(\)"),
    "one-hot": (np.eye(2), r"y must be one-dimensional, but its shape is \(2, 2\)"),
    "too few": ([1], "y has 1 entries and the predictions 2 rows"),
    "too many": ([1, 2, 3], "y has 3 entries and the predictions 2 rows"),
    "none at all": ([], "y has 0 entries"),
    "fractions": ([0.5, 1.0], "y must be class labels.* fractions such as 0.5.*continuous"),
    "fractions among objects": (np.array([0.5, 1], dtype=object), "fractions such as 0.5"),
    "infinity": ([1.0, np.inf], "y contains infinity"),
    "floats that merge": ([2.0**53 + 2, 1.0], "float too large to be told from the next one"),
    "ints that merge as floats": ([2**63 + 1, -1], "float too large to be told from the next"),
    "dates": (np.array(["2020", "2021"], "M8[Y]"), "y must be class labels, but its type is"),
    "complex": ([1j, 2], "y: Complex data not supported"),
    "records": (np.zeros(2, dtype=[("a", int)]), "y must be class labels, but its type is"),
    "lists": (pd.Series([[1], [2, 3]]), r"y must be class labels, but it holds \[1\]"),
    "arrays": (pd.Series([np.zeros(1), np.zeros(2)]), "y must be class labels, but it holds"),
    "numbers and text": ([1, "a"], "y mixes text with other kinds of values: 1 and 'a'"),
    "a number and its text": (["1", 1], "y mixes text with other kinds of values: '1' and 1"),
    "NaN and text": (["a", np.nan], "y mixes text with other kinds of values: 'a' and nan"),
    "bytes and text": ([b"a", "a"], "y mixes text with other kinds of values"),
    "masked": (np.ma.array([1, 2], mask=[0, 1]), "y is a masked array with masked entries"),
}


@pytest.mark.parametrize(("y", "words"), NOT_LABELS.values(), ids=NOT_LABELS)
def test_what_is_not_a_label_is_refused(y, words):
    with pytest.raises(InputError, match=words):
        check_labels(y, 2)


def test_labels_that_cannot_be_ordered_are_refused():
    with pytest.raises(InputError, match="y mixes labels that cannot be ordered"):
        encode(np.array([1, "a"], dtype=object))


# As many classes as columns


@pytest.mark.parametrize("n_columns", [1, 2])
def test_one_column_or_two_stand_for_two_classes(n_columns):
    assert encode(["b", "a"], n_columns)[1].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "n_columns", "words"),
    [
        ([1, 1], 1, r"y holds 1 class \[1\], but the predictions are of 2 classes: .*classes="),
        ([0, 1], 3, r"y holds 2 classes \[0, 1\], but the predictions are of 3 .*classes="),
        ([0, 1, 2], 1, r"y holds 3 classes \[0, 1, 2\], .* 1 column, that is 2 classes"),
        (range(9), 2, r"y holds 9 classes \[0, 1, 2, 3, 4\]\.\.\., .* have 2 columns"),
    ],
)
def test_classes_and_columns_must_match(y, n_columns, words):
    with pytest.raises(InputError, match=words):
        encode(y, n_columns)


# Classes that are given


def test_columns_follow_the_order_of_the_given_classes():
    codes, classes = encode(["b", "c", "a"], 3, classes=["c", "a", "b"])
    assert classes.tolist() == ["c", "a", "b"]
    assert codes.tolist() == [2, 0, 1]


def test_a_given_class_need_not_occur():
    codes, classes = encode([7, 5], 3, classes=[5, 6, 7])
    assert (codes.tolist(), classes.tolist()) == ([2, 0], [5, 6, 7])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["a", "b"], [np.str_("a"), np.str_("b")]),
        (np.array(["a", "b"]), pd.Series(["a", "b"], dtype="string")),
        (pd.Categorical(["a", "b"]), ("a", "b")),
        ([0.0, 1.0], [0, 1]),
        ([False, True], [0, 1]),
        ([0, 1], [False, True]),
        (np.array([0, 1], dtype=np.uint8), np.array([0, 1])),
        (pd.Series([0, 1], dtype="Int64"), torch.tensor([0, 1])),
    ],
)
def test_labels_that_are_equal_are_the_same_class(y, classes):
    """True is 1 and 1.0 is 1, as for Python; the classes keep the type they were given in."""
    codes, found = encode(y, 2, classes)
    assert codes.tolist() == [0, 1]
    assert found.dtype == check_classes(classes, 2).dtype


@pytest.mark.parametrize(
    ("y", "classes", "words"),
    [
        ([0, 5], [0, 1], r"y holds the label 5, which is not among the classes \[0, 1\]"),
        ([0, 1], ["0", "1"], r"y holds the label 0, which is not among the classes \['0', '1'\]"),
        (["0", "1"], [0, 1], r"y holds the label '0', which is not among the classes \[0, 1\]"),
        (["a", "B"], ["a", "b"], "y holds the label 'B'"),
        ([b"a", b"b"], ["a", "b"], "y holds the label b'a'"),
        ([True, False], ["True", "False"], "y holds the label False"),
        ([0, 1], [0, 0], r"classes lists a class twice: \[0, 0\]"),
        ([0, 1], [True, 1], "classes lists a class twice"),
        ([0, 1], [0, 1, 2], r"classes must list the 2 classes .*, but its shape is \(3,\)"),
        ([0, 1], [0], r"classes must list the 2 classes .*, but its shape is \(1,\)"),
        ([0, 1], [[0, 1]], r"classes must list the 2 classes .*, but its shape is \(1, 2\)"),
        ([0, 1], 2, r"classes must list the 2 classes .*, but its shape is \(\)"),
        ([0, 1], {0, 1}, r"classes must list the 2 classes .*, but its shape is \(\)"),
        (["a", "b"], "ab", r"classes must list the 2 classes .*, but its shape is \(\)"),
        ([0, 1], [0, None], "classes contains NaN or None"),
        ([0, 1], [0, np.nan], "classes contains NaN or None"),
        ([0, 1], [0, 0.5], "classes must be class labels.* fractions"),
        ([0, 1], [0, "1"], "classes mixes text with other kinds of values"),
        ([0, 1], pd.Series([[0], [1]]), "classes must be class labels, but it holds"),
    ],
)
def test_given_classes_are_checked(y, classes, words):
    with pytest.raises(InputError, match=words):
        encode(y, 2, classes)


def test_given_classes_do_not_change_with_the_users_array():
    mine = np.array([1, 0])
    _, classes = encode([0, 1], 2, mine)
    mine[:] = 7
    assert classes.tolist() == [1, 0]


@pytest.mark.parametrize(
    "values", [["b", "a", "c", "a", "b"], [(1, 2), (0, 5), (1, 2), (0, 4)], [b"y", b"x", b"y"]]
)
def test_objects_have_the_codes_of_their_order(values):
    labels = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        labels[k] = value
    codes, found, counts = encode_labels(labels, None, len(set(values)))
    assert counts.tolist() == np.bincount(codes).tolist()
    assert found.tolist() == sorted(set(values))
    assert [found[code] for code in codes] == values
