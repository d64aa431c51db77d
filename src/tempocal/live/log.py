"""An append-only file of records that a killed process leaves readable.

A record is a line: the checksum of a JSON list, a mark, and the list. Records marked ``*`` were on
the disk, with all before them, when whoever wrote them was told so. A process that is killed while
it writes leaves at most one line that is not whole; when the power fails several may be damaged,
but none before the last ``*``. So what comes after a line that is damaged is cut off when the file
is opened again, unless there is a ``*`` among it: that is an error.
"""

import errno
import json
import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from tempocal.errors import InputError, LogError

# Windows has no such lock: there nothing keeps two processes from one file.
fcntl: ModuleType | None = None
with suppress(ImportError):
    import fcntl

Record = list[Any]


class Log:
    """The records of a file, and a place to add more; one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._lock()
            self._size = os.fstat(self._file).st_size
        except BaseException:
            os.close(self._file)
            raise

    def read(self) -> list[Record]:
        """Return all records; damaged ones at the end are cut off."""
        data = self.path.read_bytes()
        lines = [_Line.of(line) for line in data.split(b"\n")[:-1]]
        good = next((k for k, line in enumerate(lines) if line is None), len(lines))
        if any(line is not None and line.synced for line in lines[good:]):
            raise LogError(f"{self.path} is damaged in line {good + 1}")
        kept = [line for line in lines[:good] if line is not None]
        size = sum(line.size for line in kept)
        if size < len(data):
            os.truncate(self._file, size)
        self._size = size
        return [line.record for line in kept]

    @property
    def is_open(self) -> bool:
        """Whether there is a file to add to."""
        return self._file >= 0

    def append(self, record: Record, *, sync: bool = False) -> None:
        """Add a record, which a killed process no longer loses; ``sync`` brings it to the disk."""
        if not self.is_open:
            raise InputError(f"the tracker of {self.path.parent} is closed")
        text = json.dumps(record, separators=(",", ":")).encode()
        line = b"%08x%s%s\n" % (zlib.crc32(text), b"*" if sync else b" ", text)
        try:
            self._write(line)
            if sync:
                os.fsync(self._file)
        except BaseException:
            # Nobody was told that it was written, so that it must not be there.
            self._cut()
            raise
        self._size += len(line)

    def _cut(self) -> None:
        try:
            os.truncate(self._file, self._size)
        except OSError:
            self.close()

    def _write(self, line: bytes) -> None:
        if os.write(self._file, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def close(self) -> None:
        """Let another process have the file."""
        if self.is_open:
            os.close(self._file)
        self._file = -1

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(f"{self.path.parent} is in use by another tracker") from error


@dataclass(frozen=True)
class _Line:
    """A line that is whole."""

    record: Record
    synced: bool
    size: int

    @classmethod
    def of(cls, line: bytes) -> Self | None:
        """Return None for a line that is not."""
        checksum, mark, text = line[:8], line[8:9], line[9:]
        if mark not in (b" ", b"*") or checksum != b"%08x" % zlib.crc32(text):
            return None
        return cls(json.loads(text), mark == b"*", len(line) + 1)
