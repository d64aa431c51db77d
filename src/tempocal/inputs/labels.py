"""Labels of any kind, as codes 0, 1, ..., K - 1 into a list of classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arrays import as_array

Codes = NDArray[np.intp]

# Integers within this span are counted instead of sorted: a pass rather than n log n.
COUNTED_SPAN = 4096


def check_labels(y: Any, n_rows: int, name: str = "y") -> NDArray[Any]:
    """Return labels as a one-dimensional array without missing values."""
    if y is None:
        raise InputError(f"{name} is None: requires y to be passed, but the target y is None")
    labels = as_array(y, name)
    if labels.ndim != 1:
        raise InputError(
            f"{name} must be one label a row, but its shape is {labels.shape}"
            + (f": pass {name}.ravel()" if labels.ndim == 2 and labels.shape[1] == 1 else "")
        )
    if len(labels) != n_rows:
        raise InputError(
            f"{name} has {len(labels)} entries and the predictions {n_rows} rows: "
            "inconsistent numbers of samples"
        )
    _require_present(labels, name)
    return labels


def encode_labels(
    labels: NDArray[Any], classes: Any, n_columns: int, name: str = "y"
) -> tuple[Codes, NDArray[Any]]:
    """Return the code of each label and the classes, in the order of the columns.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        As `check_labels` returns them.
    classes : array-like or None
        The class of each column, in order; None takes the sorted labels that occur.
    n_columns : int
        How many columns the predictions have; one column stands for two classes.
    name : str
        What to call the labels in an error.
    """
    n_classes = max(n_columns, 2)
    if classes is None:
        found, codes = _unique(labels, name)
        _require_count(found, n_columns, n_classes, name)
        return codes, found
    given = check_classes(classes, n_classes)
    return _codes_in(labels, given, name), given


def check_classes(classes: Any, n_classes: int) -> NDArray[Any]:
    """Return the classes that were given, each once and as many as the predictions have."""
    given = as_array(classes, "classes")
    if given.ndim != 1 or len(given) != n_classes:
        raise InputError(
            f"classes must list the {n_classes} classes of the predictions, "
            f"but its shape is {given.shape}"
        )
    _require_present(given, "classes")
    if len(set(given.tolist())) != len(given):
        raise InputError(f"classes lists a class twice: {given.tolist()}")
    return given


def _require_present(labels: NDArray[Any], name: str) -> None:
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise InputError(f"Input {name} contains NaN or infinity: every row needs a label")
        if (labels != np.floor(labels)).any():
            raise InputError(
                f"{name} must be class labels, but it holds fractions such as "
                f"{labels[labels != np.floor(labels)][0]}. Unknown label type: continuous"
            )
    elif labels.dtype.kind == "O":
        # None, NaN, NaT and pandas' NA are each unequal to themselves, None apart.
        missing = [i for i, value in enumerate(labels) if value is None or not _is_itself(value)]
        if missing:
            raise InputError(f"Input {name} contains NaN or None (first at row {missing[0]})")
    elif labels.dtype.kind not in "biuUS":
        raise InputError(f"{name} must be class labels, but its type is {labels.dtype}")


def _is_itself(value: Any) -> bool:
    try:
        return bool(value == value)  # noqa: PLR0124 - this is how a missing value shows itself
    except TypeError:
        return False


def _unique(labels: NDArray[Any], name: str) -> tuple[NDArray[Any], Codes]:
    """Sorted distinct labels and the code of each row."""
    if labels.dtype.kind == "b":
        labels = labels.view(np.uint8)
        found, codes = _count(labels, 0, 1)
        return found.astype(bool), codes
    if labels.dtype.kind in "iuf" and len(labels):
        low, high = labels.min(), labels.max()
        if float(high) - float(low) < COUNTED_SPAN:
            return _count(labels, low, high)
    try:
        found, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InputError(f"{name} mixes labels that cannot be ordered: {error}") from error
    return found, codes.astype(np.intp, copy=False)


def _count(labels: NDArray[Any], low: Any, high: Any) -> tuple[NDArray[Any], Codes]:
    """Distinct whole numbers within a small span, by counting."""
    shifted = (labels - low).astype(np.intp, copy=False)
    present = np.bincount(shifted, minlength=int(high - low) + 1) > 0
    found = (np.flatnonzero(present) + low).astype(labels.dtype)
    if present.all():
        return found, shifted
    return found, (np.cumsum(present) - 1)[shifted]


def _codes_in(labels: NDArray[Any], classes: NDArray[Any], name: str) -> Codes:
    """Code of each label in the given classes; a label that is not among them is refused."""
    found, codes = _unique(labels, name)
    position = {value: code for code, value in enumerate(classes.tolist())}
    strangers = [value for value in found.tolist() if value not in position]
    if strangers:
        raise InputError(
            f"{name} holds the label {strangers[0]!r}, which is not among the classes "
            f"{classes.tolist()}"
        )
    return np.array([position[value] for value in found.tolist()], dtype=np.intp)[codes]


def _require_count(found: NDArray[Any], n_columns: int, n_classes: int, name: str) -> None:
    if len(found) == n_classes:
        return
    shown = found[:5].tolist()
    seen = f"{name} holds {len(found)} class{'es' if len(found) != 1 else ''} {shown}"
    if len(found) < n_classes:
        raise InputError(
            f"{seen}, but the predictions are of {n_classes} classes: say which class each column "
            "stands for with classes="
        )
    raise InputError(
        f"{seen}{'...' if len(found) > 5 else ''}, but the predictions have {n_columns} "
        f"column{'s' if n_columns != 1 else ''}, that is {n_classes} classes: "
        "they must be one logit or probability for each class"
    )
