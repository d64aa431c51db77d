"""Translation of argument names in error messages to the flags of the command line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tempocal.errors import InputError

_NAME_ORDER = "name a column that puts them in order with --order"
_FLAGS = {
    "write select(table, keep=[...]) of it": "name the table with --table and columns with --keep",
    "PerStep(bins=20)": "--curve per-step with --bins 20",
    "PerStep()": "--curve per-step",
    "Spline()": "--curve spline",
    "sample_weight": "--weight",
    "soft_label=True": "--soft-label",
    "the rows of y ": "the rows of --label ",
    'inputs="proba"': "--proba",
    'inputs="logits"': "--logits",
    "logits=": "--logits",
    "proba=": "--proba",
    "classes=": "--classes",
    "time=": "--time",
    "sequence=": "--sequence",
    "groups=": "--sequence",
    "it must put the rows of a sequence in order": _NAME_ORDER,
    "pass order=, which puts the rows of a sequence in order": _NAME_ORDER,
    "Pass -order then": "Name a column that grows with --order, or sort the file",
}
# Arguments that are also common words: replaced only as the subject of a sentence.
_SUBJECTS = {
    "y": "--label",
    "label": "--label",
    "groups": "--sequence or --group",
    **{name: f"--{name}" for name in ("time", "classes", "sequence", "logits", "proba", "edges")},
}
_VERBS = "names|is|has|must|contains|holds|lists|was|mixes|at"
_SUBJECT = re.compile(rf"(^|: )(?:Input )?({'|'.join(_SUBJECTS)})(?= (?:{_VERBS}|\(clock)\b)")


@contextmanager
def translate_errors(first_row: int = 1, *, order: str = "--order") -> Iterator[None]:
    """Replace arguments by flags in an `InputError`, and count rows from the first of the file.

    ``order`` is the flag that names what puts the rows of a sequence in order.
    """
    try:
        yield
    except InputError as error:
        text = re.sub(r"\brow (\d+)", lambda row: f"row {int(row[1]) + first_row}", str(error))
        raise InputError(with_flag_names(re.sub("^order(?= must)", order, text))) from error


def with_flag_names(text: str) -> str:
    """Replace arguments by flags in a message."""
    for argument, flag in _FLAGS.items():
        text = text.replace(argument, flag)
    return _SUBJECT.sub(lambda found: found[1] + _SUBJECTS[found[2]], text)
