"""Labels of any kind, as codes 0, 1, ..., K - 1 into a list of classes."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arrays import aligned, as_array, first_missing, require_same_length
from tempocal.kernels.extremes import extremes_and_sum

Codes = NDArray[np.intp]

# Integers within this span are counted instead of sorted: a pass rather than n log n.
COUNTED_SPAN = 4096
# Whole numbers beyond this are no longer told apart by float64.
LARGEST_FLOAT_LABEL = 2.0**53


class Encoded(NamedTuple):
    """Labels as codes, the classes that these stand for, and how many rows each of them has."""

    codes: Codes
    classes: NDArray[Any]
    counts: Codes


def check_labels(y: Any, n_rows: int, name: str = "y") -> NDArray[Any]:
    """Return labels as a one-dimensional array without missing values."""
    if y is None:
        raise InputError(f"{name} is None: requires y to be passed, but the target y is None")
    labels = _unboxed(as_array(y, name))
    if labels.ndim == 2 and labels.shape[1] == 1:
        raise InputError(
            f"{name} must be one label a row, but its shape is {labels.shape}: pass {name}.ravel()"
        )
    require_same_length(labels, name, n_rows, "the predictions")
    _require_labels(labels, name)
    return labels


def encode_labels(labels: NDArray[Any], classes: Any, n_columns: int, name: str = "y") -> Encoded:
    """Return the code of each label, the classes in the order of the columns, and their counts.

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
        codes, found, counts = _unique(labels, name)
        _require_count(found, n_columns, n_classes, name)
        # One after the other in memory, as a column of a table is not.
        return Encoded(aligned(np.ascontiguousarray(codes)), found, counts)
    return _codes_in(labels, check_classes(classes, n_classes), name)


def check_classes(classes: Any, n_classes: int) -> NDArray[Any]:
    """Return the classes that were given, each once and as many as the predictions have."""
    # A copy: the classes of a fit do not change with the user's list.
    given = _unboxed(as_array(classes, "classes")).copy()
    if given.ndim != 1 or len(given) != n_classes:
        raise InputError(
            f"classes must list the {n_classes} classes of the predictions, "
            f"but its shape is {given.shape}"
        )
    _require_labels(given, "classes")
    if len(set(given.tolist())) != len(given):
        raise InputError(f"classes lists a class twice: {given.tolist()}")
    return given


def _unboxed(labels: NDArray[Any]) -> NDArray[Any]:
    """Numbers and booleans that came as objects, as a pandas column may, in a type of their own."""
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return labels
    if not all(isinstance(value, int | float | np.number | np.bool_) for value in labels):
        return labels
    return np.array(labels.tolist())


def _require_labels(labels: NDArray[Any], name: str) -> None:
    """Refuse labels that are missing, and what cannot be a label."""
    row = first_missing(labels)
    if row is not None:
        raise InputError(
            f"Input {name} contains NaN or None (first at row {row}): no label may be missing"
        )
    if labels.dtype.kind == "f":
        _require_whole(labels, name)
    elif labels.dtype.kind == "O":
        strange = [value for value in labels if not isinstance(value, Hashable)]
        if strange:
            raise InputError(f"{name} must be class labels, but it holds {strange[0]!r}")
        ending = [value for value in labels if isinstance(value, str) and value.endswith("\0")]
        if ending:
            raise InputError(f"{name} holds text that ends in a NUL character: {ending[0]!r}")
    elif labels.dtype.kind not in "biuUS":
        raise InputError(f"{name} must be class labels, but its type is {labels.dtype}")


def _require_whole(labels: NDArray[Any], name: str) -> None:
    """Refuse infinity, fractions, and floats so large that whole numbers merge."""
    values = labels.astype(np.float64, copy=False)
    large = np.abs(values) > LARGEST_FLOAT_LABEL
    if large.any():
        raise InputError(
            f"Input {name} contains infinity or a float too large to be told from the next one, "
            f"{values[large][0]:g}: pass labels as integers or text"
        )
    broken = values != np.floor(values)
    if broken.any():
        raise InputError(
            f"{name} must be class labels, but it holds fractions such as {values[broken][0]:g}. "
            "Unknown label type: continuous"
        )


