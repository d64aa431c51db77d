"""What a model said about prefixes that it was not trained on, and the file that keeps it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet
from torch import Tensor

from experiments.cache import write_whole
from experiments.splits import Prefixes
from tempocal.datasets import Texts


@dataclass(frozen=True)
class Predictions:
    """A row for each prefix: those to calibrate on, and those to test on."""

    calibration: NDArray[np.bool_]  # whether to calibrate on the row; else it is for the test
    sequence: NDArray[np.int32]  # which text or game
    length: NDArray[np.int32]  # words, tokens or rounds seen
    label: NDArray[np.int8]
    logit: NDArray[np.float32]
    difference: NDArray[np.int8] | None = None  # of the scores, for rounds
    match: NDArray[np.int32] | None = None  # games of one match hang together

    @property
    def groups(self) -> NDArray[np.int32]:
        """Rows that hang together: of one text, or of the games of one match."""
        return self.sequence if self.match is None else self.match

    def part(self, *, calibration: bool) -> "Predictions":
        """Return the rows of one part."""
        rows = self.calibration == calibration
        columns: Any = {
            name: None if one is None else one[rows] for name, one in vars(self).items()
        }
        return Predictions(**columns)


def of_prefixes(texts: Texts, prefixes: Prefixes, logits: Tensor) -> Predictions:
    """Put the logits of cut texts beside their labels and lengths."""
    return Predictions(
        calibration=prefixes.calibration,
        sequence=texts.sequence[prefixes.text].astype(np.int32),
        length=prefixes.length.astype(np.int32),
        label=texts.label[prefixes.text].astype(np.int8),
        logit=logits.numpy().astype(np.float32),
    )


def write_predictions(predictions: Predictions, path: Path) -> None:
    """Write predictions to a Parquet file, whole or not at all."""
    table = pa.table({k: v for k, v in vars(predictions).items() if v is not None})
    write_whole(path, lambda beside: parquet.write_table(table, beside, compression="zstd"))


def read_predictions(path: Path) -> Predictions:
    """Read what ``write_predictions`` wrote."""
    table = parquet.read_table(path)
    return Predictions(**{name: table[name].to_numpy() for name in table.column_names})
