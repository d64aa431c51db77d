"""The service as a process of its own."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 300.0
"""Seconds after which a service that has not stopped is taken to hang."""


class Running:
    """A service that was started with some words.

    Attributes
    ----------
    url, port
        Where it listens.
    pid : int
        Its process.
    """

    def __init__(self, *words: Any, **environment: str) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `close`
        command = [sys.executable, "-m", "tempocal", "serve", *map(str, words), "--port", "0"]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=os.environ | environment,
        )
        assert self._process.stdout is not None
        found = re.match(r"Listening on (\S+)\n", self._process.stdout.readline())
        if found is None:
            self._process.wait(PATIENCE)
            said = self.log()
            self.close()
            raise RuntimeError(f"the service did not start: {said}")
        self.url, self.pid = found[1], self._process.pid
        self.port = urlsplit(self.url).port or 0

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        return self._process.wait(PATIENCE)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop, and return its exit code."""
        self.send(number)
        return self.wait()

    def log(self) -> str:
        """Return what it has said on standard error."""
        self._log.seek(0)
        return self._log.read()

    def connections(self) -> int:
        """Return how many connections it had accepted, once it has stopped."""
        found = re.search(r"stopped: \d+ requests on (\d+) connections", self.log())
        assert found is not None, self.log()
        return int(found[1])

    def memory(self) -> float:
        """Return its resident memory in megabytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def open_files(self) -> int:
        """Return how many files and connections it has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.communicate()
        self._log.close()


@contextmanager
def running(*words: Any, **environment: str) -> Iterator[Running]:
    """Start a service, and end it at the end."""
    service = Running(*words, **environment)
    try:
        yield service
    finally:
        service.close()
