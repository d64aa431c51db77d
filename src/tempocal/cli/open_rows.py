"""The rows of a file, in memory unless it is large."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tempocal.cli.options import Named
from tempocal.cli.progress import waiting
from tempocal.cli.read_predictions import Predictions, predictions_of
from tempocal.files import open_input

if TYPE_CHECKING:
    from tempocal.cli.large import Large


@contextmanager
def opened(named: Named, doing: str) -> "Iterator[Predictions | Large]":
    """Read and check the columns that were named; ``doing`` is what is done with a large file."""
    with open_input(named.file, named.format) as source:
        from tempocal.cli.large import is_large, large_rows

        if is_large(source):
            with large_rows(named, source, doing) as large:
                yield large
            return
        with waiting(f"Reading {named.file}"):
            rows = predictions_of(named, source)
    yield rows
