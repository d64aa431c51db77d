"""Error responses."""

import json
from collections.abc import Mapping
from typing import Any

MAX_SHOWN = 60
"""Maximum number of characters of a value in an error message."""

_JSON = (str, int, float, list, dict, type(None))


class RefusedError(Exception):
    """A request that is answered with an error.

    Parameters
    ----------
    status : int
        HTTP status.
    code : str
        The reason as one word, for programs.
    message : str
        The reason as a sentence: what it was, what it must be.
    where : str or None
        The part of the body, such as ``rows[3].time``.
    headers : mapping
        Extra headers of the response.
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
        """Return the body of the response, JSON."""
        error = {"code": self.code, "message": str(self), "where": self.where}
        return json.dumps({"error": error}).encode()


def short_text(value: Any) -> str:
    """Return a JSON value as text, truncated.

    Examples
    --------
    >>> short_text([1, None, "text"])
    '[1, null, "text"]'
    >>> short_text("a" * 1000) == '"' + 59 * "a" + "..."
    True
    """
    # Truncated before it is encoded, so that a large value costs nothing.
    short = value[: MAX_SHOWN + 1] if isinstance(value, str | list) else value
    text = json.dumps(short, default=repr) if isinstance(short, _JSON) else repr(short)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
