"""A model and the scorer in one Python file, which needs nothing but Python."""

from pathlib import Path

from tempocal import scorer

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
    return Path(scorer.__file__).read_text(encoding="utf-8") + _MODEL.format(text=text)
