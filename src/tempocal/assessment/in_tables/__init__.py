"""The evidence of rows in a table: fitted to and judged where they are."""

from tempocal.assessment.in_tables.row_source import RowsInTable, read_row_source

__all__ = ["RowsInTable", "read_row_source"]
