"""What engines raise when they cannot read the rows to their end, in a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from tempocal.errors import TableError

# Packages whose errors are about the rows: a file that ends too soon, a worker that was lost.
_ENGINES = ("duckdb", "_duckdb", "polars", "pyarrow", "pyspark", "py4j", "ibis")
# How much of an engine's words is passed on.
LINES, LONGEST = 3, 300


@contextmanager
def naming_failures(doing: str) -> Iterator[None]:
    """Say what was being done, and what the engine has to say about it, in short."""
    try:
        yield
    except Exception as error:
        package = type(error).__module__.split(".", maxsplit=1)[0]
        if package not in _ENGINES:
            raise
        raise TableError(
            f"the table could not be read to its end while {doing}: {in_short(error)}"
        ) from error


def in_short(error: Exception) -> str:
    """Return the first lines of what an engine has to say, as one."""
    lines = [line.strip() for line in str(error).strip().splitlines()]
    return "; ".join(line for line in lines[:LINES] if line)[:LONGEST]
