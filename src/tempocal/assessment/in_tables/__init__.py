"""Rows in a table as the source of an assessment; see `tempocal.assessment.row_source`."""

from tempocal.assessment.in_tables.row_source import RowsInTable, read_row_source

__all__ = ["RowsInTable", "read_row_source"]
