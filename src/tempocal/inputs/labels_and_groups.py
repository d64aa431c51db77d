"""Labels and group ids of any kind, encoded as 0, 1, ..., K - 1 in their order."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError, MixedLabelsWarning, warn_user
from tempocal.inputs.arguments import as_array, first_missing, require_same_length
from tempocal.inputs.class_order import require_names_in_order
from tempocal.kernels.codes import as_narrow_ints, codes_in_blocks, renumbered
from tempocal.kernels.min_max import min_max, min_max_sum

Codes = NDArray[np.intp]

# Integers within this span are counted instead of sorted: one pass rather than n log n.
COUNTED_SPAN = 4096
# Integers beyond this are not all distinct in float64.
LARGEST_FLOAT_ID = 2.0**53
SOFT_HINT = "; probabilities of classes are taken with soft_label=True, where that can be said"
FLOAT_ID_HINT = "ids that are floats must be so small that none is rounded: pass others as text"
# Integer ids are counted instead of sorted if their span is at most this many times the rows.
MAX_SPAN_PER_ROW = 1
# Below this fraction of groups, differing labels within a group may be a mistake.
FEW_MIXED = 0.1
# If ids change in at most this share of the rows, only the first row of each run is sorted.
MAX_RUN_SHARE = 0.25
# Ids that are processed at a time.
BLOCK = 2**17


class EncodedLabels(NamedTuple):
    """Labels as indices into the classes."""

    codes: Codes  # (n,)
    classes: NDArray[Any]
    counts: Codes  # rows of each class


@dataclass(frozen=True)
class Groups:
    """Group of each row: codes 0, 1, ..., count - 1 in the order of the ids."""

    codes: Codes
    count: int

    def take(self, kept: NDArray[Any]) -> "Groups":
        """Select rows, and renumber their groups."""
        return _without_gaps(self.codes[kept], self.count)


def check_labels(y: Any, n_rows: int, name: str = "y") -> NDArray[Any]:
    """Return labels as a one-dimensional array without missing values."""
    if y is None:
        raise InputError(f"{name} is None: requires y to be passed, but the target y is None")
    labels = as_array(y, name)
    if labels.dtype.kind == "O":
        labels = _unboxed(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        raise InputError(
            f"{name} must be one label a row, but its shape is {labels.shape}: pass {name}.ravel()"
        )
    if labels.ndim == 2 and labels.dtype.kind == "f":
        raise InputError(
            f"{name} must be one-dimensional, but its shape is {labels.shape}{SOFT_HINT}"
        )
    require_same_length(labels, name, n_rows, "the predictions")
    if labels.dtype.kind not in "biu":
        _require_labels(labels, name)
    return labels


def encode_labels(
    labels: NDArray[Any], classes: Any, n_columns: int, name: str = "y"
) -> EncodedLabels:
    """Return the code of each label, the classes in the order of the columns, and their counts.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        The result of `check_labels`.
    classes : array-like or None
        The class of each column, in order; None means the sorted labels that occur.
    n_columns : int
        Number of columns of the predictions; one column means two classes.
    name : str
        Name of the labels in error messages.
    """
    n_classes = max(n_columns, 2)
    if classes is None:
        codes, found, counts = _unique(labels, name)
        if len(found) != n_classes:
            raise _wrong_count(found, n_columns, n_classes, name)
        # A column of a table may be neither contiguous nor aligned.
        return EncodedLabels(np.require(codes, requirements=["C", "A"]), found, counts)
    return _codes_in(labels, check_classes(classes, n_classes), name)


def check_classes(classes: Any, n_classes: int) -> NDArray[Any]:
    """Check that the classes are distinct and as many as the predictions have."""
    # A copy, so that a fit does not change with the user's array.
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
    """Convert an object array of numbers and booleans, as of a pandas column, to their own type."""
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return labels
    if not all(isinstance(value, int | float | np.number | np.bool_) for value in labels):
        return labels
    return np.array(labels.tolist())


def _require_labels(labels: NDArray[Any], name: str) -> None:
    """Refuse missing labels and values that cannot be labels."""
    row = first_missing(labels)
    if row is not None:
        raise InputError(
            f"Input {name} contains NaN or None (first at row {row}): no label may be missing"
        )
    if labels.dtype.kind == "f":
        _require_integers(labels, name)
    elif labels.dtype.kind == "O":
        unhashable = [value for value in labels if not isinstance(value, Hashable)]
        if unhashable:
            raise InputError(f"{name} must be class labels, but it holds {unhashable[0]!r}")
        ending = [value for value in labels if isinstance(value, str) and value.endswith("\0")]
        if ending:
            raise InputError(f"{name} holds text that ends in a NUL character: {ending[0]!r}")
    elif labels.dtype.kind not in "biuUS":
        raise InputError(f"{name} must be class labels, but its type is {labels.dtype}")


def _require_integers(labels: NDArray[Any], name: str) -> None:
    """Refuse infinity, fractions, and floats so large that integers are not distinct."""
    values = labels.astype(np.float64, copy=False)
    large = np.abs(values) > LARGEST_FLOAT_ID
    if large.any():
        raise InputError(
            f"Input {name} contains infinity or a float too large to be told from the next one, "
            f"{values[large][0]:g}: pass labels as integers or text"
        )
    fractional = values != np.floor(values)
    if fractional.any():
        hint = "" if name == "classes" or values.min() < 0.0 or values.max() > 1.0 else SOFT_HINT
        raise InputError(
            f"{name} must be class labels, but it holds fractions such as "
            f"{values[fractional][0]:g}. Unknown label type: continuous{hint}"
        )


def _unique(labels: NDArray[Any], name: str) -> EncodedLabels:
    """Encode labels by their sorted distinct values."""
    if labels.dtype.kind == "b":
        found = _unique(labels.view(np.uint8), name)
        return found._replace(classes=found.classes.astype(bool))
    if labels.dtype.kind in "iuf" and len(labels):
        # In the labels' own type a difference can overflow (int8) or round (float16).
        wide = labels if labels.dtype.itemsize == 8 else labels.astype(np.int64)
        low, high, total = min_max_sum(wide)
        if float(high) - float(low) < COUNTED_SPAN:
            return _count(wide, low, high, total, labels.dtype)
    try:
        if labels.dtype.kind == "O":
            return _unique_objects(labels)
        classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise InputError(f"{name} mixes labels that cannot be ordered: {error}") from error
    return EncodedLabels(codes.astype(np.intp, copy=False), classes, counts)


def _unique_objects(labels: NDArray[Any]) -> EncodedLabels:
    """Encode objects by hashing, so that only the distinct ones are sorted."""
    values = labels.tolist()
    distinct = sorted(set(values))
    classes, code = np.empty(len(distinct), dtype=object), {}
    for k, value in enumerate(distinct):
        # One by one: NumPy would take tuples for rows.
        classes[k], code[value] = value, k
    codes = np.array([code[value] for value in values], dtype=np.intp)
    return EncodedLabels(codes, classes, np.bincount(codes))


def _count(
    labels: NDArray[Any], low: Any, high: Any, total: Any, dtype: np.dtype[Any]
) -> EncodedLabels:
    """Encode integers of a small span by counting; ``dtype`` is the type of the classes."""
    shifted = (labels - low if low else labels).astype(np.intp, copy=False)
    if int(high) - int(low) == 1:
        # Only two values are possible, so their sum gives the counts.
        n_second = int(shifted.sum() if low else total)
        counts = np.array([len(labels) - n_second, n_second])
        return EncodedLabels(shifted, np.array([low, high], dtype=dtype), counts)
    counts = np.bincount(shifted, minlength=int(high) - int(low) + 1)
    present = counts > 0
    classes = (np.flatnonzero(present).astype(labels.dtype) + low).astype(dtype)
    if present.all():
        return EncodedLabels(shifted, classes, counts)
    return EncodedLabels((np.cumsum(present) - 1)[shifted], classes, counts[present])


def _codes_in(labels: NDArray[Any], classes: NDArray[Any], name: str) -> EncodedLabels:
    """Encode labels by the given classes, and refuse others."""
    found = _unique(labels, name)
    position = {value: code for code, value in enumerate(classes.tolist())}
    unknown = [value for value in found.classes.tolist() if value not in position]
    if unknown:
        raise InputError(
            f"{name} holds the label {unknown[0]!r}, which is not among the classes "
            f"{classes.tolist()}"
        )
    code_of = np.array([position[value] for value in found.classes.tolist()], dtype=np.intp)
    counts = np.zeros(len(classes), dtype=np.intp)
    counts[code_of] = found.counts
    return EncodedLabels(code_of[found.codes], classes, counts)


def _wrong_count(found: NDArray[Any], n_columns: int, n_classes: int, name: str) -> InputError:
    shown = found[:5].tolist()
    seen = f"{name} holds {len(found)} class{'es' if len(found) != 1 else ''} {shown}"
    if len(found) < n_classes:
        return InputError(
            f"{seen}, but the predictions are of {n_classes} classes: say which class each column "
            "stands for with classes=, unless these are features rather than a model's predictions"
        )
    return InputError(
        f"{seen}{'...' if len(found) > 5 else ''}, but the predictions have {n_columns} "
        f"column{'s' if n_columns != 1 else ''}, that is {n_classes} classes: "
        "they must be one logit or probability for each class"
    )


def require_column_order(predictions: Any, classes: NDArray[Any], name: str) -> None:
    """Refuse columns that are named like the classes but are in another order."""
    # pandas and polars call the names ``columns``, which in pyarrow are the data.
    columns = list(getattr(predictions, "column_names", getattr(predictions, "columns", [])))
    if columns:
        require_names_in_order(columns, classes, name)


def warn_of_mixed_labels(n_mixed: int, n_groups: int) -> None:
    """Warn where labels differ within few of the groups, which may be a mistake."""
    if 0 < n_mixed < FEW_MIXED * n_groups:
        warn_user(
            f"the label changes within {n_mixed} of {n_groups} groups. If groups are sequences, "
            "each has one outcome: look at those",
            MixedLabelsWarning,
        )


def count_mixed(groups: Groups, labels: Codes) -> int:
    """Count the groups within which labels differ, block by block: no copy of all rows is made."""
    label_of_group = np.empty(groups.count, dtype=labels.dtype)
    is_mixed = np.zeros(groups.count, dtype=bool)
    blocks = [slice(k, k + BLOCK) for k in range(0, len(labels), BLOCK)]
    for rows in blocks:
        label_of_group[groups.codes[rows]] = labels[rows]
    for rows in blocks:
        codes = groups.codes[rows]
        is_mixed[codes[label_of_group[codes] != labels[rows]]] = True
    return int(is_mixed.sum())


def require_nested_sequences(
    sequences: Groups, groups: Groups, ids: Any, name: str = "groups"
) -> None:
    """Refuse groups that split a sequence; ``ids`` are those of the sequences."""
    group_of_sequence = np.empty(sequences.count, dtype=np.intp)
    group_of_sequence[sequences.codes] = groups.codes
    differs = group_of_sequence[sequences.codes] != groups.codes
    if differs.any():
        which = as_array(ids, "sequence")[int(np.argmax(differs))]
        raise InputError(
            f"{name} must be the same in all rows of a sequence, but it differs within the "
            f"sequence {which}: a group holds whole sequences"
        )


def check_groups(
    groups: Any, n_rows: int, name: str = "groups", *, narrow: bool = False
) -> Groups | None:
    """Return group codes, or None if rows are independent.

    With ``narrow`` the codes may be of any integer type, and may be the ids themselves (do not
    write to them); else they are an int64 copy.
    """
    if groups is None:
        return None
    ids: NDArray[Any] = as_array(groups, name)
    require_same_length(ids, name, n_rows, "the predictions")
    row = first_missing(ids)
    if row is not None:
        raise InputError(f"{name} contains a missing id (first at row {row}): every row needs one")
    _require_distinct_ids(ids, name)
    found = _encode(ids, name)
    if narrow:
        return found
    copied = np.may_share_memory(found.codes, ids)
    return replace(found, codes=found.codes.astype(np.intp, copy=copied))


def _require_distinct_ids(ids: NDArray[Any], name: str) -> None:
    """Refuse floats so large that several ids may be one, and values that cannot be ids."""
    if ids.dtype.kind == "f" and len(ids):
        low, high = (float(value) for value in min_max(ids))
        bound: float = min(2.0 ** int(np.finfo(ids.dtype).nmant + 1), LARGEST_FLOAT_ID)
        row = int(np.argmax(np.abs(ids) > bound)) if max(high, -low) > bound else None
    elif ids.dtype.kind == "O":
        invalid = (k for k, id_ in enumerate(ids) if type(id_) is not str and _is_invalid(id_))
        row = next(invalid, None)
    else:
        return
    if row is None:
        return
    if not isinstance(ids[row], Hashable):
        raise InputError(f"{name} must be ids: numbers, text or dates, but it has {ids[row]!r}")
    raise InputError(f"{name} has {ids[row]:g} in row {row}: {FLOAT_ID_HINT}")


def _is_invalid(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return abs(float(value)) > LARGEST_FLOAT_ID
    return not isinstance(value, Hashable)


def _encode(ids: NDArray[Any], name: str) -> Groups:
    if ids.dtype.kind in "iu" and len(ids):
        low, high = (int(value) for value in min_max(ids))
        if high - low < MAX_SPAN_PER_ROW * len(ids):
            return _encode_by_counting(ids, low, high)
    if ids.dtype.kind == "O":
        try:
            found, codes = np.unique(ids, return_inverse=True)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} mixes ids that cannot be ordered: {error}") from error
        return Groups(codes, len(found))
    return _encode_by_sorting(ids)


def _encode_by_sorting(ids: NDArray[Any]) -> Groups:
    """Sort the ids, or only the first of each run if those are few."""
    is_first = np.ones(len(ids), dtype=bool)
    is_first[1:] = ids[1:] != ids[:-1]
    runs = (
        np.flatnonzero(is_first) if np.count_nonzero(is_first) <= MAX_RUN_SHARE * len(ids) else None
    )
    del is_first
    if runs is not None:
        found, codes = np.unique(ids[runs], return_inverse=True)
        lengths = np.diff(runs, append=len(ids))
        return Groups(np.repeat(as_narrow_ints(codes, len(found)), lengths), len(found))
    found = np.unique(ids)
    codes = codes_in_blocks(lambda block: np.searchsorted(found, block), ids, len(found))
    return Groups(codes, len(found))


def _encode_by_counting(ids: NDArray[Any], low: int, high: int) -> Groups:
    """Encode integers of a small span without sorting them."""
    span = high - low + 1
    if low == 0 and ids.dtype == np.intp:
        return _without_gaps(np.require(ids, requirements=["C", "A"]), span)
    # In a narrow type a difference can overflow.
    wide = ids.dtype if ids.dtype.itemsize == 8 else np.int64
    codes = codes_in_blocks(lambda block: block.astype(wide) - low, ids, span)
    return _without_gaps(codes, span, in_place=True)


def _without_gaps(codes: Codes, span: int, *, in_place: bool = False) -> Groups:
    """Renumber codes below ``span`` so that each of them occurs."""
    occurs = np.zeros(span, dtype=bool)
    for start in range(0, len(codes), BLOCK):
        occurs[codes[start : start + BLOCK]] = True
    if not occurs.all():
        codes = renumbered(codes, occurs, in_place=in_place)
    return Groups(codes, int(occurs.sum()))
