"""A model and the scorer in one Python file, which needs nothing but Python."""

from pathlib import Path

from tempocal import scorer
from tempocal.version import __version__

_TITLE = """One calibrated prediction at a time: ``score(logit, time)``, with Python alone.

Written by tempocal {version}. The model is at the end; the rest is ``tempocal.scorer``,
whose sections are: the scorer, the model file, input, curves along time, maps of logits.
"""
_MODEL = """

# The model.

scorer = loads({text!r})
score, log_odds = scorer.score, scorer.log_odds"""


def to_python(model_file: bytes) -> str:
    """Return a module with ``score(logit, time)``: ``tempocal.scorer`` and a model file's content.

    Raises
    ------
    ModelError
        If it is not the content of a model file.
    """
    text = model_file.decode(errors="replace")
    scorer.loads(text)
    source = Path(scorer.__file__).read_text(encoding="utf-8").split('"""', maxsplit=2)[2]
    return f'"""{_TITLE.format(version=__version__)}"""{source}{_MODEL.format(text=text)}'
