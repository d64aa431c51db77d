"""SIGTERM in the middle of a load, and whether a request is lost that the service had accepted.

Of a request without an answer the client cannot tell whether its connection was accepted, or reset
by the system when the listener was closed. The service says at its end how many it had accepted:
as many must have been answered. And on a connection that was answered once, and not asked to close,
every further request must be answered as well.
"""

import asyncio
import random
import signal
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.load.cases import Case
from benchmarks.load.client import Connection
from benchmarks.load.service import Running, running

KEPT, SINGLE = 8, 4
"""Connections that are kept, and those that are opened anew for every request."""


@dataclass
class Stopped:
    """What was seen when a service was stopped.

    Attributes
    ----------
    answered : int
        Requests that were.
    wrong : int
        Of them, otherwise than they must be.
    lost : int
        Requests that the service had accepted and did not answer.
    unaccepted : int
        Connections that were reset before the service had them.
    exit_code : int
        Of the service.
    seconds : float
        From SIGTERM to the end.
    """

    answered: int = 0
    wrong: int = 0
    lost: int = 0
    unaccepted: int = 0
    exit_code: int = -1
    seconds: float = 0.0
    connections: int = 0

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, nothing wrong, and the end was clean."""
        return not (self.lost or self.wrong or self.exit_code)


def stop_under_load(model: Path, cases: list[Case], moments: random.Random) -> Stopped:
    """Start a service, ask it, stop it at some moment, and go on asking until it is gone."""
    with running(model) as service:
        seen = asyncio.run(_stop(service, cases, 0.1 + 0.4 * moments.random()))
        accepted = service.connections()
    # The connections that had an answer are those accepted, unless one of these had none.
    seen.lost += accepted - seen.connections
    return seen


async def _stop(service: Running, cases: list[Case], after: float) -> Stopped:
    seen = Stopped()
    asking = [
        asyncio.create_task(_ask(service.port, cases[k:] + cases[:k], seen, keeps=k < KEPT))
        for k in range(KEPT + SINGLE)
    ]
    await asyncio.sleep(after)
    service.send(signal.SIGTERM)
    start = perf_counter()
    seen.exit_code = await asyncio.to_thread(service.wait)
    seen.seconds = perf_counter() - start
    await asyncio.gather(*asking)
    return seen


async def _ask(port: int, cases: list[Case], seen: Stopped, *, keeps: bool) -> None:
    """Ask until no connection can be made."""
    k = 0
    while True:
        try:
            connection = await Connection.open(port)
        except OSError:
            return
        while connection.is_open:
            case = cases[k % len(cases)]
            k += 1
            try:
                answer = await connection.ask(case.request)
            except ConnectionError:
                if connection.answered:
                    seen.lost += 1
                else:
                    seen.unaccepted += 1
                break
            seen.answered += 1
            seen.wrong += not case.is_right(answer.status, answer.body)
            if not keeps:
                connection.close()
        seen.connections += connection.answered > 0
