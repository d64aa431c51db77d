"""What a curve is: the keys that rows are summed by, a basis of time, and penalties."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.curves.grid import CELLS, Bulk, Grid, TimeSpan, find_bulk, fine
from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.maps import Basis, ConstantBasis
from tempocal.registry import Registry

# One for each rate of a curve; where one is an array, the curve is looked at for all of these.
Rates = Sequence[float | Array]


@dataclass(frozen=True)
class Shape:
    """A basis and the penalties on its coefficients.

    For an array of rates, functions and ``level`` have a first axis for these.

    Attributes
    ----------
    basis : Basis
        Functions of time.
    level : ndarray of shape (functions,) or (functions, functions)
        Penalty towards the identity, at strength 1: a matrix or its diagonal.
    smooth : tuple of ndarray of shape (functions, functions)
        Penalties that make the curve smooth, each with a strength of its own.
    separate : bool
        Whether each key of the grid has its own coefficient, and nothing ties it to the others.
    trend : ndarray of shape (functions, directions) or None
        Coefficients that ``smooth`` leaves alone: rows of a sequence say less about these than
        about the others. None where the two are not told apart.
    """

    basis: Basis
    level: Array
    smooth: tuple[Array, ...] = ()
    separate: bool = False
    trend: Array | None = None


@dataclass(frozen=True)
class Track:
    """A curve laid along the times of some rows.

    Attributes
    ----------
    grid : Grid
        The keys under which rows are summed.
    shape : callable
        From the rates, relative to the range of time, to the basis.
    kept : ndarray of bool, shape (rows,), or None
        Rows that are fitted, which are those of the grid; None for all.
    n_rates : int
        How many rates there are: what a curve is not linear in, and is searched for from outside.
    smoothness : tuple of float or None
        Strengths given for each of the smoothness penalties; None for one from the data.
    bulk : Bulk or None
        The range of the times that are fitted, where some were too far away.
    """

    grid: Grid
    shape: Callable[[Rates], Shape]
    kept: NDArray[np.bool_] | None = None
    n_rates: int = 0
    smoothness: tuple[float | None, ...] = ()
    bulk: Bulk | None = None


def constant_track(grid: Grid) -> Track:
    """Lay a curve that is the same at all times."""
    shape = Shape(ConstantBasis(), level=np.ones(1))
    return Track(grid, lambda rates: shape)


CURVES = Registry("curve", package="curves")


class Curve(ABC):
    """Base of the curves: how coefficients may change along time.

    A subclass is a frozen dataclass whose fields are the user's settings. It is registered by
    being defined, so that models along it can be saved and loaded.
    """

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        CURVES.add(cls)

    @property
    def n_clocks(self) -> int:
        """How many columns ``time`` has."""
        return 1

    @property
    def most_times(self) -> int:
        """How many distinct times can have keys of their own; more are put into cells."""
        return CELLS

    @property
    def takes_cells(self) -> bool:
        """Whether times can be put into cells."""
        return True

    @property
    def spans_range(self) -> bool:
        """Whether one time far away changes the curve at all others."""
        return False

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings, as scikit-learn's search over them asks for them."""
        settings = {name: getattr(self, name) for name in self._names()}
        for name, value in list(settings.items()) if deep else ():
            if isinstance(value, Curve):
                inner = value.get_params().items()
                settings.update({f"{name}__{key}": setting for key, setting in inner})
        return settings

    def set_params(self, **settings: Any) -> Self:
        """Change settings in place; of a curve within a surface as ``curve_a__name``."""
        for key, value in settings.items():
            name, _, inner = key.partition("__")
            if name not in self._names():
                raise InputError(f"{name!r} is no setting of {type(self).__name__}: {self!r}")
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                # Frozen for users; scikit-learn sets what it has just cloned.
                object.__setattr__(self, name, value)
        return self

    def _names(self) -> list[str]:
        return [field.name for field in fields(self)]  # type: ignore[arg-type]

    @abstractmethod
    def track(self, times: Array, weights: Array | None, span: TimeSpan | None = None) -> Track:
        """Lay the curve along some times.

        Where these are the means of cells, ``span`` is the range of the times themselves.
        """


class RangeCurve(Curve):
    """Base of the curves along the range of time, which a wrong time would stretch.

    They are laid along all times but a few that lie absurdly far away: see `tempocal.curves.grid`.
    """

    # More distinct times than this are put into as many cells.
    most_cells: ClassVar[int] = CELLS

    @property
    def spans_range(self) -> bool:
        """Whether one time far away changes the curve at all others."""
        return True

    def track(self, times: Array, weights: Array | None, span: TimeSpan | None = None) -> Track:
        """Lay the curve along the times, but for a few that lie absurdly far away."""
        # Cells were made without stray times.
        bulk = None if span is not None else find_bulk(times, weights)
        if bulk is None:
            return self._lay(fine(times, weights, self.most_cells, span))
        kept = bulk.holds(times)
        weights = None if weights is None else weights[kept]
        return replace(self._lay(fine(times[kept], weights, self.most_cells)), kept=kept, bulk=bulk)

    @abstractmethod
    def _lay(self, grid: Grid) -> Track:
        """Lay the curve along a grid."""


def check_strength(value: object, name: str) -> float | None:
    """Return a strength that was given, None for "auto"."""
    if value == "auto":
        return None
    number = float(value) if isinstance(value, int | float) and value is not True else np.nan
    if not 0 <= number < np.inf:
        raise InputError(f'{name} must be "auto" or a number of at least 0, but it is {value!r}')
    return number