def _unique(labels: NDArray[Any], name: str) -> Encoded:
    """Find the distinct labels, sorted, the code of each row and how many rows have it."""
    if labels.dtype.kind == "b":
        found = _unique(labels.view(np.uint8), name)
        return found._replace(classes=found.classes.astype(bool))
    if labels.dtype.kind in "iuf" and len(labels):
        # In the labels' own type a difference can overflow (int8) or round (float16).
        wide = labels if labels.dtype.itemsize == 8 else labels.astype(np.int64)
        low, high, total = extremes_and_sum(wide)
        if float(high) - float(low) < COUNTED_SPAN:
            return _count(wide, low, high, total, labels.dtype)
    try:
        if labels.dtype.kind == "O":
            return _unique_objects(labels)
        classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise InputError(f"{name} mixes labels that cannot be ordered: {error}") from error
    return Encoded(codes.astype(np.intp, copy=False), classes, counts)


def _unique_objects(labels: NDArray[Any]) -> Encoded:
    """Do that by hashing: few distinct objects are sorted, not all of them."""
    values = labels.tolist()
    distinct = sorted(set(values))
    classes, code = np.empty(len(distinct), dtype=object), {}
    for k, value in enumerate(distinct):
        # One by one, for tuples would be taken for rows.
        classes[k], code[value] = value, k
    codes = np.array([code[value] for value in values], dtype=np.intp)
    return Encoded(codes, classes, np.bincount(codes))


def _count(labels: NDArray[Any], low: Any, high: Any, total: Any, dtype: np.dtype[Any]) -> Encoded:
    """Do that by counting whole numbers within a small span; the classes have their own type."""
    shifted = (labels - low if low else labels).astype(np.intp, copy=False)
    if int(high) - int(low) == 1:
        # Nothing lies between the two that are there.
        seconds = int(shifted.sum() if low else total)
        counts = np.array([len(labels) - seconds, seconds])
        return Encoded(shifted, np.array([low, high], dtype=dtype), counts)
    counts = np.bincount(shifted, minlength=int(high) - int(low) + 1)
    present = counts > 0
    classes = (np.flatnonzero(present).astype(labels.dtype) + low).astype(dtype)
    if present.all():
        return Encoded(shifted, classes, counts)
    return Encoded((np.cumsum(present) - 1)[shifted], classes, counts[present])


def _codes_in(labels: NDArray[Any], classes: NDArray[Any], name: str) -> Encoded:
    """Code of each label in the given classes; a label that is not among them is refused."""
    found = _unique(labels, name)
    position = {value: code for code, value in enumerate(classes.tolist())}
    strangers = [value for value in found.classes.tolist() if value not in position]
    if strangers:
        raise InputError(
            f"{name} holds the label {strangers[0]!r}, which is not among the classes "
            f"{classes.tolist()}"
        )
    places = np.array([position[value] for value in found.classes.tolist()], dtype=np.intp)
    counts = np.zeros(len(classes), dtype=np.intp)
    counts[places] = found.counts
    return Encoded(places[found.codes], classes, counts)


def _require_count(found: NDArray[Any], n_columns: int, n_classes: int, name: str) -> None:
    if len(found) == n_classes:
        return
    shown = found[:5].tolist()
    seen = f"{name} holds {len(found)} class{'es' if len(found) != 1 else ''} {shown}"
    if len(found) < n_classes:
        raise InputError(
            f"{seen}, but the predictions are of {n_classes} classes: say which class each column "
            "stands for with classes=, unless these are features rather than a model's predictions"
        )
    raise InputError(
        f"{seen}{'...' if len(found) > 5 else ''}, but the predictions have {n_columns} "
        f"column{'s' if n_columns != 1 else ''}, that is {n_classes} classes: "
        "they must be one logit or probability for each class"
    )


def require_column_order(predictions: Any, classes: NDArray[Any], name: str) -> None:
    """Refuse columns that are named like the classes but come in another order."""
    # pandas and polars call them columns, which in pyarrow are the data.
    columns = list(getattr(predictions, "column_names", getattr(predictions, "columns", [])))
    wanted = classes.tolist()
    if columns != wanted and len(columns) == len(wanted) and set(columns) == set(wanted):
        raise InputError(
            f"the columns of {name} are named {columns}, but the classes come in the order "
            f"{wanted}: say classes={columns}, or put the columns in that order"
        )
