"""The content of a model file as one typed object.

Estimators, `Predictor` and through it every export read this one document; `save` reads back what
it is about to write. (`tempocal.scorer` has a reader of its own, for it must stand alone.) What is
read is validated here, once: entries, the map, and whether map, columns, classes and clocks go
together. Constructor arguments stay plain values: only an estimator knows what they mean.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import DamagedModelFileError
from tempocal.inputs import Inputs, TimeKind
from tempocal.maps import (
    AnyBand,
    Average,
    ConstantBasis,
    FittedMap,
    TemporalMap,
    from_dict,
    schema_of,
    to_dict,
)
from tempocal.modelfile.labels import labels_from_dict, labels_to_dict
from tempocal.predictor.entries import LEARNED, require_keys
from tempocal.predictor.sequence_horizon import SequenceHorizon
from tempocal.version import __version__

# The estimators that are not simply a calibrator: their files have other entries.
ALONG_TIME, AUTO = "TemporalCalibrator", "AutoTemporalCalibrator"

_KEYS = {
    "calibrator",
    "written_by",
    "parameters",
    "classes",
    "columns",
    "column_names",
    "map",
    "summary",
}
_KEYS_ALONG_TIME = _KEYS | {"bands", "time_kinds"}
_KEYS_OF_AUTO = {"calibrator", "written_by", "parameters", "best", "comparison"}
# There only in files of an average: what it has in place of the same entries of its best candidate.
_AVERAGE, _KEYS_OF_AVERAGE = "average", {"map", "bands", "summary"}
# The argument of Auto that 0.1 has not; left out where it says what 0.1 does.
COMBINE = "combine"
# There only in files of calibrators that learned from the forecasts in between, as the arguments
# are of which readers of schema 1 know nothing.
_SEQUENCES = "sequences"
NEW_PARAMETERS = frozenset({"td_horizon", "sequence_column"})
# The clock of a spline, and what was learned of its roughness, of which they know nothing either.
HALVING_CLOCK, ROUGH_EFFECT = "auto", "rough_effect"

# The calibrators and curves of 0.1: its readers know no others.
KINDS_OF_SCHEMA_1 = {
    *("Identity", "TemperatureScaling", "PlattScaling", "VectorScaling", "MatrixScaling"),
    *("BetaCalibration", "DirichletCalibration", "HistogramBinning", "BayesianBinning"),
    *("IsotonicCalibration", "NearIsotonicEnsemble", ALONG_TIME, AUTO),
    *("Constant", "PerStep", "ExponentialDecay", "Spline", "RandomWalk", "Surface"),
}

# A column by position or by name, or two of them.
TimeColumn = int | str | tuple[int, int] | tuple[str, str]


@dataclass(frozen=True)
class ModelDocument:
    """A fitted calibrator, along time or not.

    Attributes
    ----------
    calibrator : str
        Its class, by the name that `tempocal.registry` knows it by.
    parameters : dict
        Its constructor's arguments, as plain values.
    classes : ndarray of shape (K,)
        The classes, in order.
    columns, column_names : int, list of str
        How many columns X had, and their names if they had any.
    map : FittedMap or TemporalMap
        What predicts.
    summary : mapping
        What is known of the fit.
    bands : tuple of AnyBand
        How sure the numbers of a map along time are.
    time_kinds : tuple of str
        The kind of each clock; empty for a model that does not change along time.
    learned : mapping or None
        What `partial_fit` goes on from.
    sequences : SequenceHorizon or None
        The horizon of rows that learned from forecasts; None if they learned from outcomes only.
    """

    calibrator: str
    parameters: dict[str, Any]
    classes: NDArray[Any]
    columns: int
    column_names: list[str]
    map: FittedMap | TemporalMap
    summary: Mapping[str, Any]
    bands: tuple[AnyBand, ...] = ()
    time_kinds: tuple[TimeKind, ...] = ()
    learned: Mapping[str, Any] | None = None
    sequences: SequenceHorizon | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the model's file."""
        content = {
            "calibrator": self.calibrator,
            "written_by": f"tempocal {__version__}",
            "parameters": self.parameters,
            "classes": labels_to_dict(self.classes),
            "columns": self.columns,
            "column_names": self.column_names,
            "map": to_dict(self.map),
            "summary": self.summary,
        }
        if self.time_kinds:
            content["bands"] = [to_dict(band) for band in self.bands]
            content["time_kinds"] = list(self.time_kinds)
        if self.sequences is not None:
            content[_SEQUENCES] = asdict(self.sequences)
        return content if self.learned is None else {**content, LEARNED: self.learned}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return the document that `to_dict` described; anything else is refused."""
        along_time = isinstance(content, Mapping) and content.get("calibrator") == ALONG_TIME
        keys, optional = (_KEYS_ALONG_TIME, {_SEQUENCES}) if along_time else (_KEYS, set())
        require_keys(content, keys, optional)
        if not isinstance(content["calibrator"], str):
            raise DamagedModelFileError(
                f"the model's calibrator must be a name, but it is {content['calibrator']!r:.80}"
            )
        bands = list_from(content["bands"], "bands") if along_time else []
        document = cls(
            calibrator=content["calibrator"],
            parameters=content["parameters"],
            classes=labels_from_dict(content["classes"]),
            columns=_count_from(content["columns"]),
            column_names=_names_from(content["column_names"], content["columns"]),
            map=from_dict(content["map"], TemporalMap if along_time else FittedMap),
            summary=content["summary"],
            bands=tuple(from_dict(band, AnyBand) for band in bands),
            time_kinds=_time_kinds_from(content["time_kinds"]) if along_time else (),
            learned=content.get(LEARNED),
            sequences=(
                SequenceHorizon.from_dict(content[_SEQUENCES]) if _SEQUENCES in content else None
            ),
        )
        document.validate()
        return document

    @property
    def schema(self) -> int:
        """The schema of the file that can hold it."""
        parts = (self.map, *self.bands)
        kinds = {self.calibrator, *kinds_in(self.parameters)}
        is_old = kinds <= KINDS_OF_SCHEMA_1 and not NEW_PARAMETERS & set(self.parameters)
        is_old = is_old and not has_entry(self.parameters, "clock", HALVING_CLOCK)
        is_old = is_old and not has_entry(self.learned, ROUGH_EFFECT)
        return max(*map(schema_of, parts), 1 if is_old else 2)

    @property
    def inputs(self) -> Inputs:
        """What the predictions are, logits or probabilities."""
        if not self.time_kinds:
            return inputs_from(_entry(self.parameters, "inputs"))
        inner = _entry(self.parameters, "calibrator")
        # No calibrator is temperature scaling of logits.
        return "logits" if inner is None else inputs_from(_entry(inner, "parameters", "inputs"))

    @property
    def time_column(self) -> TimeColumn | None:
        """Which column of X, or which two, held the time."""
        if not self.time_kinds:
            return None
        return time_column_from(_entry(self.parameters, "time_column"))

    @property
    def sequence_column(self) -> int | str | None:
        """Which column of X held the sequence."""
        return column_from(self.parameters.get("sequence_column")) if self.time_kinds else None

    @property
    def name(self) -> str:
        """Calibrator and curve, in words."""
        name = _entry(self.summary, "calibrator")
        if not isinstance(name, str):
            raise DamagedModelFileError(f"the name of the model is {name!r:.80}")
        return name

    @property
    def logit_columns(self) -> int:
        """How many columns of X are left beside the clocks."""
        if self.time_column is None:
            if self.sequence_column is not None:
                raise DamagedModelFileError("sequence_column needs a time_column beside it")
            return self.columns
        where = self.time_column if isinstance(self.time_column, tuple) else (self.time_column,)
        if len(where) != len(self.time_kinds):
            raise DamagedModelFileError(
                f"time_column is {self.time_column!r}, but time has other clocks"
            )
        taken = {self._index(column) for column in where}
        if self.sequence_column is not None:
            sequence = self._index(self.sequence_column)
            if sequence in taken:
                raise DamagedModelFileError("sequence_column is the column of the time")
            taken.add(sequence)
        return self.columns - len(taken)

    @property
    def maps(self) -> tuple[FittedMap, ...]:
        """The map, or those at some moments of a map along time."""
        with np.errstate(all="ignore"):
            return self.map.examples() if isinstance(self.map, TemporalMap) else (self.map,)

    def validate(self) -> None:
        """Refuse a map that does not go with the columns, the classes and the clocks."""
        if isinstance(self.map, TemporalMap):
            clocks = len(self.time_kinds)
            # Nothing changes along a constant, whatever the number of clocks.
            if any(
                basis.n_clocks != clocks
                for basis in self.map.time_bases
                if not isinstance(basis, ConstantBasis)
            ):
                raise DamagedModelFileError(f"the map does not go along {clocks} clocks")
        for one in self.maps:
            _require_shape(one, self.logit_columns, len(self.classes))

    def _index(self, column: int | str) -> int | str:
        if isinstance(column, int) and -self.columns <= column < self.columns:
            return column % self.columns
        # Where the names of the columns are no text, scikit-learn keeps none.
        if isinstance(column, str) and (column in self.column_names or not self.column_names):
            return self.column_names.index(column) if self.column_names else column
        raise DamagedModelFileError(
            f"the column {column!r:.80} is none of the {self.columns} columns"
        )


@dataclass(frozen=True)
class AutoDocument:
    """A fitted `AutoTemporalCalibrator`: its best candidate, and the comparison.

    ``model`` is what predicts: the best candidate, or the same document with the map, the bands and
    the summary of an average.
    """

    parameters: dict[str, Any]
    best: ModelDocument
    comparison: Any
    model: ModelDocument

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the model's file."""
        content = {
            "calibrator": AUTO,
            "written_by": f"tempocal {__version__}",
            "parameters": self.parameters,
            "best": self.best.to_dict(),
            "comparison": self.comparison,
        }
        if self.model is self.best:
            return content
        model = self.model.to_dict()
        return {**content, _AVERAGE: {name: model[name] for name in sorted(_KEYS_OF_AVERAGE)}}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return the document that `to_dict` described; anything else is refused."""
        is_average = isinstance(content, Mapping) and _AVERAGE in content
        require_keys(content, _KEYS_OF_AUTO | ({_AVERAGE} if is_average else set()))
        best = content["best"]
        if isinstance(best, Mapping) and best.get("calibrator") != ALONG_TIME:
            raise DamagedModelFileError(f"{best.get('calibrator')!r:.80} is no TemporalCalibrator")
        model = document = ModelDocument.from_dict(best)
        if is_average:
            average = content[_AVERAGE]
            require_keys(average, _KEYS_OF_AVERAGE)
            own = {name: each for name, each in best.items() if name != LEARNED}
            model = ModelDocument.from_dict({**own, **average})
            if not isinstance(model.map, Average) or to_dict(model.map.maps[0]) != best["map"]:
                raise DamagedModelFileError("the average does not begin with its best candidate")
        return cls(content["parameters"], document, content["comparison"], model)

    @property
    def schema(self) -> int:
        """The schema of the file that can hold it."""
        is_old = kinds_in(self.parameters) <= KINDS_OF_SCHEMA_1 and COMBINE not in self.parameters
        is_old = is_old and not has_entry(self.parameters, "clock", HALVING_CLOCK)
        return max(self.best.schema, self.model.schema, 1 if is_old else 2)


def kinds_in(parameters: Any) -> set[str]:
    """Names of the calibrators and curves in the arguments of a constructor."""
    if isinstance(parameters, Mapping):
        own = {parameters["kind"]} if isinstance(parameters.get("kind"), str) else set()
        return own.union(*map(kinds_in, parameters.values()))
    return set().union(*map(kinds_in, parameters)) if isinstance(parameters, list) else set()


def has_entry(content: Any, name: str, value: object = None) -> bool:
    """Tell whether nested lists and dictionaries have an entry of this name, and of this value."""
    if isinstance(content, Mapping):
        if name in content and value in (None, content[name]):
            return True
        content = list(content.values())
    return isinstance(content, list) and any(has_entry(part, name, value) for part in content)


def document_from(content: Mapping[str, Any], schema: int) -> ModelDocument | AutoDocument:
    """Return the document of any model, from the content of its file and the schema it names."""
    is_auto = content.get("calibrator") == AUTO
    document = AutoDocument.from_dict(content) if is_auto else ModelDocument.from_dict(content)
    if document.schema != schema:
        raise DamagedModelFileError(
            f"the file says schema {schema}, but its content is of schema {document.schema}: it "
            "was altered since it was saved"
        )
    return document


def inputs_from(value: Any) -> Inputs:
    """Return what the predictions are, logits or probabilities."""
    if value not in ("logits", "proba"):
        raise DamagedModelFileError(f"the model's inputs are {value!r:.80}")
    inputs: Inputs = value
    return inputs


def time_column_from(value: Any) -> TimeColumn | None:
    """Return which column of X, or which two, held the time."""
    columns = value if isinstance(value, list) else [value]
    known = len(columns) in (1, 2) and all(type(column) in (int, str) for column in columns)
    if value is not None and not known:
        raise DamagedModelFileError(f"time_column is {value!r:.80}")
    read: TimeColumn | None = tuple(value) if isinstance(value, list) else value
    return read


def column_from(value: Any) -> int | str | None:
    """Return which column of X held the sequence."""
    if value is not None and type(value) not in (int, str):
        raise DamagedModelFileError(f"sequence_column is {value!r:.80}")
    column: int | str | None = value
    return column


def list_from(value: Any, name: str) -> list[Any]:
    """Return a list as it is."""
    if not isinstance(value, list):
        raise DamagedModelFileError(f"{name} must be a list, not {value!r:.80}")
    return value


def _count_from(columns: Any) -> int:
    if type(columns) is not int or columns < 1:
        raise DamagedModelFileError(f"the number of columns is {columns!r:.80}")
    return columns


def _names_from(names: Any, columns: int) -> list[str]:
    is_text = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not is_text or len(names) not in (0, columns):
        raise DamagedModelFileError(f"the names of the {columns} columns are {names!r:.80}")
    return list(names)


def _time_kinds_from(value: Any) -> tuple[TimeKind, ...]:
    kinds = list_from(value, "time_kinds")
    if len(kinds) not in (1, 2) or not all(kind in get_args(TimeKind) for kind in kinds):
        raise DamagedModelFileError(f"time_kinds are {value!r:.80}")
    return tuple(kinds)


def _entry(content: Any, *path: str) -> Any:
    for name in path:
        if not isinstance(content, Mapping) or name not in content:
            raise DamagedModelFileError(f"the model does not say its {name}")
        content = content[name]
    return content


def _require_shape(fitted: FittedMap, columns: int, n_classes: int) -> None:
    """Refuse a map that does not make so many classes of so many columns."""
    if columns in (1, n_classes) and n_classes >= 2:
        shape = _shape_of(fitted, columns)
        if shape == (1, n_classes) or (shape == (1,) and n_classes == 2):
            return
    raise DamagedModelFileError(
        f"the map, {columns} columns and {n_classes} classes do not go together"
    )


def _shape_of(fitted: FittedMap, columns: int) -> tuple[int, ...]:
    try:
        # Numbers that are too large are a matter of those who predict with them.
        with np.errstate(all="ignore"):
            return fitted(np.zeros(1) if columns == 1 else np.zeros((1, columns))).shape
    except (IndexError, TypeError, ValueError) as error:
        raise DamagedModelFileError(f"the map cannot be applied: {error}") from error
