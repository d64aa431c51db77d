"""What the library says about arguments, in the words of the command line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tempocal.errors import InputError

_FLAGS = {
    "write select(table, keep=[...]) of it": "name the table with --table and columns with --keep",
    "sample_weight": "--weight",
    'inputs="proba"': "--proba",
    'inputs="logits"': "--logits",
    "logits=": "--logits",
    "proba=": "--proba",
    "classes=": "--classes",
    "time=": "--time",
    "sequence=": "--sequence",
    "groups=": "--sequence",
}
# What a sentence is about: words that elsewhere are only words.
_SUBJECTS = {
    "y": "--label",
    **{name: f"--{name}" for name in ("time", "classes", "sequence", "logits", "proba", "edges")},
}
_VERBS = "is|has|must|contains|holds|lists|was|mixes|at"
_SUBJECT = re.compile(rf"(^|: )(?:Input )?({'|'.join(_SUBJECTS)})(?= (?:{_VERBS}|\(clock)\b)")


@contextmanager
def in_words_of_the_command(first_row: int = 1) -> Iterator[None]:
    """Name flags instead of arguments, and count rows from the first of the file."""
    try:
        yield
    except InputError as error:
        text = re.sub(r"\brow (\d+)", lambda row: f"row {int(row[1]) + first_row}", str(error))
        raise InputError(with_flags(text)) from error


def with_flags(text: str) -> str:
    """Name flags instead of arguments."""
    for argument, flag in _FLAGS.items():
        text = text.replace(argument, flag)
    return _SUBJECT.sub(lambda found: found[1] + _SUBJECTS[found[2]], text)
