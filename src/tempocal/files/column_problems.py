"""Errors of files and columns, without the flag or argument that named them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from zlib import error as zlib_error

import pyarrow as pa

from tempocal.errors import InputError
from tempocal.inputs.text_files import SEPARATORS

# Columns that are listed in an error.
MAX_LISTED = 20


class ColumnError(InputError):
    """A column with invalid values.

    Attributes
    ----------
    column : str
        Its name.
    """

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


class MissingColumnError(ColumnError):
    """There is no such column."""

    def __init__(self, column: str, columns: Sequence[str], name: str) -> None:
        near = get_close_matches(column, columns, n=1)
        guess = f": did you mean {near[0]!r}?" if near else "."
        shown = ", ".join(columns[:MAX_LISTED]) + ", ..." * (len(columns) > MAX_LISTED)
        other = next((mark for mark in SEPARATORS if mark in shown), None)
        if len(columns) == 1 and other is not None:
            shown += f". Fields are to be separated by commas, but these by {other!r}, it seems"
        super().__init__(column, f"{name} has no column {column!r}{guess} Its columns are: {shown}")


@contextmanager
def reading(name: str, what: str) -> Iterator[None]:
    """Turn errors of Arrow into an `InputError` of one line that names the file."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, EOFError, OSError, zlib_error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        first = str(error).strip().split("\n", maxsplit=1)[0]
        raise InputError(f"{name} cannot be read as {what}: {first[:200]}") from error


def no_rows(name: str) -> InputError:
    """Return the error for a file without rows."""
    return InputError(f"{name} has no rows: there is nothing to do")
