"""A formula cut into stages, so that what is used twice is computed once.

Tables and SELECT statements can name a value only for those that come after: a column made in one
stage can be used in the next. So a stage holds the shared parts that rest on earlier stages alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tempocal.formula.nodes import (
    Column,
    Expression,
    Negate,
    Node,
    Null,
    Number,
    Piecewise,
    children,
    children_first,
    with_children,
)

_TRIVIAL = (Column, Number, Null, Negate)


@dataclass(frozen=True)
class Staged:
    """A formula in stages.

    Attributes
    ----------
    stages : tuple of dict
        Names and expressions of the columns that each stage adds, of the input and of columns that
        earlier stages have added.
    outputs : tuple of Expression
        The formula itself, of all those.
    """

    stages: tuple[dict[str, Expression], ...]
    outputs: tuple[Expression, ...]


def in_stages(outputs: Sequence[Expression], prefix: str) -> Staged:
    """Cut formulas into stages; columns are named by the prefix and a number.

    Examples
    --------
    >>> from tempocal.formula.nodes import Exp
    >>> shared = Exp(Column("x"))
    >>> staged = in_stages([shared * shared], "s")
    >>> staged.stages
    ({'s0': Exp(operand=Column(name='x'))},)
    >>> staged.outputs
    (Multiply(left=Column(name='s0'), right=Column(name='s0')),)
    """
    order = children_first(outputs)
    uses = _count_uses(order, outputs)
    new: dict[Node, Node] = {}
    level: dict[Node, int] = {}
    stages: list[dict[str, Expression]] = []
    for node in order:
        new[node] = with_children(node, new.__getitem__)
        level[node] = max((level[child] for child in children(node)), default=0)
        if uses[node] > 1 and isinstance(node, Expression) and not isinstance(node, _TRIVIAL):
            if level[node] == len(stages):
                stages.append({})
            name = f"{prefix}{sum(map(len, stages))}"
            stages[level[node]][name] = new[node]  # type: ignore[assignment]
            new[node] = Column(name)
            level[node] += 1
    return Staged(tuple(stages), tuple(new[each] for each in outputs))  # type: ignore[misc]


def _count_uses(order: Sequence[Node], outputs: Sequence[Expression]) -> dict[Node, int]:
    uses = dict.fromkeys(order, 0)
    for node in [child for parent in order for child in children(parent)] + list(outputs):
        uses[node] += 1
    for node in order:
        if isinstance(node, Piecewise):
            uses[node.operand] += 1  # it is compared with more than one knot
    return uses


def written_size(expression: Expression) -> int:
    """Count the nodes of a formula that is written out, each as often as it is used.

    Examples
    --------
    >>> shared = Column("x") + 1.0
    >>> written_size(shared * shared)
    7
    """
    sizes: dict[Node, int] = {}
    for node in children_first([expression]):
        sizes[node] = 1 + sum(sizes[child] for child in children(node))
        if isinstance(node, Piecewise):  # each comparison has the operand, a knot and a branch
            sizes[node] += (len(node.knots) - 1) * sizes[node.operand] + 3 * len(node.knots)
    return sizes[expression]
