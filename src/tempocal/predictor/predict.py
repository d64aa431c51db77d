"""A fitted model that predicts, and knows nothing of how it was fitted."""

from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

from numpy.typing import NDArray

from tempocal.errors import InputError, ModelFileError
from tempocal.inputs import (
    Inputs,
    TimeKind,
    Times,
    as_logits,
    check_time,
    require_moderate,
    require_same_kind,
)
from tempocal.links import Array
from tempocal.maps import FittedMap, TemporalMap, proba_at_once, proba_of_map
from tempocal.modelfile import read_with_schema
from tempocal.predictor.document import AutoDocument, ModelDocument, document_from


@dataclass(frozen=True)
class Predictor:
    """What a model file says about predicting.

    Attributes
    ----------
    name : str
        Calibrator and curve.
    classes : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.
    inputs : {"logits", "proba"}
        What the predictions to be calibrated must be.
    columns : int
        How many columns they must have.
    map : FittedMap or TemporalMap
        From logits, and times unless ``time_kinds`` is empty, to calibrated logits.
    time_kinds : tuple of str
        The kind of each clock; empty for a model that does not change along time.
    """

    name: str
    classes: NDArray[Any]
    inputs: Inputs
    columns: int
    map: FittedMap | TemporalMap
    time_kinds: tuple[TimeKind, ...] = ()

    @classmethod
    def from_document(cls, document: ModelDocument) -> Self:
        """Return what a document says about predicting."""
        return cls(
            document.name,
            document.classes,
            document.inputs,
            document.logit_columns,
            document.map,
            document.time_kinds,
        )

    def predict_proba(self, scores: Any, time: Any = None) -> Array:
        """Probability of each class, of shape (n, K), to the bit as the calibrator's own.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, 1) or (n, K)
            Logits or probabilities, as ``inputs`` says, without the time among them.
        time : array-like of shape (n,), or (n, 2) for two clocks
            Times, of the kind that the fit had; None for a model without.
        """
        if self.inputs == "logits" and not self.time_kinds and time is None:
            proba = proba_at_once(self.map, scores, self.columns)  # type: ignore[arg-type]
            if proba is not None:
                return proba
        logits = as_logits(scores, self.inputs, name=self.inputs)
        self._require_columns(1 if logits.ndim == 1 else logits.shape[1])
        if not self.time_kinds:
            if time is not None:
                raise InputError("the model does not change along time: leave time out")
            return proba_of_map(self.map, logits)
        times = self._times(time, len(logits))
        return proba_of_map(self.map, logits, times.values)

    def _times(self, time: Any, n_rows: int) -> Times:
        if time is None:
            raise InputError("time is missing: the model changes along time")
        times = check_time(time, n_rows, clocks=len(self.time_kinds))
        require_same_kind(times, self.time_kinds)
        return require_moderate(times)

    def _require_columns(self, columns: int) -> None:
        if columns != self.columns:
            raise InputError(
                f"{self.inputs} must have {self.columns} column{'s' * (self.columns > 1)} as in "
                f"the fit, but they have {columns}"
            )


def read_model(path: str | PathLike[str]) -> Predictor:
    """Read what a model file says about predicting.

    Parameters
    ----------
    path : path-like
        A file that ``save`` wrote, of any calibrator.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or written by a later version.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import tempocal as tc
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0]).save(path)
    >>> read_model(path).classes
    array([0, 1])
    """
    content, schema = read_with_schema(path, "model")
    try:
        document = document_from(content, schema)
        model = document.model if isinstance(document, AutoDocument) else document
        return Predictor.from_document(model)
    except ModelFileError as error:
        raise type(error)(f"{path}: {error}") from error
