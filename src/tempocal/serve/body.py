"""Reading the body of a request, within limits."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from tempocal.serve.refusals import RefusedError

DROPPED = 4
"""How many times as large as it may be a body is read, if only to be dropped."""


def require_json(request: Request) -> None:
    """Refuse a body that does not say that it is JSON, or is packed."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if kind != "application/json" or packed != "identity":
        raise RefusedError(
            415,
            "not_application_json",
            "the body must be plain JSON: send it with the header Content-Type: application/json "
            "and without a Content-Encoding",
        )


async def read_body(request: Request, max_bytes: int, seconds: float) -> bytes:
    """Return the body, if it comes in time and is not too large, said beforehand or not.

    One that is a little too large is read to its end before it is refused: a client that sends it
    may not look for an answer earlier, and would be reset where it asked to close.
    """
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > DROPPED * max_bytes:
        raise _too_large(max_bytes)
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                size += len(piece)
                if size <= max_bytes:
                    body += piece
                elif size > DROPPED * max_bytes:
                    break
    except TimeoutError as error:
        raise too_slow(seconds) from error
    except ClientDisconnect as error:
        raise RefusedError(400, "incomplete", "the connection was closed half way") from error
    if size > max_bytes:
        raise _too_large(max_bytes)
    return bytes(body)


def too_slow(seconds: float) -> RefusedError:
    """Return the answer to a request that has not come in as a whole."""
    return RefusedError(
        408,
        "timeout",
        f"the request had not come in as a whole after {seconds:g} seconds",
        headers={"Connection": "close"},
    )


def _too_large(max_bytes: int) -> RefusedError:
    return RefusedError(
        413,
        "body_too_large",
        f"the body is larger than {max_bytes} bytes: send the rows in parts",
    )
