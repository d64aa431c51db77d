"""Exact passes: loss, gradient and Hessian summed over all rows of a table.

A fit runs on surrogate rows (`tempocal.tables.surrogate`) and corrects their sums by those of an
exact pass at its optimum. The engine evaluates the loss of each row and its derivatives as
formulas (`tempocal.tables.row_loss`), and sums them by finest key.
"""

from collections.abc import Iterable

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.nodes import Column, Expression, Number
from tempocal.links import Array
from tempocal.rows import LinearPredictor, Sums
from tempocal.rows.surrogate import GroupGradients
from tempocal.tables.computed_columns import sum_by
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.group_ids import GroupIds, codes_of
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.row_loss import Terms, pairs, terms_of
from tempocal.tables.unchanged import require_same

# Largest number of (group, finest key) pairs to collect; beyond it, groups are summed in buckets.
MAX_PAIRS = 2**20
MIN_BUCKETS = 64
# With more coefficients a Hessian has too many entries for one query.
MAX_COEFFICIENTS = 42


class TableExactSums:
    """Exact sums over the rows of a table under one model.

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
    """

    def __init__(
        self,
        labeled: LabeledTable,
        finest_keys: FinestKeys,
        predictor: LinearPredictor,
        clusters: GroupIds | None,
    ) -> None:
        if predictor.n_coefficients > MAX_COEFFICIENTS:
            raise InputError(
                f"the calibrator has {predictor.n_coefficients} coefficients, but from a table at "
                f"most {MAX_COEFFICIENTS} can be fitted (six classes for a matrix): take "
                "VectorScaling(), or fit a sample of the rows as arrays"
            )
        self._labeled, self._finest_keys = labeled, finest_keys
        self._predictor, self._clusters = predictor, clusters
        self.weights = finest_keys.weights

    def exact_sums(self, theta: Array) -> Sums:
        """Return the sums over the rows of each finest key; theta is (keys, coefficients)."""
        terms, width = self._terms(), self._predictor.n_coefficients
        named = {
            "total_weight": Number(1.0),
            "loss": terms.loss,
            **_numbered("g", terms.gradient),
            **_numbered("h", terms.hessian),
        }
        frame = self._finest_keys.join_columns(_theta_columns(theta))
        summed = sum_by(frame, self._finest_keys.on, named, weighted=self._labeled.has_weights)
        found = self._labeled.passes.collect(summed, "summing over all rows")
        sums = Sums.zeros(self._finest_keys.count, width, hessian=True)
        assert sums.hessian is not None
        keys = self._finest_keys.indices(found)
        require_same(
            self.weights, np.bincount(keys, found["total_weight"], minlength=len(self.weights))
        )
        np.add.at(sums.loss, keys, found["loss"])
        for p in range(width):
            np.add.at(sums.gradient[:, p], keys, found[f"g{p}"])
        for k, (p, q) in enumerate(pairs(width)):
            np.add.at(sums.hessian[:, p, q], keys, found[f"h{k}"])
            sums.hessian[:, q, p] = sums.hessian[:, p, q]
        return sums

    def exact_group_gradients(self, theta: Array) -> GroupGradients:
        """Return gradients summed over the rows of each group and finest key."""
        assert self._clusters is not None
        frame = self._finest_keys.join_columns(_theta_columns(theta))
        max_pairs = min(self._clusters.count * self._finest_keys.count, self._labeled.n_rows)
        if max_pairs > MAX_PAIRS:
            buckets = max(MIN_BUCKETS, MAX_PAIRS // self._finest_keys.count)
            frame = self._clusters.replace_by_bucket(frame, buckets)
        named = _numbered("g", self._terms().gradient)
        by = ("group", *self._finest_keys.on)
        summed = sum_by(frame, by, named, weighted=self._labeled.has_weights)
        found = self._labeled.passes.collect(summed, "summing over the rows of each group")
        codes, count = codes_of(found["group"])
        gradients = np.stack([found[name].astype(np.float64) for name in named])
        return GroupGradients(codes, self._finest_keys.indices(found), gradients, count)

    def _terms(self) -> Terms:
        z = tuple(Column(f"z{k}") for k in range(self._labeled.n_columns))
        width = self._predictor.n_coefficients
        return terms_of(self._predictor, z, [Column(f"theta{p}") for p in range(width)])


def _numbered(prefix: str, terms: Iterable[Expression]) -> dict[str, Expression]:
    return {f"{prefix}{k}": each for k, each in enumerate(terms)}


def _theta_columns(theta: Array) -> dict[str, Array]:
    return {f"theta{p}": np.ascontiguousarray(column) for p, column in enumerate(theta.T)}
