"""Rows of a table in memory, sequence by sequence, for fits that learn from forecasts.

Tables that are in memory already, and small ones, are read once. Of others the engine computes the
sums (`tempocal.tables.sequence_windows`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import narwhals as nw
import numpy as np
from scipy.sparse import csr_array

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.inputs.sequence_order import all_in_reverse
from tempocal.links import Array
from tempocal.rows import LabeledLogits, LinearPredictor, PastScores, StoredSequences
from tempocal.tables.exact_sums import in_few_groups
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.group_ids import GroupIds, codes_of
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame


@dataclass(frozen=True)
class CollectedRows:
    """Rows in memory, sequence by sequence, each in its order.

    Attributes
    ----------
    logits : ndarray of shape (n,) or (n, classes)
        Logits.
    labels : ndarray of shape (n,)
        Codes of the classes.
    weights : ndarray of shape (n,) or None
        Weights.
    finest_keys : ndarray of shape (n,)
        Index of the finest key.
    sequences : ndarray of shape (n,)
        Code of the sequence.
    groups : ndarray of shape (n,)
        Code of the group, or of a bucket of groups.
    n_groups : int
        Number of groups, or of these buckets.
    n_classes : int
        Number of classes.
    """

    logits: Array
    labels: Codes
    weights: Array | None
    finest_keys: Codes
    sequences: Codes
    groups: Codes
    n_groups: int
    n_classes: int

    def sequences_of(
        self, predictor: LinearPredictor, key_of_finest: Codes, n_keys: int, decay: float
    ) -> "CollectedSequences":
        """Return the rows of a model; those whose key is -1 are left out."""
        keys = key_of_finest[self.finest_keys]
        kept = np.flatnonzero(keys >= 0)
        scores = LabeledLogits(self.logits[kept], self.labels[kept], self.n_classes)
        weights = None if self.weights is None else self.weights[kept]
        rows = predictor.stored(scores, weights=weights, keys=keys[kept], n_keys=n_keys)
        stored = StoredSequences(rows, self.sequences[kept], decay)
        return CollectedSequences(stored, self.groups[kept], self.n_groups)


def collect_rows(
    labeled: LabeledTable, clusters: GroupIds, finest_keys: FinestKeys, frame: Frame
) -> CollectedRows:
    """Read the rows of a frame into memory, in one pass."""
    names = [f"z{k}" for k in range(labeled.n_columns)]
    # An engine may order by one of the columns that it selects.
    frame = in_few_groups(frame, clusters, finest_keys.count)
    wanted = frame.select(
        *names,
        "label",
        "group",
        "sequence",
        *finest_keys.on,
        place=nw.col(labeled.order),
        weight=labeled.weight,
    )
    found = labeled.passes.collect(wanted, "reading the sequences")
    sequences, _ = codes_of(found["sequence"])
    if len(labeled.runs) > 1:  # the copies of a sequence, one for each class
        sequences = sequences * len(labeled.classes) + found["label"].astype(np.intp)
    order = np.lexsort((found["place"], sequences))
    if is_in_memory(labeled.frame) and all_in_reverse(sequences[order], order):
        raise InputError(
            f"all rows of the table lie in the reverse of their {labeled.order}: does it count "
            "down? A column that grows along each sequence must be named by order="
        )
    found = {name: column[order] for name, column in found.items()}
    groups, n_groups = codes_of(found["group"])
    logits = np.stack([found[name] for name in names], axis=1).astype(np.float64)
    return CollectedRows(
        logits=logits[:, 0] if labeled.n_columns == 1 else logits,
        labels=found["label"].astype(np.intp),
        weights=found["weight"].astype(np.float64) if labeled.has_weights else None,
        finest_keys=finest_keys.indices(found),
        sequences=sequences[order],
        groups=groups,
        n_groups=n_groups,
        n_classes=len(labeled.classes),
    )


@dataclass(frozen=True)
class CollectedSequences:
    """Sequences in memory that know their groups: those of a fit to a table have no codes."""

    stored: StoredSequences
    groups: Codes
    n_groups: int

    @property
    def decay(self) -> float:
        """Weight of what comes one row later."""
        return self.stored.decay

    def linear_term(self, theta: Array) -> Array:
        """Sum of features times outcomes minus targets at ``theta``: (keys, coefficients)."""
        return self.stored.linear_term(theta)

    def jacobian(self, theta: Array, directions: Array) -> Array:
        """Minus the derivative of the estimating function in the unknowns."""
        return self.stored.jacobian(theta, directions)

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> list[csr_array]:
        """Minus the estimating function, summed by group and key, for each coefficient."""
        return self.stored.group_gradients(theta, self.groups, self.n_groups)

    def past_scores(
        self, theta: Array, directions: Array, codes: Codes, count: int
    ) -> Iterator[PastScores]:
        """Scores of the forecast of the row before, and of the mean of all before."""
        return self.stored.past_scores(theta, directions, self.groups, self.n_groups)


def is_in_memory(frame: Frame) -> bool:
    """Whether the rows of a frame are in memory."""
    return not isinstance(frame, nw.LazyFrame)
