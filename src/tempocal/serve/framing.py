"""Refusal of request heads with ambiguous framing (request smuggling).

A proxy and the service behind it must agree where a request ends; otherwise one may read as the
next request what the other reads as a body. RFC 9112, section 6, allows a server to answer some of
these and close the connection; here they are all refused.
"""

import h11

AMBIGUOUS_LENGTH = (
    "this request has both a Content-Length and a Transfer-Encoding, so that its end is not "
    "clear: send one of them"
)
HTTP_1_0 = "this request of HTTP/1.0 has a Transfer-Encoding, which came with HTTP/1.1"
NOT_HTTP_1_1 = "this is not a request of HTTP/1.1"


class StrictConnection(h11.Connection):
    """A connection that refuses requests with ambiguous framing.

    Attributes
    ----------
    fault : str
        What is wrong with the request that was refused.
    """

    fault = NOT_HTTP_1_1

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event, or raise ``RemoteProtocolError``."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            fault = _fault(event)
            if fault:
                self.fault = fault
                raise h11.RemoteProtocolError(fault)
        return event


def _fault(request: h11.Request) -> str | None:
    names = {name for name, _ in request.headers}
    if b"transfer-encoding" in names and b"content-length" in names:
        return AMBIGUOUS_LENGTH
    if b"transfer-encoding" in names and request.http_version < b"1.1":
        return HTTP_1_0
    return None if request.http_version.startswith(b"1.") else NOT_HTTP_1_1
