"""Passes over the rows of a table: how many there were, and a callback before each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tempocal.tables.engine_errors import naming_failures
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns, collect


@dataclass(frozen=True)
class TableWithProgress:
    """A table and a progress callback."""

    table: Any
    progress: Callable[[str], None]


@dataclass
class Passes:
    """The number of passes so far, and a progress callback."""

    count: int = 0
    progress: Callable[[str], None] = field(default=lambda doing: None)

    def collect(self, frame: Frame, doing: str) -> Columns:
        """Make a pass over the rows and bring the result here."""
        self.progress(doing)
        with naming_failures(doing):
            found = collect(frame)
        self.count += 1
        return found
