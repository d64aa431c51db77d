"""Soft labels: the probability of each class in place of a label."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arguments import as_array
from tempocal.inputs.labels_and_groups import Codes, check_classes
from tempocal.inputs.logits import check_proba
from tempocal.links import SMALLEST_PROBABILITY, Array

_HINT = "with soft_label=True it is the probability of a class, such as the share of votes for it"


@dataclass(frozen=True)
class SoftLabels:
    """The probability of each class in each row.

    Attributes
    ----------
    proba : ndarray of shape (n, K)
        Probabilities, which sum to 1 in each row.
    classes : ndarray of shape (K,)
        The class of each column.
    """

    proba: Array
    classes: NDArray[Any]

    @property
    def are_hard(self) -> bool:
        """Whether each row has one class for certain."""
        return bool(((self.proba == 0.0) | (self.proba == 1.0)).all())

    @property
    def codes(self) -> Codes:
        """The most probable class of each row, which is the class where it is certain."""
        return np.asarray(self.proba.argmax(axis=1))

    def take(self, kept: NDArray[Any]) -> Self:
        """Select rows."""
        return type(self)(self.proba[kept], self.classes)

    def split(self) -> tuple[Codes, Codes, Array]:
        """Return a row for each class of a row: the row it is of, the class, and its share.

        Those of the first class come first, so that every n-th is a fair sample.
        """
        codes, row = np.nonzero(self.proba.T)
        return row, codes, self.proba[row, codes]


def check_soft_labels(
    y: Any, n_rows: int, n_columns: int, classes: Any, name: str = "y"
) -> SoftLabels:
    """Check soft labels: one column of the second class's probability, or one for each class.

    Parameters
    ----------
    y : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities, as floats.
    n_rows, n_columns : int
        Rows and columns of the predictions; one column means two classes.
    classes : array-like or None
        The class of each column; None means 0, 1, ..., K - 1.
    name : str
        Name of the labels in error messages.
    """
    n_classes = max(n_columns, 2)
    found = np.arange(n_classes) if classes is None else check_classes(classes, n_classes)
    if y is None:
        raise InputError(f"{name} is None: requires y to be passed, but the target y is None")
    array = as_array(y, name)
    _require_floats(array, name)
    _require_columns(array, name, n_classes)
    proba = check_proba(array, name, _HINT)
    if len(proba) != n_rows:
        raise InputError(
            f"{name} has {len(proba)} rows and the predictions {n_rows}: "
            "inconsistent numbers of samples"
        )
    # Less than this is less than a rounding error of the sum.
    proba = np.where(proba < SMALLEST_PROBABILITY, 0.0, proba)
    return SoftLabels(proba / proba.sum(axis=1, keepdims=True), found)


def _require_floats(array: NDArray[Any], name: str) -> None:
    """Refuse what looks like class labels: integers, booleans and text."""
    values = array.ravel().tolist() if array.dtype.kind == "O" else []
    are_integers = bool(values) and all(isinstance(value, int | np.integer) for value in values)
    are_text = any(isinstance(value, str | bytes) for value in values)
    if array.dtype.kind in "fO" and not (are_integers or are_text):
        return
    kind = "text" if are_text else "integers" if are_integers else array.dtype
    raise InputError(
        f"{name} must be probabilities as floats with soft_label=True, but its type is {kind}, as "
        f"of class labels: leave soft_label out; or, if they are probabilities, pass them as floats"
    )


def _require_columns(array: NDArray[Any], name: str, n_classes: int) -> None:
    width = array.shape[1] if array.ndim == 2 else 1
    if array.ndim > 2 or width == n_classes or (width == 1 and n_classes == 2):
        return
    one = "one of the second class's probability, or " if n_classes == 2 else ""
    raise InputError(
        f"{name} has {width} column{'s' if width != 1 else ''}, but the predictions are of "
        f"{n_classes} classes: with soft_label=True it must have {one}one for each class"
    )
