"""Sequences in a table: what rows learn from the forecasts that follow, by window functions.

The formulas are those of `tempocal.rows.stored_sequences`. Each method is one pass or a few. With V
the derivative of the forecasts of a row by its linear predictors and D its design, the Jacobian is

    A  =  sum over t of  D_t' V_t D_t   -   (1 - decay) * sum over k of  E_k' V_k D_k ,
    E_k  =  sum over t < k of  decay^(k - t - 1) D_t ,

where E is the design of the earlier rows of a sequence, discounted along it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tempocal.formula.links import log
from tempocal.formula.nodes import Column, Expression, Number, Same, Where, clamp, total
from tempocal.inputs import Codes
from tempocal.links import SMALLEST_PROBABILITY, Array
from tempocal.rows import LinearPredictor, PastScores
from tempocal.tables.computed_columns import sum_by, with_formulas
from tempocal.tables.discounted_sums import PLACE, Windows
from tempocal.tables.exact_sums import in_few_groups, theta_columns
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import RowForecasts, Terms, pairs, terms_of
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same

# Unknowns whose designs are summed along sequences in one pass.
UNKNOWNS = 16
BACKWARD = "tempocal_backward"


@dataclass(frozen=True)
class SequenceTable:
    """The rows of a table along their sequences, shared by all fits to it.

    Attributes
    ----------
    labeled : LabeledTable
        The rows.
    clusters : GroupIds
        Their groups.
    finest_keys : FinestKeys
        All finest keys.
    longest : int
        Most rows of a sequence.
    group_values : ndarray
        Groups, or buckets of them, in order.
    """

    labeled: LabeledTable
    clusters: GroupIds
    finest_keys: FinestKeys
    longest: int
    group_values: NDArray[Any]

    @classmethod
    def of(
        cls, labeled: LabeledTable, clusters: GroupIds, finest_keys: FinestKeys, longest: int
    ) -> "SequenceTable":
        """Collect the groups, in one pass."""
        frame = in_few_groups(finest_keys.frame, clusters, finest_keys.count)
        distinct = frame.select("group").unique()
        values = np.unique(labeled.passes.collect(distinct, "collecting the groups")["group"])
        return cls(labeled, clusters, finest_keys, longest, values)


class WindowSequences:
    """Sequences of the rows of a model; every sum along them is a pass of window functions.

    Parameters
    ----------
    table : SequenceTable
        The rows.
    predictor : LinearPredictor
        The model.
    key_of_finest : ndarray of shape (finest keys,)
        Key of each finest key; rows whose key is -1 are left out of their sequences.
    n_keys : int
        Number of keys.
    decay : float
        Weight of what comes one row later.
    """

    def __init__(
        self,
        table: SequenceTable,
        predictor: LinearPredictor,
        key_of_finest: Codes,
        n_keys: int,
        decay: float,
    ) -> None:
        counted = np.flatnonzero(key_of_finest >= 0)
        self._table, self._labeled, self.decay = table, table.labeled, decay
        self._keys = table.finest_keys.subset(counted)
        self._key_of, self._n_keys = key_of_finest[counted], n_keys
        self._predictor, self._width = predictor, predictor.n_coefficients
        runs = table.labeled.runs
        self._ahead = Windows(BACKWARD, table.longest, runs)
        self._back = Windows(self._labeled.order, table.longest, runs)
        self._known: dict[str, tuple[tuple[Array, ...], Any]] = {}

    def linear_term(self, theta: Array) -> Array:
        """Sum of features times outcomes minus targets at ``theta``: (keys, coefficients)."""
        frame, forecasts = self._with_residuals(theta)
        missing = [
            y - p - Column(f"r{k}")
            for k, (y, p) in enumerate(zip(forecasts.outcomes, forecasts.p, strict=True))
        ]
        terms = {f"g{k}": _product(each, missing) for k, each in enumerate(forecasts.features)}
        found = self._sum(frame, self._keys.on, {**terms, "total_weight": Number(1.0)})
        weights = np.zeros(self._keys.count)
        np.add.at(weights, self._keys.indices(found), found["total_weight"])
        require_same(self._keys.weights, weights)
        return self._by_key(found, list(terms))

    def jacobian(self, theta: Array, directions: Array) -> Array:
        """Minus the derivative of the estimating function in the unknowns of ``directions``."""
        found: Array = self._once("jacobian", self._jacobian, theta, directions)
        return found

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> list[csr_array]:
        """Minus the estimating function, summed by group and key, for each coefficient."""
        found: list[csr_array] = self._once("group_gradients", self._group_gradients, theta)
        return found

    def past_scores(
        self, theta: Array, directions: Array, codes: Codes, count: int
    ) -> Iterator[PastScores]:
        """Scores of the forecast of the row before, and of the mean of all before."""
        frame, forecasts = self._with_past(theta)
        outputs = range(len(forecasts.p))
        gaps = [y - p for y, p in zip(forecasts.outcomes, forecasts.p, strict=True)]
        for name in ("past", "mean_past"):
            past = {k: Column(f"{name}{k}") for k in outputs}
            scores = {"score": _product(past, gaps)}
            by_group = self._sum(self._in_few_groups(frame), ("group",), scores)
            changes = [forecasts.change(past, k) for k in outputs]
            terms = {f"g{q}": _product(each, changes) for q, each in enumerate(forecasts.features)}
            by_key = self._by_key(self._sum(frame, self._keys.on, terms), list(terms))
            scores_of = np.zeros(len(self._table.group_values))
            np.add.at(scores_of, self._groups_of(by_group), by_group["score"])
            yield PastScores(scores_of, np.einsum("tp,tpc->c", by_key, directions))

    def _group_gradients(self, theta: Array) -> list[csr_array]:
        frame, forecasts = self._with_residuals(theta)
        residuals = [-Column(f"r{k}") for k in range(len(forecasts.p))]
        terms = {f"g{k}": _product(each, residuals) for k, each in enumerate(forecasts.features)}
        found = self._sum(self._in_few_groups(frame), ("group", *self._keys.on), terms)
        groups, keys = self._groups_of(found), self._key_of[self._keys.indices(found)]
        shape = (len(self._table.group_values), self._n_keys)
        return [
            coo_array((found[name].astype(np.float64), (groups, keys)), shape=shape).tocsr()
            for name in terms
        ]

    def _jacobian(self, theta: Array, directions: Array) -> Array:
        terms = self._terms()
        named = {f"h{k}": each for k, each in enumerate(terms.hessian)}
        found = self._sum(self._frame(theta), self._keys.on, named)
        hessian = np.zeros((self._n_keys, self._width, self._width))
        by_pair = self._by_key(found, list(named))
        for k, (p, q) in enumerate(pairs(self._width)):
            hessian[:, p, q] = hessian[:, q, p] = by_pair[:, k]
        jacobian = np.einsum("tpa,tpq,tqb->ab", directions, hessian, directions, optimize=True)
        for start in range(0, directions.shape[2], UNKNOWNS):
            unknowns = slice(start, start + UNKNOWNS)
            later = self._changes_later(theta, directions[:, :, unknowns])
            jacobian[unknowns] -= (1.0 - self.decay) * np.einsum(
                "taq,tqb->ab", later, directions, optimize=True
            )
        return np.asarray(jacobian)

    def _changes_later(self, theta: Array, directions: Array) -> Array:
        """Sum of ``E_k' V_k`` times the features, by key: (keys, unknowns, coefficients)."""
        n_unknowns = directions.shape[2]
        frame, forecasts = self._with_forecasts(theta, _direction_columns(directions))
        design = _design(forecasts, directions)
        names = {place: f"e{place[0]}_{place[1]}" for place in design}
        weight = Column("weight") if self._labeled.has_weights else Number(1.0)
        frame = with_formulas(frame, {names[at]: weight * each for at, each in design.items()})
        frame = self._back.look_back(frame, list(names.values()))
        before = {name: f"{name}_before" for name in names.values()}
        frame = frame.with_columns(
            **{old: nw.col(new).fill_null(0.0) for old, new in before.items()}
        )
        frame = self._back.discount(frame, list(names.values()), self.decay)
        terms = {
            f"s{a}_{q}": total(
                Column(name) * forecasts.change(forecasts.features[q], output)
                for (unknown, output), name in names.items()
                if unknown == a
            )
            for a in range(n_unknowns)
            for q in range(self._width)
        }
        found = self._sum(frame, self._keys.on, terms, weighted=False)
        return self._by_key(found, list(terms)).reshape(self._n_keys, n_unknowns, self._width)

    def _with_residuals(self, theta: Array) -> tuple[Frame, RowForecasts]:
        """Add ``r0``, ``r1``, ...: targets minus forecasts."""
        frame, forecasts = self._with_forecasts(theta, {})
        p = [f"p{k}" for k in range(len(forecasts.p))]
        frame = frame.with_columns(**{BACKWARD: nw.col(self._labeled.order) * -1})
        frame = self._ahead.look_back(frame, p)
        is_last = Same(Column(PLACE), Number(0.0))
        steps = {
            f"r{k}": Where(is_last, outcome, Column(f"p{k}_before")) - Column(f"p{k}")
            for k, outcome in enumerate(forecasts.outcomes)
        }
        frame = with_formulas(frame, steps)
        return self._ahead.discount(frame, list(steps), self.decay), forecasts

    def _with_past(self, theta: Array) -> tuple[Frame, RowForecasts]:
        """Add ``past0``, ..., log-odds of the row before, and ``mean_past0``, ..., those of all."""
        frame, forecasts = self._with_forecasts(theta, {})
        clipped = [clamp(p, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY) for p in forecasts.p]
        logs = [log(p) for p in clipped]
        against = log(1.0 - clipped[0]) if len(logs) == 1 else total(logs) / float(len(logs))
        odds = {f"odds{k}": each - against for k, each in enumerate(logs)}
        frame = self._back.look_back(with_formulas(frame, odds), list(odds), list(odds))
        place, none = Column(PLACE), Number(0.0)
        is_first = Same(place, none)
        count = clamp(place, low=1.0)
        past = {}
        for k, name in enumerate(odds):
            past[f"past{k}"] = Where(is_first, none, Column(f"{name}_before"))
            earlier = (Column(f"{name}_total") - Column(name)) / count
            past[f"mean_past{k}"] = Where(is_first, none, earlier)
        return with_formulas(frame, past), forecasts

    def _with_forecasts(self, theta: Array, columns: Columns) -> tuple[Frame, RowForecasts]:
        """Add the forecasts as columns ``p0``, ``p1``, ..., and columns with a value per key."""
        found = self._terms().forecasts
        named = {f"p{k}": each for k, each in enumerate(found.p)}
        frame = with_formulas(self._frame(theta, columns), named)
        return frame, replace(found, p=tuple(Column(name) for name in named))

    def _frame(self, theta: Array, columns: Columns | None = None) -> Frame:
        """Join the coefficients of each key, and other columns, to the rows that are counted."""
        by_key = {**theta_columns(theta), **(columns or {})}
        return self._keys.join_columns({name: of[self._key_of] for name, of in by_key.items()})

    def _terms(self) -> Terms:
        z = tuple(Column(f"z{k}") for k in range(self._labeled.n_columns))
        return terms_of(self._predictor, z, [Column(f"theta{p}") for p in range(self._width)])

    def _in_few_groups(self, frame: Frame) -> Frame:
        return in_few_groups(frame, self._table.clusters, self._table.finest_keys.count)

    def _groups_of(self, found: Columns) -> Codes:
        return np.searchsorted(self._table.group_values, found["group"])

    def _sum(
        self,
        frame: Frame,
        keys: Sequence[str],
        terms: Mapping[str, Expression],
        *,
        weighted: bool = True,
    ) -> Columns:
        summed = sum_by(frame, keys, terms, weighted=weighted and self._labeled.has_weights)
        return self._labeled.passes.collect(summed, "following the sequences")

    def _by_key(self, found: Columns, names: Sequence[str]) -> Array:
        """Add up sums of finest keys: (keys, names)."""
        sums = np.zeros((self._n_keys, len(names)))
        keys = self._key_of[self._keys.indices(found)]
        for k, name in enumerate(names):
            np.add.at(sums[:, k], keys, found[name])
        return sums

    def _once(self, name: str, compute: Callable[..., Any], *given: Array) -> Any:
        """Return what was computed from the same arrays before, or compute it."""
        known = self._known.get(name)
        if known is None or not all(map(np.array_equal, known[0], given)):
            known = self._known[name] = (given, compute(*given))
        return known[1]


def _direction_columns(directions: Array) -> Columns:
    """Coefficients of each key by each unknown, as columns, without those that are zero."""
    return {
        f"d{p}_{a}": np.ascontiguousarray(directions[:, p, a])
        for p in range(directions.shape[1])
        for a in range(directions.shape[2])
        if directions[:, p, a].any()
    }


def _design(forecasts: RowForecasts, directions: Array) -> dict[tuple[int, int], Expression]:
    """Change of each linear predictor with each unknown, by (unknown, output), where not zero."""
    parts: dict[tuple[int, int], list[Expression]] = {}
    for p, feature in enumerate(forecasts.features):
        for a in np.flatnonzero(directions[:, p].any(axis=0)).tolist():
            for output, each in feature.items():
                parts.setdefault((a, output), []).append(Column(f"d{p}_{a}") * each)
    return {place: total(each) for place, each in parts.items()}


def _product(feature: Mapping[int, Expression], values: Sequence[Expression]) -> Expression:
    """Sum a feature times values over linear predictors."""
    return total(each * values[k] for k, each in feature.items())
