"""Tables of predictions in files: CSV, Parquet and JSON lines, read by column and in blocks.

::

    open_input ──> read_columns ──> as_numbers, as_times, as_labels, as_ids      all rows at once
               └──> stream ──> blocks of rows ──> open_output                       block by block

A file that cannot be read raises an `InputError` with a message of one sentence. Rows are counted
from 1, without the header of a CSV file.
"""

from tempocal.files.column_problems import ColumnError, MissingColumnError
from tempocal.files.convert import as_numbers, as_times
from tempocal.files.formats import FORMATS, Format, format_of
from tempocal.files.id_columns import Ids, as_ids, as_labels
from tempocal.files.input_file import InputFile, open_input
from tempocal.files.output_file import open_output
from tempocal.files.read_tables import Stream, column_names, read_columns, require_columns, stream

__all__ = [
    "FORMATS",
    "ColumnError",
    "Format",
    "Ids",
    "InputFile",
    "MissingColumnError",
    "Stream",
    "as_ids",
    "as_labels",
    "as_numbers",
    "as_times",
    "column_names",
    "format_of",
    "open_input",
    "open_output",
    "read_columns",
    "require_columns",
    "stream",
]
