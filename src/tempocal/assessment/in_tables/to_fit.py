"""Rows of a table that calibrators are fitted to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.methods import is_along_time
from tempocal.inputs import Inputs, from_seconds
from tempocal.lazy import cached
from tempocal.metrics.in_tables.scored_frame import ScoredFrame
from tempocal.metrics.in_tables.time_bins import cut_moments, find_moments
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.labeled_table import read_labeled_table
from tempocal.tables.passes import TableWithProgress
from tempocal.tables.transfer import Columns


@dataclass(frozen=True)
class TableToFit:
    """A part of a table."""

    table: Any
    roles: ColumnRoles
    classes: NDArray[Any]
    progress: Callable[[str], None]

    @property
    def inputs(self) -> Inputs:
        """What the predictions are."""
        return self.roles.inputs

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator, along time if it is one of those."""
        named = self.roles.fit_arguments(along_time=is_along_time(calibrator))
        return calibrator.fit_table(self._reporting, **named)

    def times(self) -> NDArray[Any]:
        """Return the distinct times; of more than a million, the first and the last."""
        found, is_exact = self._moments
        times = found["low"] if is_exact else np.array([found["low"][0], found["high"][-1]])
        assert self._rows.rows.time_kind is not None
        return from_seconds(times, self._rows.rows.time_kind)

    def mean_times(self, n_bins: int) -> NDArray[Any]:
        """Return the mean time of each stretch."""
        return cut_moments(self._rows, self._moments, n_bins).ends.middle

    @property
    def _reporting(self) -> TableWithProgress:
        return TableWithProgress(self.table, self.progress)

    @cached
    def _rows(self) -> ScoredFrame:
        rows = read_labeled_table(self._reporting, self.roles, self.classes)
        return ScoredFrame(rows.frame.select("time", weight=rows.weight), rows, None)

    @cached
    def _moments(self) -> tuple[Columns, bool]:
        return find_moments(self._rows)
