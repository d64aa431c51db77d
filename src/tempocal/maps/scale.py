"""All logits times one number."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Number
from tempocal.links import Array
from tempocal.maps.fitted_map import Coefficients, FittedMap, Form, Numbers, require_one_model
from tempocal.maps.part import LARGEST_COEFFICIENT, require


@dataclass(frozen=True)
class Scale(FittedMap):
    """All logits times one number, the inverse temperature."""

    inverse_temperature: float

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        # Transposed, so that an array with a number for each row multiplies rows.
        return np.asarray((self.inverse_temperature * logits.T).T)

    def logits(self, z: Expressions) -> Expressions:
        """Return calibrated logits as formulas of the logits."""
        return tuple(each * Number(self.inverse_temperature) for each in z)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(0 < self.inverse_temperature <= LARGEST_COEFFICIENT, "it is no temperature")


class ScaleForm(Form):
    """One inverse temperature."""

    name = "scale"

    def to_map(self, coefficients: Coefficients) -> Scale:
        """Make the map."""
        number = coefficients[0][..., 0]
        # An array, where every row has its own.
        return Scale(number.item() if number.ndim == 0 else number)  # type: ignore[arg-type]

    def logits(self, models: Sequence[Numbers], z: Expressions) -> Expressions:
        """Return the calibrated logits of a map whose numbers are expressions."""
        return tuple(each * models[0][0] for each in z)

    def parameters(self, numbers: Coefficients) -> dict[str, Array]:
        """Names of the numbers."""
        return {"inverse_temperature": numbers[0][..., 0]}

    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables that make no such map."""
        require_one_model(tables, lambda width: width == 1)
        require(bool((tables[0] > 0).all()), "a temperature is not positive")


SCALE = ScaleForm()
