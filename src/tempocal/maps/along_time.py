"""Fitted maps that change along time: they take logits and times."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Condition, Expression, numbers
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps.affine import DIAGONAL, FULL, FULL_OF_LOG_PROBA
from tempocal.maps.bases import Basis, BinBasis, StepBasis
from tempocal.maps.document import require_alike
from tempocal.maps.features import FeatureForm, require_features
from tempocal.maps.fitted_map import FittedMap, Form, from_logits
from tempocal.maps.one_vs_rest import BETAS, LINES
from tempocal.maps.part import Part, require, require_coefficients
from tempocal.maps.scale import SCALE

FORMS: dict[str, Form] = {
    form.name: form for form in (SCALE, LINES, BETAS, DIAGONAL, FULL, FULL_OF_LOG_PROBA)
}
# Numbers in the coefficients of the rows that are mapped at once.
BLOCK_NUMBERS = 2**18


class TemporalMap(Part):
    """What a calibrator that was fitted along time can do."""

    @abstractmethod
    def __call__(self, logits: Array, time: Array) -> Array:
        """Return calibrated logits."""

    @abstractmethod
    def parameters(self, time: Array) -> dict[str, Array]:
        """Return the numbers of the map at some times, by name."""

    @abstractmethod
    def logits(self, z: Expressions, time: Expressions) -> Expressions:
        """Return calibrated logits as formulas of logits and times."""

    @abstractmethod
    def probabilities(self, z: Expressions, time: Expressions) -> Expressions:
        """Return the probability of each class as a formula of logits and times."""

    @abstractmethod
    def is_defined(self, time: Expressions) -> Condition | None:
        """Tell, as a formula, at which times there is an answer; None: at all."""

    @property
    @abstractmethod
    def time_bases(self) -> tuple[Basis, ...]:
        """The bases of time that it goes along."""

    @abstractmethod
    def examples(self) -> tuple[FittedMap, ...]:
        """Return its maps at some moments: they all have the same shape."""


class CoefficientMap(TemporalMap):
    """One whose numbers are combinations of functions of time."""

    bases: tuple[Basis, ...]
    tables: tuple[Array, ...]

    @property
    @abstractmethod
    def map_form(self) -> Form:
        """Which map the coefficients make."""

    @property
    @abstractmethod
    def is_line(self) -> bool:
        """Whether the map only scales and shifts, where it is given one column."""

    def __call__(self, logits: Array, time: Array) -> Array:
        """Calibrate logits."""
        size = max(64, BLOCK_NUMBERS // max(map(_numbers_a_row, self.bases, self.tables)))
        if len(logits) <= size:
            return self.at(time)(logits)
        blocks = [slice(start, start + size) for start in range(0, len(logits), size)]
        return np.concatenate([self.at(time[block])(logits[block]) for block in blocks])

    def at(self, time: Array) -> FittedMap:
        """Return the map of rows at some times: each of its numbers is an array, one a row."""
        return self.map_form.to_map(self.numbers(time))

    def scales_at(self, times: Array) -> Array | None:
        """Return what a logit is multiplied by at some times; None if that is not all."""
        return None

    def at_keys(self, times: Array) -> Callable[[Array, Codes], Array]:
        """Return the map of logits whose times are among few, and are given by their position."""
        at_times = self.numbers(times)

        def calibrate(logits: Array, keys: Codes) -> Array:
            at_rows = [np.take(each, keys, axis=0) for each in at_times]
            return self.map_form.to_map(at_rows)(logits)

        return calibrate

    def parameters(self, time: Array) -> dict[str, Array]:
        """Return the numbers of the map at some times, by name."""
        return self.map_form.parameters(self.numbers(time))

    def deviations(self, time: Array, of_models: Sequence[Array]) -> dict[str, Array]:
        """Return standard deviations by name, given those of the numbers of each model."""
        return self.map_form.deviations(self.numbers(time), of_models)

    def numbers(self, time: Array) -> list[Array]:
        """Return the numbers of each model at some times."""
        pairs = zip(self.bases, self.tables, strict=True)
        return [basis.combine(time, table) for basis, table in pairs]

    def logits(self, z: Expressions, time: Expressions) -> Expressions:
        """Return calibrated logits as formulas of logits and times."""
        combinations = [basis.combination(time) for basis in self.bases]
        models: list[list[Expression]] = [
            [combination(numbers(column)) for column in table.T]
            for combination, table in zip(combinations, self.tables, strict=True)
        ]
        return self.map_form.logits(models, z)

    def probabilities(self, z: Expressions, time: Expressions) -> Expressions:
        """Return the probability of each class as a formula of logits and times."""
        return from_logits(self.logits(z, time))

    def is_defined(self, time: Expressions) -> Condition | None:
        """Tell, as a formula, at which times there is an answer; None: at all."""
        return self.bases[0].is_defined(time)  # all bases are alike but for their rates

    @property
    def time_bases(self) -> tuple[Basis, ...]:
        """The bases of time that it goes along."""
        return self.bases

    def examples(self) -> tuple[FittedMap, ...]:
        """Return the map that the first coefficients make."""
        return (self.map_form.to_map([table[0] for table in self.tables]),)


@dataclass(frozen=True)
class Curves(CoefficientMap):
    """Coefficients that are combinations of functions of time.

    Attributes
    ----------
    form : str
        Which map the coefficients make: the name of a `Form`.
    bases : tuple of Basis
        Functions of time, for each model.
    tables : tuple of ndarray of shape (functions, coefficients)
        What they are multiplied by, for each model.
    """

    form: str
    bases: tuple[Basis, ...]
    tables: tuple[Array, ...]

    @property
    def map_form(self) -> Form:
        """Which map the coefficients make."""
        return FORMS[self.form]

    @property
    def is_line(self) -> bool:
        """Whether the map only scales and shifts, where it is given one column."""
        return self.form in ("scale", "lines") and len(self.tables) == 1

    def scales_at(self, times: Array) -> Array | None:
        """Return what a logit is multiplied by at some times; None if that is not all."""
        return self.numbers(times)[0][:, 0] if self.form == "scale" else None

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        self._require_form()
        require(len(self.bases) == len(self.tables) > 0, "there are no curves")
        for basis, table in zip(self.bases, self.tables, strict=True):
            require_table(table, basis)
        self.map_form.validate(self.tables)
        require_alike(self.bases)

    def _require_form(self) -> None:
        require(self.form in FORMS, "there is no such form")


@dataclass(frozen=True)
class FeatureCurves(Curves):
    """Curves that are coefficients of features of the log-odds, which are given as formulas."""

    schema: ClassVar[int] = 2
    features: tuple[Expression, ...]
    names: tuple[str, ...]

    @property
    def map_form(self) -> FeatureForm:
        """Which map the coefficients make."""
        return FeatureForm(self.features, self.names)

    def _require_form(self) -> None:
        require(self.form == FeatureForm.name, "there is no such form")
        require_features(self.features, self.names)


def curves_of(form: Form, bases: tuple[Basis, ...], tables: tuple[Array, ...]) -> Curves:
    """Make the curves of coefficients that make maps of a form."""
    if isinstance(form, FeatureForm):
        return FeatureCurves(form.name, bases, tables, form.features, form.names)
    return Curves(form.name, bases, tables)


def require_table(table: Array, basis: Basis) -> None:
    """Refuse coefficients that are not those of a basis."""
    is_shape = table.ndim == 2 and len(table) == basis.n_functions and table.shape[1] > 0
    require(is_shape, "coefficients are not those of the basis")
    require_coefficients(table)


def _numbers_a_row(basis: Basis, table: Array) -> int:
    """How many numbers a row takes: steps are looked up, other functions are all worked out."""
    return table.shape[1] if isinstance(basis, StepBasis | BinBasis) else table.size


@dataclass(frozen=True)
class MapPerStep(TemporalMap):
    """A map for each step or each bin of time."""

    basis: StepBasis | BinBasis
    maps: tuple[FittedMap, ...]

    def __call__(self, logits: Array, time: Array) -> Array:
        """Calibrate logits."""
        codes = self.basis.codes(time)
        calibrated: Array | None = None
        for step in np.unique(codes):
            rows = codes == step
            mapped = self.maps[step](logits[rows])
            if calibrated is None:
                calibrated = np.empty((len(logits), *mapped.shape[1:]))
            calibrated[rows] = mapped
        assert calibrated is not None
        return calibrated

    def parameters(self, time: Array) -> dict[str, Array]:
        """Refuse: there are none."""
        raise InputError(
            "a calibrator that is a bare curve of the logits, such as isotonic regression, has no "
            "parameters along time"
        )

    def logits(self, z: Expressions, time: Expressions) -> Expressions:
        """Return calibrated logits as formulas of logits and times."""
        return self._choose([one.logits(z) for one in self.maps], time)

    def probabilities(self, z: Expressions, time: Expressions) -> Expressions:
        """Return the probability of each class as a formula of logits and times."""
        return self._choose([one.probabilities(z) for one in self.maps], time)

    def _choose(self, each: list[Expressions], time: Expressions) -> Expressions:
        return tuple(self.basis.choose(time[0], pieces) for pieces in zip(*each, strict=True))

    def is_defined(self, time: Expressions) -> Condition | None:
        """Tell, as a formula, at which times there is an answer; None: at all."""
        return self.basis.is_defined(time)

    @property
    def time_bases(self) -> tuple[Basis, ...]:
        """The bases of time that it goes along."""
        return (self.basis,)

    def examples(self) -> tuple[FittedMap, ...]:
        """Return all its maps."""
        return self.maps

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        # Between bare curves of the logits no line can be drawn.
        drawn = isinstance(self.basis, StepBasis) and self.basis.unseen == "interpolate"
        require(not drawn and len(self.maps) == self.basis.n_functions, "a step has no map")
