"""Heads of requests that two programs could read in two ways are refused.

A proxy in front of the service and the service must agree where a request ends; else what one takes
for the body of a request, the other takes for the next request (request smuggling). RFC 9112,
section 6, leaves the choice to answer some of these and close the connection: they are refused.
"""

import h11

BOTH = (
    "this request has both a Content-Length and a Transfer-Encoding, so that its end is not "
    "clear: send one of them"
)
OLD = "this request of HTTP/1.0 has a Transfer-Encoding, which came with HTTP/1.1"
OTHER = "this is not a request of HTTP/1.1"


class StrictConnection(h11.Connection):
    """One connection, which refuses requests whose end is not clear.

    Attributes
    ----------
    fault : str
        What is wrong with the request that was refused.
    """

    fault = OTHER

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return what has come next, or raise ``RemoteProtocolError``."""
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
        return BOTH
    if b"transfer-encoding" in names and request.http_version < b"1.1":
        return OLD
    return None if request.http_version.startswith(b"1.") else OTHER
