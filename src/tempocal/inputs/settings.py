"""Settings that are whole numbers or one of a few words."""

from operator import index
from typing import Any

from tempocal.errors import InputError

# Bins of confidence: so many take megabytes, and no probability is known to a millionth.
MOST_BINS = 1_000_000


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


def check_bins(value: Any, name: str = "bins") -> int:
    """Return a number of bins of confidence: whole, and no more than can be of use."""
    number = check_whole(value, name)
    if number > MOST_BINS:
        raise InputError(
            f"{name} must be at most {MOST_BINS:,}, but it is more: 15 are usual, and bins beyond "
            "the number of rows stay empty"
        )
    return number


def check_seed(value: Any, name: str = "seed") -> int:
    """Return a whole number of at least 0."""
    try:
        number = index(value)
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number of at least 0, but it is {value!r}")
    return number


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(f'"{choice}"' for choice in choices)
        raise InputError(f"{name} must be {allowed}, but it is {value!r}")
