"""What was seen of a table so far, for all fits to it."""

from typing import Any

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows import LinearPredictor, Scores
from tempocal.rows.surrogate import Stand, StandingRows
from tempocal.tables.cell_counts import Cells
from tempocal.tables.exact_sums import TableModel
from tempocal.tables.gain_sums import GainSums, gains_of_map
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labelled import Labelled
from tempocal.tables.surrogate import StandIns, find_cells


class Looks:
    """What was seen of the table so far, for all fits to it."""

    def __init__(
        self,
        labelled: Labelled,
        clusters: GroupIds | None,
        *,
        exact: bool,
        like: "Looks | None" = None,
    ) -> None:
        self._labelled, self._clusters, self._exact, self._like = labelled, clusters, exact, like
        self._stands: dict[LinearPredictor, Stand] = {}
        self._cells: dict[int, tuple[Cells, Codes]] = {}

    def stand(self, predictor: LinearPredictor, few: StandIns) -> Stand:
        """Return the few rows of a model."""
        if predictor not in self._stands:
            model = TableModel(self._labelled, few.atoms, predictor, self._clusters)
            scores = Scores(few.logits, few.labels, len(self._labelled.classes))
            common = {"weights": few.weights, "keys": few.atom_of, "n_keys": few.atoms.count}
            self._stands[predictor] = Stand(
                predictor.stored(scores, **common),
                model,
                exact=self._exact,
                sampled=few.sampled,
                groups_of=None if self._like is None else self._like.stand(predictor, few),
            )
        return self._stands[predictor]

    def known_cells(self, of_class: int) -> tuple[Cells, Codes] | None:
        """Return counts in fine bins, if there are any yet."""
        return self._cells.get(of_class)

    def cells(self, of_class: int, few: StandIns) -> tuple[Cells, Codes]:
        """Return counts of the log-odds of a class in fine bins, and the atom of each cell."""
        if of_class not in self._cells:
            self._cells[of_class] = find_cells(self._labelled, few.atoms, of_class)
        return self._cells[of_class]

    def groups_by_key(self, places: Codes, n_keys: int) -> Array | None:
        """How many groups have rows under each key, if a look at groups has shown it."""
        known = [stand for stand in self._stands.values() if stand.knows_groups]
        return StandingRows(known[0], places, n_keys).groups_by_key(places, 0) if known else None

    def compare(self, fitted: Any, few: StandIns) -> GainSums:
        """Compare what a map that does not change along time says with what rows came with."""
        return gains_of_map(self._labelled, few.atoms, fitted)
