"""Tables of predictions in files: CSV, Parquet and JSON lines, read by column and in blocks.

::

    open_source ──> read_columns ──> as_numbers, as_times, as_labels, as_ids      all rows at once
               └──> stream ──> blocks of rows ──> open_sink                       block by block

A file that cannot be read raises an `InputError` with a message of one sentence. Rows are counted
from 1, without the header of a CSV file.
"""

from tempocal.files.column_problems import ColumnError, MissingColumnError
from tempocal.files.convert import as_numbers, as_times
from tempocal.files.formats import FORMATS, Format, format_of
from tempocal.files.id_columns import Ids, as_ids, as_labels
from tempocal.files.read_tables import Stream, column_names, read_columns, require_columns, stream
from tempocal.files.sink import open_sink
from tempocal.files.source import Source, open_source

__all__ = [
    "FORMATS",
    "ColumnError",
    "Format",
    "Ids",
    "MissingColumnError",
    "Source",
    "Stream",
    "as_ids",
    "as_labels",
    "as_numbers",
    "as_times",
    "column_names",
    "format_of",
    "open_sink",
    "open_source",
    "read_columns",
    "require_columns",
    "stream",
]
