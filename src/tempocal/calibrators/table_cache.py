"""What was seen of a table so far, for all fits to it."""

from typing import Any

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows import LabelledLogits, LinearPredictor
from tempocal.rows.surrogate import Surrogate, SurrogateRows
from tempocal.tables.cell_counts import CellCounts
from tempocal.tables.exact_sums import TableExactSums
from tempocal.tables.gain_sums import GainSums, gains_of_map
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.surrogate import TableSurrogate, count_fine_cells


class TableCache:
    """What was seen of the table so far, for all fits to it."""

    def __init__(
        self,
        labeled: LabeledTable,
        clusters: GroupIds | None,
        *,
        exact: bool,
        like: "TableCache | None" = None,
    ) -> None:
        self._labeled, self._clusters, self._exact, self._like = labeled, clusters, exact, like
        self._stands: dict[LinearPredictor, Surrogate] = {}
        self._cells: dict[int, tuple[CellCounts, Codes]] = {}

    def stand(self, predictor: LinearPredictor, surrogate: TableSurrogate) -> Surrogate:
        """Return the surrogate rows of a model."""
        if predictor not in self._stands:
            model = TableExactSums(self._labeled, surrogate.finest_keys, predictor, self._clusters)
            scores = LabelledLogits(surrogate.logits, surrogate.labels, len(self._labeled.classes))
            common = {
                "weights": surrogate.weights,
                "keys": surrogate.finest_key_of,
                "n_keys": surrogate.finest_keys.count,
            }
            self._stands[predictor] = Surrogate(
                predictor.stored(scores, **common),
                model,
                exact=self._exact,
                sampled=surrogate.sampled,
                share_groups_with=None
                if self._like is None
                else self._like.stand(predictor, surrogate),
            )
        return self._stands[predictor]

    def known_cells(self, of_class: int) -> tuple[CellCounts, Codes] | None:
        """Return counts in fine bins, if there are any yet."""
        return self._cells.get(of_class)

    def cells(self, of_class: int, surrogate: TableSurrogate) -> tuple[CellCounts, Codes]:
        """Return counts of the log-odds of a class in fine bins, and the atom of each cell."""
        if of_class not in self._cells:
            self._cells[of_class] = count_fine_cells(self._labeled, surrogate.finest_keys, of_class)
        return self._cells[of_class]

    def groups_by_key(self, places: Codes, n_keys: int) -> Array | None:
        """How many groups have rows under each key, if a look at groups has shown it."""
        known = [stand for stand in self._stands.values() if stand.has_group_gradients]
        return SurrogateRows(known[0], places, n_keys).groups_by_key(places, 0) if known else None

    def compare(self, fitted: Any, surrogate: TableSurrogate) -> GainSums:
        """Compare what a map that does not change along time says with what rows came with."""
        return gains_of_map(self._labeled, surrogate.finest_keys, fitted)
