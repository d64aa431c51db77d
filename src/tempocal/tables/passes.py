"""Passes over the rows of a table: their number, and a progress callback before each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tempocal.tables.engine_errors import translated_errors
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns, collect

# Called before each pass with a description of it.
ProgressCallback = Callable[[str], None]


@dataclass(frozen=True)
class TableWithProgress:
    """A table and a progress callback."""

    table: Any
    progress: ProgressCallback


@dataclass
class Passes:
    """Counter of the passes over a table."""

    count: int = 0
    progress: ProgressCallback = field(default=lambda description: None)

    def collect(self, frame: Frame, description: str) -> Columns:
        """Run one pass and collect its result."""
        self.progress(description)
        with translated_errors(description):
            found = collect(frame)
        self.count += 1
        return found
