"""Which rows follow each other: the sequence of each row, and its place there."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arguments import as_array
from tempocal.inputs.labels_and_groups import (
    Codes,
    Groups,
    check_groups,
    require_nested_sequences,
)
from tempocal.inputs.times import Times, check_time

# Below it a double represents every integer.
EXACT_INTEGER = 2**53
PASS_ORDER = "pass order=, which puts the rows of a sequence in order"


class SequenceFacts(Protocol):
    """What the choice of a horizon needs to know of the sequences of rows."""

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""

    @property
    def mean_length(self) -> float:
        """Rows of a sequence, on average."""

    @property
    def mixed(self) -> str | None:
        """Id of the first sequence whose labels differ, if there is one."""


@dataclass(frozen=True)
class SequenceOrder:
    """Sequences and the order of their rows.

    Attributes
    ----------
    sequences : Groups
        Sequence of each row.
    ranks : ndarray of shape (n,)
        Position of each row after sorting by sequence, then by order.
    mixed : str or None
        Id of the first sequence whose labels differ, if there is one.
    copies : ndarray of shape (n,) or None
        Where a soft label made several copies of a sequence, one for each class: which one a row
        belongs to. The copies of a row have the same rank.
    """

    sequences: Groups
    ranks: Codes
    mixed: str | None = None
    copies: Codes | None = None

    def take(self, kept: NDArray[Any]) -> "SequenceOrder":
        """Select rows."""
        return replace(
            self,
            sequences=self.sequences.take(kept),
            ranks=self.ranks[kept],
            copies=None if self.copies is None else self.copies[kept],
        )

    @property
    def permutation(self) -> Codes:
        """Indices that sort the rows by sequence and copy, then by order."""
        if self.copies is None:
            return np.argsort(self.ranks, kind="stable")
        return np.lexsort((self.ranks, self.copies, self.sequences.codes))

    @property
    def runs(self) -> Codes:
        """Code of the rows that follow each other: of the sequence, or of its copy."""
        codes = self.sequences.codes
        if self.copies is None:
            return codes
        return codes.astype(np.intp) * (int(self.copies.max()) + 1) + self.copies

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return self.sequences.count

    @property
    def mean_length(self) -> float:
        """Rows of a sequence, on average."""
        n_rows = len(self.ranks) if self.copies is None else len(np.unique(self.ranks))
        return n_rows / self.sequences.count


def check_sequence_and_groups(sequence: Any, groups: Any, n_rows: int) -> Groups | None:
    """Return what is independent: the groups, which hold whole sequences; else the sequences.

    None if rows are independent.
    """
    sequences, found = check_groups(sequence, n_rows, "sequence"), check_groups(groups, n_rows)
    if sequences is None or found is None:
        return sequences if found is None else found
    require_nested_sequences(sequences, found, sequence)
    return found


def check_sequence(sequence: Any, n_rows: int, purpose: str) -> Groups:
    """Return the sequence of each row; ``purpose`` says what it is needed for."""
    found = check_groups(sequence, n_rows, "sequence")
    if found is None:
        raise InputError(
            f"sequence is None: it must be the id of the sequence of each row, for {purpose}"
        )
    return found


def order_of_rows(sequences: Groups, clock: NDArray[Any] | None, ids: Any, name: str) -> Codes:
    """Return the indices of the rows, sequence by sequence, each in the order of a clock.

    Without a clock rows stay in their given order. Two rows of a sequence that have the same place
    are refused; ``ids`` are the sequences as they were given, and ``name`` is that of the clock.
    """
    if clock is None:
        return np.argsort(sequences.codes, kind="stable")
    order = np.lexsort((clock, sequences.codes))
    codes, sorted_clock = sequences.codes[order], clock[order]
    tied = (codes[1:] == codes[:-1]) & (sorted_clock[1:] == sorted_clock[:-1])
    if tied.any():
        row = int(order[1:][np.argmax(tied)])
        hint = "leave time out if the rows are in order"
        which = as_array(ids, "sequence")[row]
        raise InputError(tied_message(name, which, f" (one is row {row})", hint))
    return order


def tied_message(name: str, sequence: Any, where: str, hint: str) -> str:
    """Return what is wrong with two rows of a sequence that have the same place."""
    if name == "order":
        hint = "it must put the rows of a sequence in order"
    return (
        f"{name} must differ between the rows of a sequence, but two rows of the sequence "
        f"{sequence} have the same{where}: {hint}"
    )


def check_sequence_order(
    sequence: Any,
    n_rows: int,
    *,
    order: Any = None,
    times: Times | None = None,
    labels: NDArray[Any] | None = None,
) -> SequenceOrder | None:
    """Check ``sequence`` and ``order``; by default rows follow each other in time.

    Rows of a sequence that lie in another order than their times are refused: time may run
    backwards, as minutes that are left do. So are rows that lie in the reverse of ``order``.
    """
    if sequence is None:
        if order is not None:
            raise InputError(
                "order puts the rows of a sequence in order, but sequence is None: pass the id of "
                "the sequence of each row"
            )
        return None
    sequences = check_sequence(sequence, n_rows, "rows learn from those that follow them")
    name = "time" if order is None else "order"
    if order is not None:
        clock = check_time(_exact(order), n_rows, name="order").values
    elif times is not None and times.values.ndim == 1:
        clock = times.values
    else:
        raise InputError(
            "time has two clocks, so that order must say which rows follow each other: pass a "
            "number or a time for each row that grows along its sequence"
        )
    try:
        permutation = order_of_rows(sequences, clock, sequence, name)
    except InputError as error:
        if name == "order":
            raise
        text = str(error).removesuffix("leave time out if the rows are in order")
        raise InputError(f"{text}{PASS_ORDER}") from None
    _require_no_contradiction(sequences, permutation, sequence, name)
    ranks = np.empty(n_rows, dtype=np.intp)
    ranks[permutation] = np.arange(n_rows)
    return SequenceOrder(sequences, ranks, _mixed(sequences, labels, sequence))


def _exact(order: Any) -> Any:
    """Replace integers that a double does not represent by their ranks, which are all it takes."""
    array = as_array(order, "order")
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        return order
    if max(int(array.max()), -int(array.min())) < EXACT_INTEGER:
        return order
    return np.unique(array, return_inverse=True)[1]


def _mixed(sequences: Groups, labels: NDArray[Any] | None, ids: Any) -> str | None:
    """Return the id of the first sequence whose labels, codes or soft ones, differ."""
    if labels is None:
        return None
    label_of_sequence = np.empty((sequences.count, *labels.shape[1:]), dtype=labels.dtype)
    label_of_sequence[sequences.codes] = labels
    differs = label_of_sequence[sequences.codes] != labels
    differs = differs.any(axis=1) if labels.ndim == 2 else differs
    return str(as_array(ids, "sequence")[int(np.argmax(differs))]) if differs.any() else None


def can_be_ordered(
    sequence: Any, n_rows: int, *, order: Any = None, times: Times | None = None
) -> bool:
    """Whether `check_sequence_order` accepts an order, for fits that can do without one."""
    try:
        check_sequence_order(sequence, n_rows, order=order, times=times)
    except InputError:
        return False
    return True


def all_in_reverse(codes: Codes, order: Codes) -> bool:
    """Whether rows, sorted by sequence and place, lay in the reverse of it in all sequences."""
    inside = codes[1:] == codes[:-1]
    return bool(inside.any() and (order[1:] < order[:-1])[inside].all())


def _require_no_contradiction(sequences: Groups, order: Codes, ids: Any, name: str) -> None:
    """Refuse rows whose own order is not that of the clock."""
    codes = sequences.codes[order]
    inside = codes[1:] == codes[:-1]
    backward = inside & (order[1:] < order[:-1])
    n_backward, n_inside = np.count_nonzero(backward), np.count_nonzero(inside)
    if not n_backward or (name == "order" and n_backward < n_inside):
        return
    row = int(order[:-1][np.argmax(backward)])
    which = as_array(ids, "sequence")[row]
    if name == "order":
        raise InputError(
            "order must grow along a sequence, but all rows lie in the reverse of it (one is row "
            f"{row}, of the sequence {which}). If rows lie newest first turn them around; does it "
            "count down? Pass -order then"
        )
    raise InputError(
        f"time must grow along a sequence, but row {row} of the sequence {which} has an earlier "
        "time than a row before it. If time counts down pass order=, any numbers that grow along "
        "the sequence; if the rows are only not sorted pass order=time"
    )
