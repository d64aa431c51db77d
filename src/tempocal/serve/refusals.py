"""What is answered instead of probabilities."""

import json
from collections.abc import Mapping
from typing import Any

SHOWN = 60
"""Characters of a value that are shown at most."""

_JSON = (str, int, float, list, dict, type(None))


class RefusedError(Exception):
    """A request that is not answered with probabilities.

    Parameters
    ----------
    status : int
        Of HTTP.
    code : str
        The reason as one word, for programs.
    message : str
        The reason as a sentence: what it was, what it must be.
    where : str or None
        The part of the body, such as ``rows[3].time``.
    headers : mapping
        To go with the answer.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        where: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.where = status, code, where
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        """Return the answer as JSON."""
        error = {"code": self.code, "message": str(self), "where": self.where}
        return json.dumps({"error": error}).encode()


def shown(value: Any) -> str:
    """Return a JSON value, cut short.

    Examples
    --------
    >>> shown([1, None, "text"])
    '[1, null, "text"]'
    >>> shown("a" * 1000) == '"' + 59 * "a" + "..."
    True
    """
    # A long text is cut before it is written, so that a large one costs nothing.
    short = value[: SHOWN + 1] if isinstance(value, str | list) else value
    text = json.dumps(short, default=repr) if isinstance(short, _JSON) else repr(short)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
