"""Files with more rows than are read into memory: summed where they are, with DuckDB.

Everything that `tempocal.cli.read_predictions` checks is checked here too, by passes over the rows.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from pyarrow import parquet

from tempocal.cli.column_checks import check_classes, check_label, note_on_few, scale_text
from tempocal.cli.evaluation import Facts
from tempocal.cli.flag_wording import in_words_of_the_command
from tempocal.cli.large_checks import check_sequences
from tempocal.cli.large_files import LargeRows, open_rows
from tempocal.cli.options import Named
from tempocal.cli.progress import waiting
from tempocal.cli.read_predictions import inputs_of, say_note
from tempocal.errors import InputError, TableError
from tempocal.files import InputFile
from tempocal.files.column_problems import reading
from tempocal.inputs import Inputs
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.tables.passes import TableWithProgress

if TYPE_CHECKING:
    from tempocal.assessment import Assessment

# From here on a file is large: rows of Parquet, and bytes of other formats.
LARGE_ROWS = 3_000_000
LARGE_BYTES = 2**28


@dataclass(frozen=True)
class Large:
    """Labelled predictions of a large file, which were looked at."""

    named: Named
    facts: Facts
    labels: NDArray[Any]  # each once
    classes: list[Any] | None  # as given
    table: TableWithProgress
    asked: ColumnRoles
    labelled: LabeledTable

    @property
    def name(self) -> str:
        """The file, as the user calls it."""
        return self.facts.name

    @property
    def inputs(self) -> Inputs:
        """What the predictions are."""
        return self.asked.inputs

    @property
    def has_time(self) -> bool:
        """Whether rows have a time."""
        return self.facts.has_time

    @property
    def n_classes(self) -> int:
        """How many classes the columns stand for."""
        return len(self.labelled.classes)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.facts.rows

    @property
    def has_units(self) -> bool:
        """Whether it is known which rows belong together."""
        return self.facts.has_units

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator, one along time if there are times."""
        return calibrator.fit_table(
            self.table, **self.asked.fit_arguments(along_time=self.has_time)
        )

    def assess(self, seed: int) -> "Assessment":
        """Fit to one half and judge on the other."""
        from tempocal.assessment import assess_table

        named = self.asked.fit_arguments(along_time=True)
        ids = {"sequence": self.named.sequence, "groups": self.named.group}
        return assess_table(self.table, **{**named, **ids}, classes=self.classes, seed=seed)


def is_large(source: InputFile) -> bool:
    """Tell whether a file is better not read into memory."""
    if source.format != "parquet":
        return os.path.getsize(source.path) > LARGE_BYTES
    with reading(source.name, "Parquet"):
        return int(parquet.read_metadata(source.path).num_rows) > LARGE_ROWS


@contextmanager
def large_rows(named: Named, source: InputFile, doing: str) -> Iterator[Large]:
    """Open and check a large file; say of every pass over it what it is for."""
    with TemporaryDirectory(prefix="tempocal-") as folder:
        with waiting(f"Reading {named.file}") as far:
            rows = open_rows(named, source, folder, far)
        with waiting(doing) as far, in_words_of_the_command():
            try:
                yield _look(named, rows, _counting(far))
            except TableError as error:
                raise InputError(f"{source.name}: {error}") from error


def _counting(far: Callable[[str], None]) -> Callable[[str], None]:
    """Count the passes that are told of."""
    passes = 0

    def tell(doing: str) -> None:
        nonlocal passes
        passes += 1
        far(f"pass {passes}: {doing}")

    return tell


def _look(named: Named, rows: LargeRows, tell: Callable[[str], None]) -> Large:
    """Check the rows, in the order in which those in memory are checked."""
    labels, n_rows = rows.labels(tell)
    classes = check_classes(named.classes, labels, len(rows.scores))
    n_classes = max(len(rows.scores), 2)
    check_label(labels, classes, str(named.label), n_classes, len(rows.scores))
    table, asked = TableWithProgress(rows.table, tell), _asked(named, rows.scores)
    labelled = read_labeled_table(table, asked, classes)
    is_inside = labelled.min_logits.min() >= 0.0 and labelled.max_logits.max() <= 1.0
    if named.logits and not named.really_logits and is_inside:
        raise InputError(scale_text(",".join(rows.scores)))
    n_sequences = check_sequences(named, rows, tell)
    n_groups = None if named.group is None else rows.distinct(named.group, tell)
    if n_sequences is not None:
        say_note(note_on_few(n_sequences if n_groups is None else n_groups))
    has_time, one_column = named.time is not None, len(rows.scores) == 1
    facts = Facts(rows.name, n_rows, n_sequences, n_groups, has_time, one_column)
    return Large(named, facts, labels, classes, table, asked, labelled)


def _asked(named: Named, scores: list[str]) -> ColumnRoles:
    inputs = inputs_of(named)
    return ColumnRoles.of(
        inputs,
        logits=scores if inputs == "logits" else None,
        proba=scores if inputs == "proba" else None,
        label=named.label,
        time=named.time,
        groups=named.group or named.sequence,
        sample_weight=named.weight,
    )
