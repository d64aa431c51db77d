"""Settings of the metrics, checked with a worded error."""

from operator import index
from typing import Any

from tempocal.errors import InputError


def check_whole(value: Any, name: str) -> int:
    """Return a whole number of at least 1."""
    try:
        number = index(value)
    except TypeError:
        number = 0
    # True is the integer 1 to Python, and a mistake here.
    if number < 1 or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number of at least 1, but it is {value!r}")
    return number


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(f'"{choice}"' for choice in choices)
        raise InputError(f"{name} must be {allowed}, but it is {value!r}")


def check_two_classes(of: str, n_classes: int, instead: str) -> None:
    """Refuse to speak of a positive class where there are more than two."""
    if of == "positive_class" and n_classes != 2:
        raise InputError(
            f'of="positive_class" needs two classes, but proba has {n_classes}: use {instead}'
        )
