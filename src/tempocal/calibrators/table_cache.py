"""Results of passes over a table, shared by all fits to it."""

from typing import Any

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows import (
    LabeledLogits,
    LinearPredictor,
    Sequences,
    SurrogateRows,
)
from tempocal.tables.cell_counts import CellCounts
from tempocal.tables.coarse_rows import CoarseRows
from tempocal.tables.collected_sequences import (
    CollectedRows,
    collect_rows,
    is_in_memory,
)
from tempocal.tables.exact_sums import TableRows
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.gain_sums import GainSums, gains_of_map
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.sequence_order import TableSequenceOrder
from tempocal.tables.sequence_windows import SequenceTable, WindowSequences
from tempocal.tables.surrogate import TableSurrogate, count_fine_cells

# Up to this many rows of any table are read into memory, sequence by sequence.
MAX_COLLECTED = 2**20


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
        self._rows: dict[LinearPredictor, SurrogateRows] = {}
        self._all_rows: dict[LinearPredictor, TableRows] = {}
        self._fine_cells: dict[int, tuple[CellCounts, Codes]] = {}
        self._collected: CollectedRows | None = None
        self._sequence_table: SequenceTable | None = None

    def surrogate_rows(
        self, predictor: LinearPredictor, surrogate: TableSurrogate
    ) -> SurrogateRows:
        """Return the surrogate rows of a model, with the corrections of its exact passes."""
        if predictor not in self._rows:
            few = predictor.stored(
                LabeledLogits(surrogate.logits, surrogate.labels, len(self._labeled.classes)),
                weights=surrogate.weights,
                keys=surrogate.finest_key_of,
                n_keys=surrogate.finest_keys.count,
            )
            parent = self._parent
            all_rows = TableRows(
                self._labeled,
                surrogate.finest_keys,
                predictor,
                self._clusters,
                # A sample has other mean squares than the table.
                mean_squares=None if surrogate.sampled and self._exact else few.mean_squares,
                grouped_as=None if parent is None else parent.all_rows(predictor, surrogate),
            )
            self._rows[predictor] = SurrogateRows(few, all_rows, refines=self._exact)
            self._all_rows[predictor] = all_rows
        return self._rows[predictor]

    def all_rows(self, predictor: LinearPredictor, surrogate: TableSurrogate) -> TableRows:
        """Return the rows of the table under a model."""
        self.surrogate_rows(predictor, surrogate)
        return self._all_rows[predictor]

    def sequences(
        self,
        predictor: LinearPredictor,
        finest_keys: FinestKeys,
        order: TableSequenceOrder,
        *,
        key_of_finest: Codes,
        n_keys: int,
        decay: float,
    ) -> Sequences:
        """Return the sequences of a model: in memory where rows are few or lie there already."""
        model = (predictor, key_of_finest, n_keys, decay)
        labeled, clusters = self._labeled, self._clusters
        assert clusters is not None
        collected = self.collected(finest_keys)
        if collected is not None:
            return collected.sequences_of(*model)
        if self._sequence_table is None:
            self._sequence_table = SequenceTable.of(labeled, clusters, finest_keys, order.longest)
        return WindowSequences(self._sequence_table, *model)

    def collected(self, finest_keys: FinestKeys) -> CollectedRows | None:
        """Rows in memory, sequence by sequence, where they are few or lie there already."""
        labeled, clusters, frame = self._labeled, self._clusters, finest_keys.frame
        assert clusters is not None
        if not is_in_memory(frame) and labeled.n_rows > MAX_COLLECTED:
            return None
        if self._collected is None:
            self._collected = collect_rows(labeled, clusters, finest_keys, frame)
        return self._collected

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
        for predictor, all_rows in self._all_rows.items():
            if all_rows.has_group_gradients:
                return CoarseRows(self._rows[predictor], keys, n_keys).groups_by_key(keys, 0)
        return None

    def gain_sums(self, fitted: Any, surrogate: TableSurrogate) -> GainSums:
        """Sum the gains of a map that is constant in time."""
        return gains_of_map(self._labeled, surrogate.finest_keys, fitted)
