"""Two more nodes for formulas: an index among knots, and a number looked up by such indices."""

from dataclasses import dataclass

from tempocal.formula.nodes import Expression, Side
from tempocal.links import Array


@dataclass(frozen=True, eq=False)
class KnotIndex(Expression):
    """An integer: ``searchsorted(knots, operand, side)``.

    Attributes
    ----------
    operand : Expression
        What is looked for.
    knots : ndarray of shape (*sizes of rows, k)
        In ascending order; infinity fills up rows that have fewer.
    side : {"left", "right"}
        As in NumPy.
    rows : tuple of KnotIndex
        Which knots it is that count; empty where there is only one row of them.
    """

    operand: Expression
    knots: Array
    side: Side
    rows: tuple["KnotIndex", ...] = ()

    @property
    def size(self) -> int:
        """How many indices there can be, filled up to a power of 2."""
        return 1 << int(self.knots.shape[-1]).bit_length()


@dataclass(frozen=True, eq=False)
class Table(Expression):
    """A number at some indices: ``values[indices]``; the last counts on beyond the end."""

    values: Array
    indices: tuple[KnotIndex, ...]
