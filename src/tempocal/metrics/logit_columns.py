"""Logits in a table as probabilities and surprisals, as `tempocal.inputs.predicted` has them."""

from tempocal.formula.links import exp, log1p, sigmoid, softmax, top_class
from tempocal.formula.nodes import (
    Below,
    Column,
    Expression,
    Largest,
    Number,
    Same,
    Some,
    Where,
    clamp,
    total,
)
from tempocal.inputs.logits import LARGEST_LOGIT
from tempocal.metrics.scored_rows import LARGEST_SURPRISAL

_IMPOSSIBLE = Number(2.0 * LARGEST_SURPRISAL)
# Between the finite logits and the infinite ones.
_BEYOND = 2.0 * LARGEST_LOGIT


def predicted_by_logits(
    n_columns: int, prefix: str = "p", of: tuple[str, str] = ("x", "z")
) -> dict[str, Expression]:
    """Return columns ``p0``, ... and ``p_surprisal0``, ... of each class.

    Of ``x0``, ..., the logits as given, and ``z0``, ..., the same without infinite ones.
    """
    given = [Column(f"{of[0]}{k}") for k in range(n_columns)]
    finite = tuple(Column(f"{of[1]}{k}") for k in range(n_columns))
    one = n_columns == 1
    found = _of_one(given[0], finite[0]) if one else _of_several(given, finite)
    proba = (sigmoid(-finite[0]), sigmoid(finite[0])) if one else softmax(finite)
    columns = {f"{prefix}{k}": each for k, each in enumerate(proba)}
    return columns | {f"{prefix}_surprisal{k}": each for k, each in enumerate(found)}


def _of_one(given: Column, z: Column) -> list[Expression]:
    rest = log1p(exp(-Largest((z, -z))))
    first, second = rest + clamp(z, low=0.0), rest - clamp(z, high=0.0)
    is_first, is_second = Below(given, Number(-_BEYOND)), Below(Number(_BEYOND), given)
    return [Where(is_second, _IMPOSSIBLE, first), Where(is_first, _IMPOSSIBLE, second)]


def _of_several(given: list[Column], finite: tuple[Column, ...]) -> list[Expression]:
    # The surprisal of the largest logit, the first in a tie, is log(1 + the sum of the others).
    top = Largest(finite)
    first = top_class(finite, top)
    shifted = [z - top for z in finite]
    others = (
        Where(Same(first, Number(float(k))), Number(0.0), exp(each))
        for k, each in enumerate(shifted)
    )
    rest = log1p(total(others))
    is_certain = Some(tuple(Below(Number(_BEYOND), x) for x in given))
    # Beside a certain class all others are impossible.
    never = Where(is_certain, Number(_BEYOND), Number(-_BEYOND))
    return [
        Where(Below(x, never), _IMPOSSIBLE, rest - each)
        for x, each in zip(given, shifted, strict=True)
    ]
