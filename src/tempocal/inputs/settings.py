"""Validation of settings: integers, seeds and choices."""

from operator import index
from typing import Any

from tempocal.errors import InputError

# More bins of confidence take megabytes, and no probability is known to a millionth.
MAX_BINS = 1_000_000


def check_positive_int(value: Any, name: str) -> int:
    """Return an integer of at least 1."""
    try:
        number = index(value)
    except TypeError:
        number = 0
    # bool is a subclass of int, but a mistake here.
    if number < 1 or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number of at least 1, but it is {value!r}")
    return number


def check_bins(value: Any, name: str = "bins") -> int:
    """Return a number of bins of confidence, from 1 to a million."""
    number = check_positive_int(value, name)
    if number > MAX_BINS:
        raise InputError(
            f"{name} must be at most {MAX_BINS:,}, but it is more: 15 are usual, and bins beyond "
            "the number of rows stay empty"
        )
    return number


def check_seed(value: Any, name: str = "seed") -> int:
    """Return an integer of at least 0."""
    try:
        number = index(value)
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number of at least 0, but it is {value!r}")
    return number


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(f'"{choice}"' for choice in choices)
        raise InputError(f"{name} must be {allowed}, but it is {value!r}")
