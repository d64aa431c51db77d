"""All prefixes, or every so many."""

from types import GeneratorType
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import InputError
from tempocal.sequences import prefixes, truncate

LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=12)


@given(LENGTHS)
def test_every_prefix_is_there_once_and_in_order(lengths):
    found = prefixes(lengths)
    wanted = [(at, length + 1) for at, n in enumerate(lengths) for length in range(n)]
    assert list(zip(found.sequence.tolist(), found.length.tolist(), strict=True)) == wanted
    assert len(found) == sum(lengths)
    assert (found.weight == 1).all()


@given(LENGTHS, st.integers(1, 40))
def test_every_so_many_keeps_multiples_and_the_whole_and_stands_for_all(lengths, every):
    found = prefixes(lengths, every=every)
    for at, n in enumerate(lengths):
        own = found.sequence == at
        assert found.length[own].tolist() == sorted({*range(every, n, every), n})
        # Each stands for itself and for those left out before it.
        np.testing.assert_array_equal(np.cumsum(found.weight[own]), found.length[own])


def test_a_step_of_any_size_is_one_to_the_end():
    assert prefixes([3, 5], every=10**30).length.tolist() == [3, 5]


SEQUENCES = {
    "strings": ["abc", "de"],
    "bytes": [b"abc", b"de"],
    "lists": [[1, 2, 3], [4, 5]],
    "tuples": [(1, 2, 3), (4, 5)],
    "arrays of features": [np.arange(6).reshape(3, 2), np.arange(4).reshape(2, 2)],
    "tensors": [torch.arange(3), torch.arange(2)],
    "tables": [pd.DataFrame({"x": [1, 2, 3]}, index=[7, 8, 9]), pd.DataFrame({"x": [4, 5]})],
    "pandas column, out of order": pd.Series(["abc", "de"], index=[1, 0]),
    "polars column of lists": pl.Series([[1, 2, 3], [4, 5]]),
    "tuple of strings": ("abc", "de"),
    "objects": np.array([[1, 2, 3], [4, 5]], dtype=object),
}


@pytest.mark.parametrize("sequences", SEQUENCES.values(), ids=SEQUENCES)
def test_sequences_may_be_anything_that_can_be_cut(sequences):
    found = prefixes(sequences)
    assert found.length.tolist() == [1, 2, 3, 1, 2]
    taken = list(found.take(sequences))
    wanted = [sequence[:n] for sequence in sequences for n in range(1, len(sequence) + 1)]
    assert [type(prefix) for prefix in taken] == [type(prefix) for prefix in wanted]
    for prefix, expected in zip(taken, wanted, strict=True):
        assert np.array_equal(prefix, expected)


@pytest.mark.parametrize("container", [np.array, list, pd.Series, pl.Series, torch.tensor])
def test_lengths_alone_will_do(container):
    assert prefixes(container([3, 2])).length.tolist() == [1, 2, 3, 1, 2]


def test_sequences_of_equal_length_may_be_one_array():
    together = np.arange(24).reshape(2, 3, 4)
    found = prefixes(together)
    assert [prefix.shape for prefix in found.take(together)] == 2 * [(1, 4), (2, 4), (3, 4)]


def test_prefixes_are_cut_one_at_a_time_and_arrays_are_not_copied():
    sequences = [np.arange(5), np.arange(3)]
    taken = prefixes(sequences).take(sequences)
    assert isinstance(taken, GeneratorType)
    assert all(np.shares_memory(prefix, prefix.base) for prefix in taken)


IDS = {
    "numbers": [7, 3],
    "text": ["game 1", "game 2"],
    "dates": np.array(["2020-01-01", "2019-01-01"], dtype="datetime64[D]"),
    "uuids": [UUID(int=1), UUID(int=2)],
    "pandas": pd.Series(["a", "b"], index=[5, 6]),
    "categories": pd.Categorical(["a", "b"]),
    "the same for two": ["a", "a"],
}


@pytest.mark.parametrize("make", [prefixes, lambda s, **more: truncate(s, 2, **more)])
@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_each_prefix_has_the_id_and_label_of_its_sequence(make, ids):
    found = make(["abc", "de"], ids=ids, labels=["won", "lost"])
    np.testing.assert_array_equal(found.id, np.asarray(ids)[found.sequence])
    assert found.label.tolist() == [["won", "lost"][at] for at in found.sequence]


def test_without_ids_and_labels_the_position_is_the_id():
    found = prefixes(["abc", "de"])
    np.testing.assert_array_equal(found.id, found.sequence)
    assert found.label is None


def test_types_are_the_documented_ones():
    for found in (prefixes([3, 2]), truncate(np.array([3, 2], dtype=np.uint8))):
        kinds = [found.sequence.dtype, found.length.dtype, found.weight.dtype]
        assert kinds == [np.intp, np.int64, np.float64]


REFUSED = {
    "empty among them": (["ab", "", "c"], r"sequences\[1\] has length 0"),
    "length 0": ([3, 2, 0], r"sequences\[2\] has length 0"),
    "negative length": ([3, -2], r"sequences\[1\] has length -2"),
    "none": ([], "sequences is empty"),
    "one string": ("abc", r"it is a str: pass one sequence as \[sequence\]"),
    "a dictionary": ({"a": "abc"}, r"list\(sequences.values\(\)\)"),
    "a set": ({"abc", "de"}, "it is a set"),
    "an iterator": (iter(["abc"]), r"list\(sequences\)"),
    "a table": (pd.DataFrame({"text": ["abc"]}), "it is a DataFrame"),
    "a number": (5, "it is a int"),
    "an array without rows": (np.array(5), "it is a ndarray"),
    "fractions": ([2.5, 3.0], "whole numbers, but it starts with 2.5"),
    "truths": ([True, False], "whole numbers, but it starts with True"),
    "one missing": (["abc", None], r"sequences\[1\] is None, which has no length"),
}


@pytest.mark.parametrize("make", [prefixes, truncate])
@pytest.mark.parametrize(("sequences", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_cut_is_refused(make, sequences, words):
    with pytest.raises(InputError, match=words):
        make(sequences)


@pytest.mark.parametrize("make", [prefixes, truncate])
@pytest.mark.parametrize("name", ["labels", "ids"])
def test_what_is_beside_the_sequences_is_one_for_each(make, name):
    with pytest.raises(InputError, match=rf"{name} must be one .* of the 2 .* shape is \(3,\)"):
        make(["abc", "de"], **{name: [1, 2, 3]})
    with pytest.raises(InputError, match=rf"{name} must be one .* shape is \(2, 1\)"):
        make(["abc", "de"], **{name: [[1], [2]]})
    with pytest.raises(InputError, match=rf"{name}\[1\] is missing"):
        make(["abc", "de"], **{name: ["a", None]})


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "two", None])
def test_a_step_is_a_whole_number(every):
    with pytest.raises(InputError, match="every must be a whole number"):
        prefixes(["abc"], every=every)


def test_other_sequences_than_those_cut_are_refused():
    found = prefixes(["abc", "de"])
    with pytest.raises(InputError, match="prefixes of 2 sequences, but sequences holds 3"):
        found.take(["abc", "de", "f"])
    with pytest.raises(InputError, match=r"sequences\[0\] has length 2, but a prefix .* 3"):
        list(found.take(["de", "abc"]))
    with pytest.raises(InputError, match=r"sequences\[0\] is 3, which has no length"):
        list(found.take([3, 2]))
