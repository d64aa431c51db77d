"""Input of a fit, checked (`FitData`), and its output (`FitResult`)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from tempocal.calibrators.online_state import OnlineState
from tempocal.calibrators.row_shares import RowShares
from tempocal.calibrators.summary import Summary
from tempocal.curves.curve import Curve, Track
from tempocal.inputs import (
    Codes,
    EncodedLabels,
    Groups,
    Inputs,
    SequenceFacts,
    SequenceOrder,
    SoftLabels,
    Times,
    as_array,
    as_logits_and_range,
    check_flag,
    check_groups,
    check_labels,
    check_sequence_order,
    check_soft_labels,
    check_weights,
    count_mixed,
    encode_labels,
    require_column_order,
    require_nested_sequences,
    require_scale,
    warn_of_light_weights,
    warn_of_mixed_labels,
    warn_of_probabilities,
)
from tempocal.kernels import native
from tempocal.kernels.binary_losses import compare, dot
from tempocal.kernels.key_counts import groups_by_key
from tempocal.kernels.min_max import min_max
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array, Floats, log_features, nll_from_logits, one_column
from tempocal.maps import BinaryMap, FittedMap
from tempocal.nonparametric import OrderedRows, losses_before_and_after
from tempocal.rows import (
    LabeledLogits,
    LinearPredictor,
    Rows,
    SequenceRows,
    StoredSequences,
    SurrogateRows,
)
from tempocal.solve import fold_codes

if TYPE_CHECKING:
    from tempocal.calibrators.linear_model import Standardization

# Rows per block in passes over all rows.
BLOCK = 2**15


@dataclass(frozen=True)
class FitData:
    """Checked input of a fit, in arrays."""

    # Logits (n,) or (n, classes), in float32 or float64: the compiled loops read both.
    raw_logits: Floats
    labels: Codes
    weights: Array | None
    groups: Groups | None
    n_classes: int
    times: Array | None = None  # (n,) or (n, 2)
    sequence_order: SequenceOrder | None = None
    # Weight of what comes one row later, below 1 where rows learn from the forecasts that follow.
    # Then they lie sequence by sequence.
    decay: float = 1.0
    earlier: OnlineState | None = None  # what earlier batches left
    max_abs_logit: float | None = None  # if already known
    class_counts: Codes | None = None  # rows of each class, if already known
    shares: RowShares | None = None  # where soft labels split rows
    # By features and model, once computed. Shared with all subsets of the rows, so that their
    # coefficients are comparable.
    standardizations: "dict[tuple[str, int], Standardization | None]" = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_given_rows(self) -> int:
        """Number of rows as they were given, before soft labels split them."""
        return self.n_rows if self.shares is None else self.shares.n_given

    @cached
    def logits(self) -> Array:
        """All logits as float64."""
        return self.raw_logits.astype(np.float64, copy=False)

    def logits_of(self, rows: slice | NDArray[Any]) -> Array:
        """Logits of some rows, as float64."""
        return self.raw_logits[rows].astype(np.float64, copy=False)

    @property
    def has_one_column(self) -> bool:
        """Whether there are two classes and one logit per row."""
        return self.raw_logits.ndim == 1

    @property
    def n_columns(self) -> int:
        """Number of logits per row."""
        return 1 if self.has_one_column else self.raw_logits.shape[1]

    @cached
    def largest_logit(self) -> float:
        """Largest absolute logit."""
        if self.max_abs_logit is not None:
            return self.max_abs_logit
        low, high = min_max(self.raw_logits)
        return float(max(high, -low))

    @cached
    def class_weights(self) -> Array:
        """Total weight of each class, including earlier batches."""
        counts = self.class_counts if self.weights is None else None
        if counts is None:
            counts = np.bincount(self.labels, self.weights, minlength=self.n_classes)
        total = counts.astype(np.float64, copy=False)
        return total if self.earlier is None else total + self.earlier.class_weights

    @cached
    def labeled_logits(self) -> LabeledLogits:
        """Logits and labels; log-odds are computed on first use."""
        return LabeledLogits(self.raw_logits, self.labels, self.n_classes)

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(len(self.labels) if self.weights is None else self.weights.sum())

    def for_refit(self, rows: Codes) -> Self:
        """Select rows for a refit, as in cross-validation."""
        return self.take(rows)

    def take(self, kept: NDArray[Any]) -> Self:
        """Select rows by a mask or by indices."""
        return replace(
            self,
            raw_logits=self.raw_logits[kept],
            labels=self.labels[kept],
            weights=None if self.weights is None else self.weights[kept],
            groups=None if self.groups is None else self.groups.take(kept),
            times=None if self.times is None else self.times[kept],
            sequence_order=None if self.sequence_order is None else self.sequence_order.take(kept),
            max_abs_logit=None,
            class_counts=None,
            shares=None if self.shares is None else self.shares.take(kept),
        )

    def split(self, soft: SoftLabels) -> Self:
        """Split rows by their soft labels: one row for each class, with its share of the weight.

        The shares of a row are dependent: they stay in one group, and along a sequence in its copy
        for their class, since targets are linear in the outcome.
        """
        row, codes, share = soft.split()
        groups, order = self.groups or Groups(np.arange(self.n_rows), self.n_rows), None
        if self.sequence_order is not None:
            order = replace(self.sequence_order.take(row), copies=codes)
        return replace(
            replace(self, groups=groups).take(row),
            labels=codes,
            weights=share if self.weights is None else share * self.weights[row],
            sequence_order=order,
            max_abs_logit=self.max_abs_logit,
            shares=RowShares(row, self.weights),
        )

    @property
    def one_vs_rest_classes(self) -> range:
        """Positive classes of the one-vs-rest problems: the second of two classes, else each."""
        return range(1, 2) if self.n_classes == 2 else range(self.n_classes)

    def binary_problems(self) -> Iterator[tuple[Array, NDArray[Any], Array | None]]:
        """Log-odds, 0/1 targets and weights of each one-vs-rest problem."""
        for k in self.one_vs_rest_classes:
            yield self.labeled_logits.odds[k], self.labels == k, self.weights

    def rows(self, predictor: LinearPredictor, keys: Codes | None, n_keys: int) -> Rows:
        """Return the rows of a model, given the key of each and the number of keys."""
        stored = predictor.stored(
            self.labeled_logits, weights=self.weights, keys=keys, n_keys=n_keys
        )
        few = stored.few()
        rows = stored if few is None else SurrogateRows(few, stored)
        if self.decay == 1.0:
            return rows
        assert self.sequence_order is not None
        codes = self.sequence_order.runs
        mean_weight = self.total_weight / self.n_given_rows
        return SequenceRows(rows, StoredSequences(stored, codes, self.decay), mean_weight)

    @property
    def sequence_facts(self) -> SequenceFacts | None:
        """What is known of the sequences; None if rows are in no sequences."""
        return self.sequence_order

    def learning_from_forecasts(self, decay: float) -> Self:
        """Lay the rows sequence by sequence, to learn from the forecasts that follow each."""
        assert self.sequence_order is not None
        return replace(self.take(self.sequence_order.permutation), decay=decay)

    def track(self, curve: Curve) -> Track:
        """Return the grid and the basis of a curve on these times."""
        assert self.times is not None
        if self.shares is not None:
            return self.shares.track(curve, self.times)
        return curve.track(self.times, self.weights)

    def groups_by_key(self, keys: Codes, n_keys: int) -> Array | None:
        """Count the groups with rows under each key; None without groups."""
        if self.groups is None:
            return None
        return groups_by_key(keys, n_keys, self.groups.codes, self.groups.count)

    def moment(self, *, of_log_proba: bool) -> Array:
        """Hessian of the loss in one class's weights and bias, at equal class probabilities.

        It is ``p (1 - p) X'WX`` with ``p = 1 / n_classes``, the preconditioner for L-BFGS.
        """

        def squares(start: int) -> Array:
            rows = slice(start, start + BLOCK)
            x = log_features(self.logits_of(rows)) if of_log_proba else self.logits_of(rows)
            features = np.concatenate([x, np.ones((len(x), 1))], axis=1)
            weighted = features if self.weights is None else features * self.weights[rows, None]
            return np.asarray(weighted.T @ features)

        share = 1.0 / self.n_classes
        starts = range(0, self.n_rows, BLOCK)
        return np.asarray(share * (1.0 - share) * sum(map(squares, starts)), dtype=np.float64)

    def folds(self, count: int, seed: int = 0) -> Codes:
        """Fold of each row; all rows of a group are in the same fold."""
        return fold_codes(self.n_rows, self.groups, count, seed)

    def add_to_summary(
        self, summary: Summary, losses: tuple[float, float], details: Mapping[str, Any]
    ) -> Summary:
        """Add these rows to a summary, given their mean losses before and after calibration."""
        n_groups = None if self.groups is None else self.groups.count
        return summary.add_batch(
            self.n_given_rows, self.total_weight, n_groups, losses=losses, details=details
        )

    def nll_before_and_after(self, fitted: Callable[..., Array]) -> tuple[float, float]:
        """Mean negative log likelihood before and after calibration."""
        if native is None or not self.has_one_column:
            return self.nll(), self.nll(fitted)

        def sums(start: int) -> Array:
            rows = slice(start, start + BLOCK)
            mapped = one_column(fitted(*self._inputs(rows)))
            weights = None if self.weights is None else self.weights[rows]
            return compare(self.raw_logits[rows], mapped, self.labels[rows], weights)

        parts = map_on_cores(sums, range(0, self.n_rows, BLOCK))
        before, after, *_ = np.sum(parts, axis=0) / self.total_weight
        return float(before), float(after)

    def nll_of_curve(self, ordered: OrderedRows, curve: BinaryMap) -> tuple[float, float]:
        """Return the same for a curve of one column of logits that is sorted already."""
        return losses_before_and_after(ordered, curve)

    def nll(self, fitted: Callable[..., Array] | None = None) -> float:
        """Mean negative log likelihood of the raw logits, or of the calibrated ones."""

        def loss(start: int) -> float:
            rows = slice(start, start + BLOCK)
            logits = self.logits_of(rows) if fitted is None else fitted(*self._inputs(rows))
            losses = nll_from_logits(logits, self.labels[rows])
            return float(losses.sum()) if self.weights is None else dot(losses, self.weights[rows])

        return sum(map_on_cores(loss, range(0, self.n_rows, BLOCK))) / self.total_weight

    def mean(self, values: Array) -> float:
        """Weighted mean over rows."""
        total = float(values.sum()) if self.weights is None else dot(values, self.weights)
        return total / self.total_weight

    def _inputs(self, block: slice) -> tuple[Array, ...]:
        if self.times is None:
            return (self.logits_of(block),)
        return self.logits_of(block), self.times[block]


@dataclass(frozen=True)
class FitResult:
    """The fitted map and details of the fit."""

    map: FittedMap
    details: Mapping[str, Any] = field(default_factory=dict)
    # Variance inflation by correlation within groups; None if it was not estimated.
    design_effect: float | None = None
    # Mean losses, if they are a by-product of the fit.
    nll_before: float | None = None
    nll_after: float | None = None
    # For partial_fit.
    online_state: OnlineState | None = None


@dataclass(frozen=True)
class CheckedRows:
    """Checked rows, the class of each column, and the predictions as passed."""

    data: FitData
    classes: NDArray[Any]
    logits: Any


def check_rows(
    logits: Any,
    y: Any,
    *,
    sample_weight: Any,
    groups: Any,
    inputs: Inputs,
    classes: Any,
    times: Times | None = None,
    sequence: Any = None,
    order: Any = None,
    soft_label: bool = False,
) -> CheckedRows:
    """Check all arguments of a fit together; drop rows of weight zero, and split by soft labels.

    Without ``groups`` sequences are what is independent.
    """
    logits = ensure_array_like(logits, inputs)
    checked, low, high = as_logits_and_range(logits, inputs, name=inputs)
    require_scale(low, high, inputs)
    if inputs == "logits":
        warn_of_probabilities(checked, low, high)
    weights = None
    if sample_weight is not None:
        weights = check_weights(sample_weight, len(checked))
        warn_of_light_weights(weights)
    n_columns = 1 if checked.ndim == 1 else checked.shape[1]
    soft = None
    if check_flag(soft_label, "soft_label"):
        soft = check_soft_labels(y, len(checked), n_columns, classes)
        codes, found_classes, counts = soft.codes, soft.classes, None
        require_column_order(y, found_classes, "y")
    else:
        codes, found_classes, counts = _encode_labels(y, len(checked), n_columns, classes)
    require_column_order(logits, found_classes, inputs)
    n_rows = len(checked)
    labels = codes if soft is None else soft.proba
    sequence_order = check_sequence_order(sequence, n_rows, order=order, times=times, labels=labels)
    found_groups = None if groups is None else check_groups(groups, n_rows, narrow=True)
    if sequence_order is not None:
        sequences = sequence_order.sequences
        if found_groups is None:
            found_groups = sequences
        else:
            require_nested_sequences(sequences, found_groups, sequence)
    if found_groups is not None and soft is None:
        warn_of_mixed_labels(count_mixed(found_groups, codes), found_groups.count)
    data = FitData(
        checked,
        codes,
        weights,
        found_groups,
        len(found_classes),
        None if times is None else times.values,
        sequence_order,
        max_abs_logit=float(max(high, -low)),
        class_counts=counts,
    )
    if weights is not None and not weights.all():
        data = data.take(weights > 0)
        soft = None if soft is None else soft.take(weights > 0)
    if soft is not None and not soft.are_hard:
        data = data.split(soft)
    return CheckedRows(data, found_classes, logits)


def _encode_labels(y: Any, n_rows: int, n_columns: int, classes: Any) -> EncodedLabels:
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        # With the warning that scikit-learn gives.
        y = column_or_1d(as_array(y, "y"), warn=True)
    return encode_labels(check_labels(y, n_rows), classes, n_columns)


def ensure_array_like(logits: Any, name: str) -> Any:
    """Convert to an array unless it has a shape: data frames keep their column names."""
    return logits if hasattr(logits, "shape") else as_array(logits, name)
