"""An append-only file of records that a killed process leaves readable.

A record is a line: the checksum of a JSON list, and the list. A process that is killed while it
writes leaves at most one line that is not whole, at the end, which nobody was told was written; it
is cut off when the file is opened again. A line that is damaged before the end is an error.
"""

import errno
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

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
        """Return all records; a last one that is not whole is cut off."""
        data = self.path.read_bytes()
        *lines, rest = data.split(b"\n")
        records = [_record(line) for line in lines]
        whole = len(records)
        if whole and records[-1] is None:
            # Pages of a file may reach the disk out of order when the power fails.
            whole -= 1
        for number, record in enumerate(records[:whole]):
            if record is None:
                raise LogError(f"{self.path} is damaged in line {number + 1}")
        kept = sum(len(line) + 1 for line in lines[:whole])
        if rest or kept < len(data):
            os.truncate(self._file, kept)
            self._size = kept
        return [record for record in records[:whole] if record is not None]

    @property
    def is_open(self) -> bool:
        """Whether there is a file to add to."""
        return self._file >= 0

    def append(self, record: Record, *, sync: bool = False) -> None:
        """Add a record, which a killed process no longer loses; ``sync`` brings it to the disk."""
        if not self.is_open:
            raise InputError(f"the tracker of {self.path.parent} is closed")
        text = json.dumps(record, separators=(",", ":")).encode()
        line = b"%08x %s\n" % (zlib.crc32(text), text)
        try:
            self._write(line)
            if sync:
                os.fsync(self._file)
        except OSError:
            # What is half written must not run into the next record.
            with suppress(OSError):
                os.truncate(self._file, self._size)
            raise
        self._size += len(line)

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


def _record(line: bytes) -> Record | None:
    """Return the record of a line, None if it is not whole."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    record: Record = json.loads(text)
    return record
