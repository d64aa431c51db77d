"""What the user has to say about the service."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """Where to listen, whom to answer, and how much at most.

    Attributes
    ----------
    path : str
        The model file.
    host, port
        Where to listen; port 0 is any that is free.
    token : str or None
        What requests must bear, other than those for health.
    max_body : int
        Bytes of a request.
    max_rows : int
        Rows of a request.
    max_concurrent : int
        Requests that are scored at a time; four times as many may be coming in.
    timeout : float
        Seconds in which a request must have come in: its head, and then its body.
    idle : int
        Seconds for which a connection is kept between requests: more than the minute after which
        proxies give theirs up.
    grace : int
        Seconds in which requests are finished when the service stops.
    watch : bool
        Whether a new file is taken up as it comes.
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
