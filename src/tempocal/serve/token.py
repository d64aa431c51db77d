"""The bearer token: reading it at the start, checking it in requests."""

import hmac
import os
import re

from starlette.requests import Request

from tempocal.errors import InputError
from tempocal.serve.refusals import RefusedError

VARIABLE = "TEMPOCAL_TOKEN"
_PRINTABLE = re.compile(r"[!-~]+")


def find_token(file: str | None) -> str | None:
    """Return the token from a file or else from the environment; None without either."""
    if file is not None:
        with open(file, encoding="utf-8", errors="replace") as lines:
            return _checked(lines.read().strip(), file)
    found = os.environ.get(VARIABLE)
    return None if found is None else _checked(found, VARIABLE)


def _checked(token: str, source: str) -> str:
    if not _PRINTABLE.fullmatch(token):
        raise InputError(
            f"the token in {source} must be letters, digits and signs of ASCII without spaces"
            f"{', but it is empty' if not token else ''}"
        )
    return token


def authorize(request: Request, token: str | None) -> None:
    """Refuse a request without the token, if there is one."""
    if token is None:
        return
    kind, _, credentials = request.headers.get("authorization", "").partition(" ")
    # As bytes, since text must be ASCII; in constant time, against timing attacks.
    same = hmac.compare_digest(credentials.strip().encode(), token.encode())
    if not same or kind.lower() != "bearer":
        raise RefusedError(
            401,
            "unauthorized",
            "this service asks for a token: send it in the header Authorization: Bearer ...",
            headers={"WWW-Authenticate": "Bearer"},
        )
