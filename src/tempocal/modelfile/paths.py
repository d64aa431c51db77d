"""The name of a file or folder that a user passed, or a sentence about what is no name."""

import os
from typing import Any

from tempocal.errors import InputError


def path_name(path: Any, name: str = "path") -> str:
    r"""Return a path as text.

    Parameters
    ----------
    path : str, bytes or path-like
        What was passed.
    name : str
        What the argument is called.

    Raises
    ------
    InputError
        If it is nothing of these, holds a NUL character, or half of a surrogate pair.

    Examples
    --------
    >>> path_name(None)
    Traceback (most recent call last):
    ...
    tempocal.errors.InputError: path must be the name of a file, as text or a pathlib.Path, but it
    is None
    >>> path_name("model\0.json")
    Traceback (most recent call last):
    ...
    tempocal.errors.InputError: path is 'model\x00.json', with a NUL character, which no file name
    can hold
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise InputError(
            f"{name} must be the name of a file, as text or a pathlib.Path, but it is "
            f"{'an open file' if hasattr(path, 'read') else f'{path!r:.80}'}"
        )
    text = os.fsdecode(path)
    if "\0" in text:
        raise InputError(
            f"{name} is {text!r:.200}, with a NUL character, which no file name can hold"
        )
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise InputError(f"{name} is {text!a:.200}, which is not text: {error.reason}") from error
    return text
