"""Settings of the service."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """Model file, address, token and limits.

    Attributes
    ----------
    path : str
        The model file.
    host, port
        Address to listen at; port 0 is any free port.
    token : str or None
        Bearer token that requests must send, except for health checks.
    max_body : int
        Maximum number of bytes of a request.
    max_rows : int
        Maximum number of rows of a request.
    max_concurrent : int
        Requests that are scored at a time; four times as many may be received at a time.
    timeout : float
        Seconds for receiving the head of a request, and again for its body.
    idle : int
        Seconds for which an idle connection is kept open: more than the usual minute of proxies.
    grace : int
        Seconds for finishing requests when the service stops.
    watch : bool
        Whether to reload the model file when it changes.
    """

    path: str
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    max_body: int = 2**20
    max_rows: int = 10_000
    max_concurrent: int = 64
    timeout: float = 10.0
    idle: int = 65
    grace: int = 10
    watch: bool = True
