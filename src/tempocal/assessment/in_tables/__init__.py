"""Assessment of rows in a table: fits and metrics run in its engine."""

from tempocal.assessment.in_tables.row_source import TableSource, read_row_source

__all__ = ["TableSource", "read_row_source"]
