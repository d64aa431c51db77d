"""The rate that the service reaches, and a long time at four fifths of it."""

import asyncio
import random
from collections import deque
from dataclasses import dataclass, field
from time import perf_counter

from benchmarks.load.cases import HALF, Case
from benchmarks.load.client import Answer, Connection
from benchmarks.load.service import Running

CONNECTIONS, HALVES = 32, 4
"""Connections that ask, and those beside them that send half a request and wait."""

SHARE_OF_MALFORMED = 0.2
TICK = 0.002


@dataclass
class Held:
    """What was seen while a rate was held.

    Attributes
    ----------
    asked, malformed : int
        Requests, and how many of them were malformed.
    wrong : list of str
        What was answered otherwise than it must be, the first few.
    seconds : list of float
        From the moment that a request was due to its answer.
    memory : list of float
        Of the service, in megabytes, every second.
    """

    asked: int = 0
    malformed: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def check(self, case: Case, answer: Answer) -> None:
        """Keep an answer that is not what it must be."""
        if not case.is_right(answer.status, answer.body) and len(self.wrong) < 20:
            self.wrong.append(f"{case.name}: {answer.status} {answer.body[:200]!r}")

    def quantile(self, share: float) -> float:
        """Return the latency that a share of the requests did not exceed, in milliseconds."""
        return 1e3 * sorted(self.seconds)[int(share * (len(self.seconds) - 1))]

    def growth(self) -> float:
        """Return how much the memory grew from the second tenth of the time to the last."""
        tenth = max(1, len(self.memory) // 10)
        return max(self.memory[-tenth:]) - max(self.memory[tenth : 2 * tenth] or self.memory[:1])


class Draw:
    """Requests in random order, a fifth of them malformed."""

    def __init__(self, good: list[Case], malformed: list[Case], seed: int = 0) -> None:
        self._good, self._malformed = good, malformed
        self._random = random.Random(seed)

    def __call__(self) -> tuple[Case, bool]:
        """Return a request, and whether it is malformed."""
        is_malformed = self._random.random() < SHARE_OF_MALFORMED
        return self._random.choice(self._malformed if is_malformed else self._good), is_malformed


async def peak_rate(port: int, draw: Draw, seconds: float) -> float:
    """Return the highest rate that connections reach that ask as fast as they are answered."""
    rates = []
    for connections in (1, 4, 16, CONNECTIONS):
        end = perf_counter() + seconds
        counts = await asyncio.gather(*(_ask_until(end, port, draw) for _ in range(connections)))
        rates.append(sum(counts) / seconds)
        print(f"  {connections:3} connections: {rates[-1]:6.0f} requests a second", flush=True)
    return max(rates)


async def _ask_until(end: float, port: int, draw: Draw) -> int:
    connection, count = await Connection.open(port), 0
    while perf_counter() < end:
        if not connection.is_open:
            connection = await Connection.open(port)
        await connection.ask(draw()[0].request)
        count += 1
    connection.close()
    return count


async def hold(service: Running, draw: Draw, rate: float, seconds: float) -> Held:
    """Ask at a rate, whatever the answers take, and check all of them.

    Raises
    ------
    ExceptionGroup
        At once, if a connection cannot be made or one that waits is closed without an answer.
    """
    held, due = Held(), deque[float]()
    more = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        workers = [
            group.create_task(_work(service.port, draw, due, more, held))
            for _ in range(CONNECTIONS)
        ]
        workers += [group.create_task(_wait_with_half(service.port, held)) for _ in range(HALVES)]
        start = perf_counter()
        for second in range(int(seconds)):
            while (now := perf_counter() - start) < second + 1:
                while (len(due) + held.asked) < now * rate:
                    due.append(start + (held.asked + len(due)) / rate)
                    more.release()
                await asyncio.sleep(TICK)
            held.memory.append(service.memory())
        for worker in workers:
            worker.cancel()
    return held


async def _work(
    port: int, draw: Draw, due: deque[float], more: asyncio.Semaphore, held: Held
) -> None:
    connection = await Connection.open(port)
    while True:
        await more.acquire()
        when, (case, is_malformed) = due.popleft(), draw()
        held.asked += 1
        held.malformed += is_malformed
        if not connection.is_open:
            connection = await Connection.open(port)
        try:
            answer = await connection.ask(case.request)
        except ConnectionError as error:
            answer = Answer(0, str(error).encode(), closes=True)
        held.seconds.append(perf_counter() - when)
        held.check(case, answer)


async def _wait_with_half(port: int, held: Held) -> None:
    """Send half a request, again and again: it must be given up."""
    while True:
        connection = await Connection.open(port)
        held.check(HALF, await connection.ask(HALF.request))
