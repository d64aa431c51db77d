"""Results of passes over a table, shared by all fits to it."""

from typing import Any

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows import LabeledLogits, LinearPredictor
from tempocal.rows.surrogate import Surrogate, SurrogateRows
from tempocal.tables.cell_counts import CellCounts
from tempocal.tables.exact_sums import TableExactSums
from tempocal.tables.gain_sums import GainSums, gains_of_map
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.surrogate import TableSurrogate, count_fine_cells


class TableCache:
    """Results of passes over a table: exact sums of each model, and counts in fine bins.

    Parameters
    ----------
    labeled : LabeledTable
        The rows.
    clusters : GroupIds or None
        Their groups.
    exact : bool
        Whether surrogate rows are corrected by exact passes.
    parent : TableCache, optional
        Cache of the fit that a coarser one is compared with; its sums by group are reused.
    """

    def __init__(
        self,
        labeled: LabeledTable,
        clusters: GroupIds | None,
        *,
        exact: bool,
        parent: "TableCache | None" = None,
    ) -> None:
        self._labeled, self._clusters, self._exact, self._parent = labeled, clusters, exact, parent
        self._corrected_rows: dict[LinearPredictor, Surrogate] = {}
        self._fine_cells: dict[int, tuple[CellCounts, Codes]] = {}

    def corrected_rows(self, predictor: LinearPredictor, surrogate: TableSurrogate) -> Surrogate:
        """Return the surrogate rows of a model, with the corrections of its exact passes."""
        if predictor not in self._corrected_rows:
            finest_keys, parent = surrogate.finest_keys, self._parent
            exact_sums = TableExactSums(self._labeled, finest_keys, predictor, self._clusters)
            logits = LabeledLogits(surrogate.logits, surrogate.labels, len(self._labeled.classes))
            keyed = {
                "weights": surrogate.weights,
                "keys": surrogate.finest_key_of,
                "n_keys": finest_keys.count,
            }
            self._corrected_rows[predictor] = Surrogate(
                predictor.stored(logits, **keyed),
                exact_sums,
                exact=self._exact,
                sampled=surrogate.sampled,
                share_groups_with=None
                if parent is None
                else parent.corrected_rows(predictor, surrogate),
            )
        return self._corrected_rows[predictor]

    def known_fine_cells(self, of_class: int) -> tuple[CellCounts, Codes] | None:
        """Return counts in fine bins, if they were made before."""
        return self._fine_cells.get(of_class)

    def fine_cells(self, of_class: int, surrogate: TableSurrogate) -> tuple[CellCounts, Codes]:
        """Return counts of the log-odds of a class in fine bins, and the key of each cell."""
        if of_class not in self._fine_cells:
            self._fine_cells[of_class] = count_fine_cells(
                self._labeled, surrogate.finest_keys, of_class
            )
        return self._fine_cells[of_class]

    def groups_by_key(self, keys: Codes, n_keys: int) -> Array | None:
        """Count the groups with rows under each key, if a pass by group was made."""
        known = next(
            (rows for rows in self._corrected_rows.values() if rows.has_group_gradients), None
        )
        return None if known is None else SurrogateRows(known, keys, n_keys).groups_by_key(keys, 0)

    def gain_sums(self, fitted: Any, surrogate: TableSurrogate) -> GainSums:
        """Sum the gains of a map that is constant in time."""
        return gains_of_map(self._labeled, surrogate.finest_keys, fitted)
