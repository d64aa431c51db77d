"""The time since the first row of a sequence, in blocks of a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tempocal.cli.flag_wording import translate_errors
from tempocal.errors import InputError
from tempocal.files import as_times
from tempocal.files.convert import present
from tempocal.inputs import TimeKind, check_time
from tempocal.links import Array


@dataclass(frozen=True)
class Elapsed:
    """The first moment of each sequence, in seconds, as of `tempocal.clocks.elapsed`."""

    column: str
    sequence: str
    kind: TimeKind
    first: dict[Any, float]

    @classmethod
    def of(cls, column: str, sequence: str, blocks: Iterator[Any]) -> "Elapsed":
        """Look for the first row of each sequence among all rows of a file."""
        kind: TimeKind | None = None
        first: dict[Any, float] = {}
        n_rows = 0
        for block in blocks:
            times, found = _seconds(block, column, n_rows + 1)
            if kind not in (None, found):
                raise InputError(
                    f"--elapsed: column {column!r} is {kind} up to row {n_rows} and {found} after "
                    "it: all of it must be numbers, or all of it dates"
                )
            kind, (ids, codes) = found, _ids(block, sequence, n_rows + 1)
            lowest = np.full(len(ids), np.inf)
            np.minimum.at(lowest, codes, times)
            for name, moment in zip(ids, lowest.tolist(), strict=True):
                first[name] = min(moment, first.get(name, moment))
            n_rows += len(times)
        assert kind is not None
        return cls(column, sequence, kind, first)

    def times(self, block: Any, first_row: int) -> Any:
        """Return the time since the first row of the sequence for each row of a block."""
        times, _ = _seconds(block, self.column, first_row)
        ids, codes = _ids(block, self.sequence, first_row)
        return pa.array(times - np.array([self.first[name] for name in ids])[codes])

    def type(self, kind: str) -> Any:
        """Return the type of the times in a file: of CSV all is text."""
        return pa.string() if kind == "csv" else pa.float64()


def _seconds(block: Any, column: str, first_row: int) -> tuple[Array, TimeKind]:
    given = as_times(block.column(column), column, first_row)
    with translate_errors(first_row):
        times = check_time(given, len(given), name="time")
    return times.values.astype(np.float64), times.kinds[0]


def _ids(block: Any, name: str, first_row: int) -> tuple[list[Any], Any]:
    encoded = present(block.column(name), name, first_row).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
