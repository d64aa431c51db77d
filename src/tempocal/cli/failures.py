"""What went wrong, in one sentence, with an exit code; never a traceback."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENOENT, EPIPE
from os import strerror
from typing import IO, Any

import click

from tempocal.cli.echo import plain, say
from tempocal.cli.flag_wording import with_flags
from tempocal.errors import ModelFileError, TempocalError, TempocalWarning

# Which extra brings a package that is missing.
_EXTRAS = {
    "click": "cli",
    "rich": "cli",
    "pyarrow": "cli",
    "matplotlib": "plots",
    "jinja2": "report",
    "fastapi": "serve",
    "uvicorn": "serve",
}


class Failure(click.ClickException):
    """A sentence; the exit code is 1."""

    def __init__(self, message: str) -> None:
        super().__init__(plain(" ".join(message.split())))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence; the exit code tells even where it cannot be written."""
        with suppress(OSError):
            super().show(file)


class ModelFailure(Failure):
    """A model file cannot be read."""

    exit_code = 3


class AboveLimit(Failure):
    """An error is larger than was allowed."""

    exit_code = 4


class Alarm(Failure):
    """A monitor has raised an alarm."""

    exit_code = 4


@contextmanager
def in_a_sentence(*, traceback: bool = False) -> Iterator[None]:
    """Turn errors into a sentence and warnings into lines, both on standard error."""
    with _warnings_in_lines():
        try:
            yield
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if traceback or (isinstance(error, OSError) and error.errno == EPIPE):
                raise
            raise _failure(error) from error


def _failure(error: Exception) -> Failure:
    if isinstance(error, ModelFileError):
        return ModelFailure(str(error))
    return Failure(str(error) if isinstance(error, TempocalError) else _sentence(error))


def _sentence(error: Exception) -> str:
    match error:
        case FileNotFoundError(strerror=said) if said == strerror(ENOENT):
            return f"{error.filename} does not exist"
        case OSError():
            where = f"{error.filename}: " if error.filename is not None else ""
            return f"{where}{error.strerror or error}"
        case ModuleNotFoundError(name=str(name)) if name.split(".")[0] in _EXTRAS:
            package = name.split(".")[0]
            return f'{package} is missing: pip install "tempocal[{_EXTRAS[package]}]"'
        case ImportError() if "pip install" in str(error):
            return str(error)
        case MemoryError():
            return "there is not enough memory for so many rows at once: try a sample of them"
    return (
        f"this should not have happened: {type(error).__name__}: {error}. Please report what "
        "tempocal --traceback and the same words show"
    )


@contextmanager
def _warnings_in_lines() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TempocalWarning)
        try:
            yield
        finally:
            messages = [
                str(one.message) for one in caught if issubclass(one.category, TempocalWarning)
            ]
            for message in dict.fromkeys(messages):
                say(f"Warning: {with_flags(' '.join(message.split()))}", err=True)
