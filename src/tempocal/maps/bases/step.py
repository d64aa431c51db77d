"""One function for each of some times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Condition, Expression, Number, Same, clamp, piecewise
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps.bases.basis import Basis, Combination
from tempocal.maps.part import require, require_ascending


@dataclass(frozen=True)
class StepBasis(Basis):
    """A function for each of some ascending times.

    At a time in between, ``unseen`` says what happens: the "nearest" of the times, of two as near
    the earlier one; a line between its neighbors ("interpolate"); or an "error".
    """

    times: Array
    unseen: str

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return len(self.times)

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        return self.combine(time, np.eye(len(self.times)))

    @property
    def _are_consecutive(self) -> bool:
        """Whether the times are integers without a gap, which need no search."""
        first, span = self.times[0], self.times[-1] - self.times[0]
        is_integer = first == np.floor(first) and abs(first) < 2**40
        return bool(is_integer and span == len(self.times) - 1 and (np.diff(self.times) == 1).all())

    def combine(self, time: Array, table: Array) -> Array:
        """Return the curves whose coefficients are the columns of ``table``: (n, columns)."""
        if self.unseen != "interpolate":
            return np.take(table, self.codes(time), axis=0)
        after = np.clip(np.searchsorted(self.times, time), 1, max(len(self.times) - 1, 1))
        if len(self.times) == 1:
            return np.asarray(np.repeat(table, len(time), axis=0))
        before = after - 1
        gap = self.times[after] - self.times[before]
        with np.errstate(over="ignore"):  # far from two times that are close
            share = np.clip((time - self.times[before]) / gap, 0.0, 1.0)[:, None]
        return np.asarray((1.0 - share) * table[before] + share * table[after])

    def codes(self, time: Array) -> Codes:
        """Index of the nearest time."""
        if self.unseen == "nearest" and self._are_consecutive:
            # Half way between two the earlier one is nearest: halves are rounded down.
            nearest = np.ceil(time - (self.times[0] + 0.5))
            return np.asarray(np.clip(nearest, 0, len(self.times) - 1), dtype=np.intp)
        after = np.clip(np.searchsorted(self.times, time), 0, len(self.times) - 1)
        before = np.maximum(after - 1, 0)
        closer = time - self.times[before] <= self.times[after] - time
        codes = np.where(closer, before, after).astype(np.intp)
        if self.unseen == "error" and not np.array_equal(self.times[codes], time):
            stranger = time[self.times[codes] != time][0]
            raise InputError(
                f"time holds {stranger:.12g}, a step that the fit had not seen or had too few rows "
                'of: PerStep(unseen="nearest") or "interpolate" would answer'
            )
        return codes

    def choose(self, time: Expression, pieces: Sequence[Expression]) -> Expression:
        """Return the piece of the nearest step, as a formula."""
        return piecewise(time, _midpoints(self.times).tolist(), pieces, "left")

    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve of its coefficients."""
        if self.unseen != "interpolate" or len(self.times) == 1:
            return lambda coefficients: self.choose(time[0], coefficients)
        times = self.times.tolist()
        inside = clamp(time[0], times[0], times[-1])
        offsets = [inside - start for start in times[:-1]]

        def curve(coefficients: Sequence[Expression]) -> Expression:
            pieces = [
                coefficients[k]
                + offsets[k] * ((coefficients[k + 1] - coefficients[k]) / (times[k + 1] - times[k]))
                for k in range(len(times) - 1)
            ]
            return piecewise(inside, times[1:-1], pieces, "left")

        return curve

    def is_defined(self, time: Expressions) -> Condition | None:
        """Tell, as a formula, at which times there is an answer; None: at all."""
        if self.unseen != "error":
            return None
        return Same(time[0], self.choose(time[0], [Number(float(t)) for t in self.times]))

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(self.unseen in ("nearest", "interpolate", "error"), "unseen is no such word")
        require(self.times.size > 0, "there are no times")
        require_ascending(self.times)


def _midpoints(times: Array) -> Array:
    """Return the last time that is as near to a step as to the next, for each but the last."""
    before, after = times[:-1], times[1:]
    middle = before + (after - before) / 2.0
    # Rounding may have put it on the far side.
    is_closer = middle - before <= after - middle
    return np.where(is_closer, middle, np.nextafter(middle, before))
