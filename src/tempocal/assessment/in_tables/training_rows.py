"""Rows of a table that calibrators are fitted to."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.methods import is_along_time
from tempocal.inputs import Inputs, from_seconds
from tempocal.lazy import cached
from tempocal.metrics.in_tables.scored_frame import ScoredFrame
from tempocal.metrics.in_tables.time_bins import cut_weighted_times, weights_by_time
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.labeled_table import read_labeled_table
from tempocal.tables.passes import ProgressCallback, TableWithProgress
from tempocal.tables.transfer import Columns


@dataclass(frozen=True)
class TableTrainingRows:
    """The part of a table to fit to."""

    table: Any
    roles: ColumnRoles
    classes: NDArray[Any]
    progress: ProgressCallback

    @property
    def inputs(self) -> Inputs:
        """Kind of the predictions."""
        return self.roles.inputs

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator, with times if it depends on time."""
        named = self.roles.fit_arguments(along_time=is_along_time(calibrator))
        return calibrator.fit_table(self._with_progress, **named)

    def times(self) -> NDArray[Any]:
        """Return the distinct times; if more than a million, the first and the last."""
        found, is_exact = self._weights_by_time
        times = found["low"] if is_exact else np.array([found["low"][0], found["high"][-1]])
        assert self._rows.rows.time_kind is not None
        return from_seconds(times, self._rows.rows.time_kind)

    def mean_times(self, n_bins: int) -> NDArray[Any]:
        """Return the mean time of each time bin."""
        return cut_weighted_times(self._rows, self._weights_by_time, n_bins).ranges.middle

    @property
    def _with_progress(self) -> TableWithProgress:
        return TableWithProgress(self.table, self.progress)

    @cached
    def _rows(self) -> ScoredFrame:
        rows = read_labeled_table(self._with_progress, self.roles, self.classes)
        return ScoredFrame(rows.frame.select("time", weight=rows.weight), rows, None)

    @cached
    def _weights_by_time(self) -> tuple[Columns, bool]:
        return weights_by_time(self._rows)
