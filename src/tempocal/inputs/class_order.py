"""Columns that are named like the classes, or begin or end so, but come in another order."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from tempocal.errors import InputError

# With more classes, names are not compared: that many columns are named by a program.
MAX_CLASSES = 200


def classes_in_names(names: Sequence[Any], classes: Sequence[Any]) -> list[Any] | None:
    """Return the classes in the order in which columns name them; None if they do not.

    Examples
    --------
    >>> classes_in_names(["p_win", "p_draw", "p_loss"], ["draw", "loss", "win"])
    ['win', 'draw', 'loss']
    >>> classes_in_names(["home", "away", "draw"], ["draw", "loss", "win"])
    """
    if len(names) != len(classes) or not 1 < len(names) <= MAX_CLASSES:
        return None
    by_text = {str(one): one for one in classes}
    texts = [str(name) for name in names]
    for start, end in _around(texts[0], by_text):
        if not all(text.startswith(start) and text.endswith(end) for text in texts):
            continue
        middles = [text[len(start) : len(text) - len(end)] for text in texts]
        if set(middles) == set(by_text):
            return [by_text[middle] for middle in middles]
    return None


def require_names_in_order(names: Sequence[Any], classes: NDArray[Any], what: str) -> None:
    """Refuse columns whose names say that they are in another order than the classes."""
    wanted = classes.tolist()
    found = classes_in_names(names, wanted)
    if found is None or found == wanted:
        return
    raise InputError(
        f"the columns of {what} are named {list(names)}, but the classes come in the order "
        f"{wanted}: say classes={found}, or put the columns in that order"
    )


def _around(text: str, words: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what stands before and after a word within a text, for each place of each word."""
    return [
        (text[:k], text[k + len(word) :])
        for word in words
        for k in range(len(text) - len(word) + 1)
        if text.startswith(word, k)
    ]
