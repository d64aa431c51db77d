"""Rows of a table: loss, gradient and Hessian by exact passes.

A fit runs on surrogate rows and corrects their sums by those of an exact pass at its optimum
(`tempocal.rows.surrogate`). The engine evaluates the loss of each row and its derivatives as
formulas (`tempocal.tables.row_loss`), and sums them by finest key.
"""

from collections.abc import Iterable, Iterator
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tempocal.errors import InputError
from tempocal.formula.nodes import Column, Expression, Number
from tempocal.inputs import Codes
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.rows import LinearPredictor, Sums
from tempocal.rows.sums import mean_squares_of
from tempocal.tables.computed_columns import sum_by
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.group_ids import GroupIds, codes_of
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import Terms, pairs, terms_of
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same

# Largest number of (group, finest key) pairs to collect; beyond it, groups are summed in buckets.
MAX_PAIRS = 2**20
MIN_BUCKETS = 64
# With more coefficients a Hessian has too many entries for one query.
MAX_COEFFICIENTS = 42
# Relative change of the coefficients up to which gradients by group are used again.
NEAR = 1e-8


class TableRows:
    """The rows of a table under one model, by finest key; every sum is a pass.

    Parameters
    ----------
    labeled : LabeledTable
        The rows.
    finest_keys : FinestKeys
        Finest keys of the rows.
    predictor : LinearPredictor
        The model.
    clusters : GroupIds or None
        Groups of the rows.
    mean_squares : ndarray of shape (coefficients,) or None
        Mean squares of the features, if they are known without a pass.
    grouped_as : TableRows or None
        Other rows of the same groups, whose gradients by group are used instead of a pass.
    """

    is_exact = True
    # Only sums are known, and no row.
    detects_separation = False

    def __init__(
        self,
        labeled: LabeledTable,
        finest_keys: FinestKeys,
        predictor: LinearPredictor,
        clusters: GroupIds | None,
        *,
        mean_squares: Array | None = None,
        grouped_as: "TableRows | None" = None,
    ) -> None:
        if predictor.n_coefficients > MAX_COEFFICIENTS:
            raise InputError(
                f"the calibrator has {predictor.n_coefficients} coefficients, but from a table at "
                f"most {MAX_COEFFICIENTS} can be fitted (six classes for a matrix): take "
                "VectorScaling(), or fit a sample of the rows as arrays"
            )
        self._labeled, self._finest_keys = labeled, finest_keys
        self._predictor, self._clusters = predictor, clusters
        self._known_mean_squares, self._grouped_as = mean_squares, grouped_as
        self._group_gradients: tuple[Array, list[csr_array]] | None = None
        self.n_keys, self.n_coefficients = finest_keys.count, predictor.n_coefficients
        self.key_weights = finest_keys.weights
        self.total_weight = float(finest_keys.weights.sum())

    @property
    def all_rows(self) -> Self:
        """These rows."""
        return self

    @cached
    def mean_squares(self) -> Array:
        """Diagonal of the Hessian at theta = 0, times 4 and divided by the total weight."""
        known = self._known_mean_squares
        return mean_squares_of(self) if known is None else known

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        terms, width = self._terms(), self._predictor.n_coefficients
        named = {
            "total_weight": Number(1.0),
            "loss": terms.loss,
            **_numbered("g", terms.gradient),
            **_numbered("h", terms.hessian if hessian else ()),
        }
        frame = self._finest_keys.join_columns(theta_columns(theta))
        summed = sum_by(frame, self._finest_keys.on, named, weighted=self._labeled.has_weights)
        found = self._labeled.passes.collect(summed, "summing over all rows")
        sums = Sums.zeros(self.n_keys, width, hessian=hessian)
        keys = self._finest_keys.indices(found)
        weights = np.bincount(keys, found["total_weight"], minlength=self.n_keys)
        require_same(self.key_weights, weights)
        np.add.at(sums.loss, keys, found["loss"])
        for p in range(width):
            np.add.at(sums.gradient[:, p], keys, found[f"g{p}"])
        if sums.hessian is not None:
            for k, (p, q) in enumerate(pairs(width)):
                np.add.at(sums.hessian[:, p, q], keys, found[f"h{k}"])
                sums.hessian[:, q, p] = sums.hessian[:, p, q]
        return sums

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    def refine(self, theta: Array, *, diverged: bool = False) -> bool:
        """Return False: the sums are exact."""
        return False

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Return True for all keys: separation is not detected."""
        return np.ones(self.n_keys, dtype=bool)

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Iterator[list[csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient."""
        if self._grouped_as is not None:
            yield self._grouped_as.any_group_gradients
            return
        if self._group_gradients is not None:
            before, gradients = self._group_gradients
            change = np.linalg.norm(theta - before, axis=1)
            if (change <= NEAR * np.linalg.norm(before, axis=1)).all():
                yield gradients
                return
        self._group_gradients = theta, self._sum_by_group(theta)
        yield self._group_gradients[1]

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """Count the groups that have rows under each key."""
        pairs_with_rows = self.any_group_gradients[0].tocsc()
        return np.asarray(np.diff(pairs_with_rows.indptr), dtype=np.float64)

    @property
    def has_group_gradients(self) -> bool:
        """Whether a pass by group was made."""
        return self._group_gradients is not None

    @property
    def any_group_gradients(self) -> list[csr_array]:
        """Gradients by group at any point: they show which groups have rows under which keys."""
        if self._group_gradients is None:
            zero = np.zeros((self.n_keys, self.n_coefficients))
            return next(self.group_gradients(zero, np.zeros(0, dtype=np.intp), 0))
        return self._group_gradients[1]

    def _sum_by_group(self, theta: Array) -> list[csr_array]:
        assert self._clusters is not None
        frame = in_few_groups(
            self._finest_keys.join_columns(theta_columns(theta)), self._clusters, self.n_keys
        )
        named = _numbered("g", self._terms().gradient)
        by = ("group", *self._finest_keys.on)
        summed = sum_by(frame, by, named, weighted=self._labeled.has_weights)
        found = self._labeled.passes.collect(summed, "summing over the rows of each group")
        codes, count = codes_of(found["group"])
        indices, shape = (codes, self._finest_keys.indices(found)), (count, self.n_keys)
        return [
            coo_array((found[name].astype(np.float64), indices), shape=shape).tocsr()
            for name in named
        ]

    def _terms(self) -> Terms:
        z = tuple(Column(f"z{k}") for k in range(self._labeled.n_columns))
        width = self._predictor.n_coefficients
        return terms_of(self._predictor, z, [Column(f"theta{p}") for p in range(width)])


def _numbered(prefix: str, terms: Iterable[Expression]) -> dict[str, Expression]:
    return {f"{prefix}{k}": each for k, each in enumerate(terms)}


def in_few_groups(frame: Frame, clusters: GroupIds, n_keys: int) -> Frame:
    """Replace groups by buckets of groups where sums by group and key would be too many."""
    if min(clusters.count * n_keys, clusters.rows.n_rows) <= MAX_PAIRS:
        return frame
    return clusters.replace_by_bucket(frame, max(MIN_BUCKETS, MAX_PAIRS // n_keys))


def theta_columns(theta: Array) -> Columns:
    """Coefficients of each key as columns."""
    return {f"theta{p}": np.ascontiguousarray(column) for p, column in enumerate(theta.T)}
