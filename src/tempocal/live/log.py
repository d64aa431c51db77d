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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tempocal.errors import InputError, LogError
from tempocal.live.locks import try_to_lock

Record = list[Any]

_HEAD = 9  # bytes before the list: eight of the checksum, and the mark


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

    def read(self, kind: str = "") -> Iterator[Record]:
        """Yield all records, or those whose first word is ``kind``, one after another.

        Damaged ones at the end are cut off, once all others have been read.
        """
        start = f'["{kind}"'.encode() if kind else b""
        good = size = 0
        with self.path.open("rb") as file:
            for line in file:
                if not _is_whole(line):
                    self._require_end(file, good)
                    os.truncate(self._file, size)
                    break
                good, size = good + 1, size + len(line)
                if line.startswith(start, _HEAD):
                    yield json.loads(line[_HEAD:])
        self._size = size

    def _require_end(self, rest: Iterable[bytes], good: int) -> None:
        """Refuse a log with records that were on the disk after one that is damaged."""
        if any(_is_whole(line) and _is_synced(line) for line in rest):
            raise LogError(f"{self.path} is damaged in line {good + 1}")

    @property
    def is_empty(self) -> bool:
        """Whether there is no record."""
        return self._size == 0

    @property
    def is_open(self) -> bool:
        """Whether there is a file to add to."""
        return self._file >= 0

    def require_open(self) -> None:
        """Refuse to go on once the file is closed."""
        if not self.is_open:
            raise InputError(f"the tracker of {self.path.parent} is closed")

    def append(self, record: Record, *, sync: bool = False) -> None:
        """Add a record, which a killed process no longer loses; ``sync`` brings it to the disk."""
        self.require_open()
        text = json.dumps(record, separators=(",", ":")).encode()
        line = b"%08x%s%s\n" % (zlib.crc32(text), b"*" if sync else b" ", text)
        try:
            self._write(line)
            if sync:
                os.fsync(self._file)
            self._size += len(line)
        except OSError:
            # Nobody was told that it was written, so that it must not be there.
            self._cut()
            raise
        except BaseException:
            # Interrupted: whether it is there, whoever opens the file again will see.
            self.close()
            raise

    def _cut(self) -> None:
        try:
            os.truncate(self._file, self._size)
        except OSError:
            self.close()

    def _write(self, line: bytes) -> None:
        if os.write(self._file, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def _lock(self) -> None:
        if not try_to_lock(self._file):
            raise InputError(f"{self.path.parent} is in use by another tracker")

    def close(self) -> None:
        """Let another process have the file."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def _is_whole(line: bytes) -> bool:
    """Tell whether a line is as it was written, to its end."""
    marked = line[8:_HEAD] in (b" ", b"*") and line.endswith(b"\n")
    return marked and line[:8] == b"%08x" % zlib.crc32(line[_HEAD:-1])


def _is_synced(line: bytes) -> bool:
    return line[8:_HEAD] == b"*"
