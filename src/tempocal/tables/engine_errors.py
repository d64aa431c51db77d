"""Errors that an engine raises during a pass, as a short `TableError`."""

from collections.abc import Iterator
from contextlib import contextmanager

from tempocal.errors import TableError

# Packages whose errors concern the data: a truncated file, a lost worker.
_ENGINES = ("duckdb", "_duckdb", "polars", "pyarrow", "pyspark", "py4j", "ibis")
# Lines and characters of the engine's message that are passed on.
MAX_LINES, MAX_LENGTH = 3, 300


@contextmanager
def translated_errors(description: str) -> Iterator[None]:
    """Raise a `TableError` that names the pass and quotes the engine."""
    try:
        yield
    except Exception as error:
        package = type(error).__module__.split(".", maxsplit=1)[0]
        if package not in _ENGINES:
            raise
        raise TableError(
            f"the table could not be read to its end while {description}: {short_message(error)}"
        ) from error


def short_message(error: Exception) -> str:
    """Return the first lines of an error message as one line."""
    lines = [line.strip() for line in str(error).strip().splitlines()]
    return "; ".join(line for line in lines[:MAX_LINES] if line)[:MAX_LENGTH]
