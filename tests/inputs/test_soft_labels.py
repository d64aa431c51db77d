"""Soft labels: probabilities of the classes, and nothing else."""

import numpy as np
import pandas as pd
import pytest

from tempocal.errors import InputError
from tempocal.inputs import check_labels, check_soft_labels

HALF = [0.5, 0.5]
NOT_SOFT = {
    "nothing": (None, 1, "y is None"),
    "above 1": ([0.5, 1.2], 1, r"y must lie in \[0, 1\], but row 1 has 1.2: with soft_label=True"),
    "below 0": ([-0.1, 0.5], 1, r"y must lie in \[0, 1\], but row 0 has -0.1"),
    "NaN": ([0.5, np.nan], 1, r"y contains NaN \(first at row 1\)"),
    "infinity": ([0.5, np.inf], 1, r"y contains infinity \(first at row 1\)"),
    "sums": ([HALF, [0.5, 0.6]], 2, "the rows of y must sum to 1, but row 1 sums to 1.1"),
    "votes": ([[2.0, 1.0], HALF], 2, r"y must lie in \[0, 1\], but row 0 has 2.0"),
    "integers": (
        [0, 1],
        1,
        "y must be probabilities as floats.* type is int64, as of class labels",
    ),
    "booleans": ([True, False], 1, "type is bool, as of class labels: leave soft_label out"),
    "text": (["a", "b"], 1, "type is <U1, as of class labels"),
    "text in objects": (np.array(["a", "b"], object), 1, "type is text, as of class labels"),
    "integers in objects": (np.array([0, 1], object), 1, "type is integers, as of class labels"),
    "one column of three": (
        HALF,
        3,
        "y has 1 column, but the predictions are of 3 classes: .* one for each class",
    ),
    "two columns of three": ([HALF, HALF], 3, "y has 2 columns, but the predictions are of 3"),
    "three columns of two": (
        np.full((2, 3), 1 / 3),
        1,
        "y has 3 columns, .* 2 classes: .* one of the second class's probability, or one for each",
    ),
    "too few rows": ([0.5], 1, "y has 1 rows and the predictions 2"),
    "three dimensions": (np.full((2, 1, 1), 0.5), 1, r"its shape is \(2, 1, 1\)"),
}


@pytest.mark.parametrize(("y", "n_columns", "words"), NOT_SOFT.values(), ids=NOT_SOFT)
def test_what_is_no_soft_label_is_refused(y, n_columns, words):
    with pytest.raises(InputError, match=words):
        check_soft_labels(y, 2, n_columns, None)


@pytest.mark.parametrize(
    "y",
    [
        [0.25, 1.0],
        np.array([[0.25], [1.0]]),
        [[0.75, 0.25], [0.0, 1.0]],
        pd.Series([0.25, 1.0], index=[5, 3]),
        pd.DataFrame({0: [0.75, 0.0], 1: [0.25, 1.0]}),
        np.array([0.25, 1.0], dtype=np.float32),
        np.array([0.25, 1.0], dtype=object),
    ],
)
def test_one_column_is_that_of_the_second_class(y):
    found = check_soft_labels(y, 2, 1, ["no", "yes"])
    np.testing.assert_array_equal(found.proba, [[0.75, 0.25], [0.0, 1.0]])
    assert found.classes.tolist() == ["no", "yes"]


def test_classes_are_numbers_in_the_order_of_the_columns():
    found = check_soft_labels(np.eye(3), 3, 3, None)
    assert found.classes.tolist() == [0, 1, 2]
    assert found.are_hard
    assert found.codes.tolist() == [0, 1, 2]


def test_rounded_rows_are_made_to_sum_to_1():
    given = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    found = check_soft_labels(given.astype(np.float16), 50, 3, None).proba
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found, given, atol=2e-3)


def test_each_row_is_split_into_its_shares():
    proba = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.2, 0.3, 0.5]])
    row, codes, share = check_soft_labels(proba, 3, 3, None).split()
    table = np.zeros((3, 3))
    np.add.at(table, (row, codes), share)
    np.testing.assert_array_equal(table, proba)
    assert (share > 0).all()


@pytest.mark.parametrize(
    ("y", "said"), [([0.5, 1.0], True), ([[0.5, 0.5]] * 2, True), ([1.5, 1.0], False)]
)
def test_probabilities_as_labels_are_told_of_soft_label(y, said):
    with pytest.raises(InputError) as caught:
        check_labels(np.array(y), 2)
    assert ("taken with soft_label=True" in str(caught.value)) == said
