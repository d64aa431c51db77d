"""Errors and warnings as messages of one sentence, with an exit code, without a traceback."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENOENT, EPIPE
from os import strerror
from typing import IO, Any

import click

from tempocal.cli.flag_wording import with_flag_names
from tempocal.cli.terminal import echo, printable
from tempocal.errors import ModelFileError, TempocalError, TempocalWarning

# The extra that installs each optional package.
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
    """An error message of one sentence; exit code 1."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.split())))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, if it can be written."""
        with suppress(OSError):
            super().show(file)


class ModelFailure(Failure):
    """A model file cannot be read."""

    exit_code = 3


class AboveLimit(Failure):
    """A calibration error above the limit."""

    exit_code = 4


class Alarm(Failure):
    """A monitor has raised an alarm."""

    exit_code = 4


class TooLittle(Failure):
    """A monitor has seen too little to judge."""

    exit_code = 5


@contextmanager
def errors_as_messages(*, traceback: bool = False) -> Iterator[None]:
    """Turn errors and warnings into messages on standard error."""
    with _echo_warnings():
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
    return Failure(str(error) if isinstance(error, TempocalError) else _message(error))


def _message(error: Exception) -> str:
    match error:
        case FileNotFoundError(strerror=reason) if reason == strerror(ENOENT):
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
def _echo_warnings() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TempocalWarning)
        try:
            yield
        finally:
            messages = [
                str(one.message) for one in caught if issubclass(one.category, TempocalWarning)
            ]
            for message in dict.fromkeys(messages):
                echo(f"Warning: {with_flag_names(' '.join(message.split()))}", err=True)
