"""What engines raise when they cannot read the rows to their end, in a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from tempocal.errors import TableError

# Packages whose errors are about the rows: a file that ends too soon, a worker that was lost.
_ENGINES = ("duckdb", "_duckdb", "polars", "pyarrow", "pyspark", "py4j", "ibis")


@contextmanager
def naming_failures(doing: str) -> Iterator[None]:
    """Say what was being done, and the first line of what the engine has to say about it."""
    try:
        yield
    except Exception as error:
        package = type(error).__module__.split(".", maxsplit=1)[0]
        if package not in _ENGINES:
            raise
        said = str(error).strip().split("\n", maxsplit=1)[0]
        raise TableError(f"the table could not be read to its end while {doing}: {said}") from error
