"""Receiving the body of a request, with limits on its type, size and time."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from tempocal.serve.refusals import RefusedError

DISCARD_FACTOR = 4
"""A body that is too large is still read, and discarded, up to this multiple of the limit."""


def require_json(request: Request) -> None:
    """Refuse a request whose headers do not declare uncompressed JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if kind != "application/json" or encoding != "identity":
        raise RefusedError(
            415,
            "not_application_json",
            "the body must be plain JSON: send it with the header Content-Type: application/json "
            "and without a Content-Encoding",
        )


async def read_body(request: Request, max_bytes: int, seconds: float) -> bytes:
    """Return the body if it arrives in time and is not too large, with or without a length header.

    A body that is a little too large is read to its end before it is refused: a client may not read
    the response before it has sent everything, and would see a connection reset instead.
    """
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > DISCARD_FACTOR * max_bytes:
        raise _too_large(max_bytes)
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= max_bytes:
                    body += chunk
                elif size > DISCARD_FACTOR * max_bytes:
                    break
    except TimeoutError as error:
        raise too_slow(seconds) from error
    except ClientDisconnect as error:
        raise RefusedError(400, "incomplete", "the connection was closed half way") from error
    if size > max_bytes:
        raise _too_large(max_bytes)
    return bytes(body)


def too_slow(seconds: float) -> RefusedError:
    """Return the response to a request that did not arrive completely in time."""
    return RefusedError(
        408,
        "timeout",
        f"the request was not complete after {seconds:g} seconds",
        headers={"Connection": "close"},
    )


def _too_large(max_bytes: int) -> RefusedError:
    return RefusedError(
        413,
        "body_too_large",
        f"the body is larger than {max_bytes} bytes: send the rows in parts",
    )
