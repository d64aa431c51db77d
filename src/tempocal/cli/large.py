"""Files with more rows than are read into memory: measured where they are, with DuckDB.

Everything that `tempocal.cli.predictions` checks is checked here as well, by passes over the rows.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from tempocal.cli.checks import check_classes, check_label, note_on_few, scale_text
from tempocal.cli.evaluating import Evaluated, Facts, model_for
from tempocal.cli.large_checks import check_sequences
from tempocal.cli.large_files import LargeRows, open_rows
from tempocal.cli.measures import Measures, measure_table
from tempocal.cli.options import Named
from tempocal.cli.predictions import say_note
from tempocal.cli.waiting import waiting
from tempocal.cli.wording import in_words_of_the_command
from tempocal.errors import InputError
from tempocal.files import Source
from tempocal.fitted import FittedModel
from tempocal.inputs import Times, require_same_kind
from tempocal.maps import Scale
from tempocal.metrics.in_tables.scored import Scored, flag, make_scored
from tempocal.tables.asked import Asked
from tempocal.tables.group_ids import GroupIds, find_groups
from tempocal.tables.labelled import Labelled, read_labelled
from tempocal.tables.open import Frame
from tempocal.tables.probabilities import add_probabilities

# From here on a file is large: rows of Parquet, and bytes of other formats.
LARGE_ROWS = 3_000_000
LARGE_BYTES = 2**28


def is_large(source: Source) -> bool:
    """Tell whether a file is better not read into memory."""
    if source.format != "parquet":
        return os.path.getsize(source.path) > LARGE_BYTES
    return int(parquet.read_metadata(source.path).num_rows) > LARGE_ROWS


def evaluate_large(
    named: Named, source: Source, model: str | None, *, bins: int, seed: int
) -> Evaluated:
    """Measure the predictions of a large file."""
    with TemporaryDirectory(prefix="tempocal-") as folder:
        with waiting(f"Reading {named.file}") as far:
            rows = open_rows(named, source, folder, far)
        with waiting("Measuring") as far, in_words_of_the_command():
            large = _look(named, rows, _counting(far))
            return Evaluated(large.facts, large.measured(named, model, bins, seed))


def _counting(far: Callable[[str], None]) -> Callable[[str], None]:
    """Count the passes that are told of."""
    passes = 0

    def tell(doing: str) -> None:
        nonlocal passes
        passes += 1
        far(f"pass {passes}: {doing}")

    return tell


@dataclass(frozen=True)
class _Large:
    """Rows that were looked at."""

    facts: Facts
    labels: NDArray[Any]  # each once
    classes: list[Any] | None  # as given
    rows: Labelled
    groups: GroupIds | None

    def measured(self, named: Named, model: str | None, bins: int, seed: int) -> list[Measures]:
        """Measure the predictions as they are, and as a model makes them."""
        inputs: Any = "logits" if named.logits else "proba"
        k = np.arange(len(self.rows.classes))
        models = {"raw": FittedModel("Identity", k, inputs, self.rows.n_columns, Scale(1.0))}
        if model is not None:
            models["calibrated"] = self._model(named, model)
        classes = np.unique(self.labels) if self.classes is None else self.classes
        settings: Any = {"classes": classes, "bins": bins, "seed": seed}
        return [measure_table(n, self._scored(m), **settings) for n, m in models.items()]

    def _model(self, named: Named, model: str) -> FittedModel:
        has_time, kind = self.facts.has_time, self.rows.time_kind
        columns = self.rows.n_columns
        found = model_for(model, named, columns=columns, has_time=has_time, classes=self.classes)
        if found.time_kinds and kind is not None:
            require_same_kind(Times(np.zeros(1), (kind,)), found.time_kinds)
        return found

    def _scored(self, model: FittedModel) -> Scored:
        names = [f"x{k}" for k in range(self.rows.n_columns)]
        times = ["time"] * len(model.time_kinds)
        frame = add_probabilities(self.rows.frame, model, names, times)
        if times:
            self._require_answers(frame)
        return make_scored(self.rows, frame, self.groups)

    def _require_answers(self, frame: Frame) -> None:
        """Refuse rows for which the model has no answer, which have NULL instead."""
        empty = flag(nw.col("p0").is_null())
        counted = frame.select(empty=empty).select(nw.col("empty").sum())
        count = int(self.rows.passes.collect(counted, "calibrating")["empty"][0])
        if count:
            raise InputError(
                f"the model has no answer for {count:,} rows: they are at steps that it was not "
                'fitted to, and it was told unseen="error"'
            )


def _look(named: Named, rows: LargeRows, tell: Callable[[str], None]) -> _Large:
    """Check the rows, in the order in which those in memory are checked."""
    labels, n_rows = rows.labels(tell)
    classes = check_classes(named.classes, labels, len(rows.scores))
    n_classes = max(len(rows.scores), 2)
    check_label(labels, classes, str(named.label), n_classes, len(rows.scores))
    scores: Any = {
        "logits": None,
        "proba": None,
        "logits" if named.logits else "proba": rows.scores,
    }
    asked = Asked.of(
        "logits" if named.logits else "proba",
        **scores,
        label=named.label,
        time=named.time,
        groups=named.group or named.sequence,
        sample_weight=named.weight,
    )
    labelled = read_labelled(rows.table, asked, classes, tell)
    is_inside = labelled.lowest.min() >= 0.0 and labelled.highest.max() <= 1.0
    if named.logits and not named.really_logits and is_inside:
        raise InputError(scale_text(",".join(rows.scores)))
    n_sequences = check_sequences(named, rows, tell)
    groups = find_groups(labelled) if labelled.has_groups else None
    if n_sequences is not None and groups is not None:
        say_note(note_on_few(groups.count))
    n_groups = None if named.group is None else rows.distinct(named.group, tell)
    has_time, one_column = named.time is not None, len(rows.scores) == 1
    facts = Facts(rows.name, n_rows, n_sequences, n_groups, has_time, one_column)
    return _Large(facts, labels, classes, labelled, groups)
