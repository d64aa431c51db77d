"""An append-only file of records that stays readable after a crash.

A record is a line: the checksum of a JSON list, a mark, and the list. Records marked ``*`` were
synced: they and all before them were on the disk when `append` returned. A process that is killed
while it writes leaves at most one incomplete line; after a power failure several lines may be
incomplete (blocks that were never written read as zeros), but none before the last ``*``. So when
the file is opened again an incomplete line and all after it are truncated with a `LogCutWarning`,
unless a ``*`` follows. That is an error, and so is a complete line with a wrong checksum: no
interrupted write leaves one, so the file was altered later.

A file belongs to the process that opened it. A fork closes its copy, which would keep the lock.
"""

import errno
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

from tempocal.errors import InputError, LogCutWarning, LogError, warn_user
from tempocal.live.locks import try_to_lock

Record = list[Any]

_HEADER_BYTES = 9  # before the list: eight bytes of checksum, and the mark
# The first record, of the first model's checksum, is shorter. If a damaged first line is longer
# than this, the file is not a log and is left as it is.
_MAX_FIRST_LINE = 64


class RecordLog:
    """A file of records, open for appending in one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._process = os.getpid()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._lock()
            self._size = os.fstat(self._file).st_size
        except BaseException:
            os.close(self._file)
            raise
        _OPEN_LOGS.add(self)

    def read(self, kind: str = "") -> Iterator[Record]:
        """Yield all records in order, or those of one ``kind``, their first element.

        Incomplete ones at the end are truncated, with a warning, after all others have been read.
        """
        start = f'["{kind}"'.encode() if kind else b""
        number = size = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not _is_valid(line):
                    self._require_interrupted(line, file, number, size)
                    self._truncate_tail(number, size)
                    break
                size += len(line)
                if line.startswith(start, _HEADER_BYTES):
                    yield self._record(line, number)
        self._size = size

    def _record(self, line: bytes, number: int) -> Record:
        try:
            record: Record = json.loads(line[_HEADER_BYTES:])
        except (ValueError, RecursionError) as error:
            raise LogError(f"{self.path} is not the log of a tracker: line {number}") from error
        return record

    def _require_interrupted(
        self, line: bytes, rest: Iterable[bytes], number: int, size: int
    ) -> None:
        """Raise `LogError` for damage that an interrupted write cannot have caused."""
        if number == 1 and len(line) > _MAX_FIRST_LINE:
            raise LogError(f"{self.path} is not the log of a tracker: {_excerpt(line)}")
        remedy = (
            f"Put it back from a copy of the folder; or, to go on without line {number:,} and all "
            f"after it, cut the file to its first {size:,} bytes"
        )
        if line.endswith(b"\n") and b"\0" not in line:
            raise LogError(
                f"{self.path} is damaged in line {number}: it is complete, but its checksum is "
                f"wrong, so it was altered after it was written ({_excerpt(line)}). {remedy}"
            )
        if any(_is_valid(other) and _is_synced(other) for other in rest):
            raise LogError(
                f"{self.path} is damaged in line {number}: records after it were on the disk "
                f"({_excerpt(line)}). {remedy}"
            )

    def _truncate_tail(self, number: int, size: int) -> None:
        lost = os.fstat(self._file).st_size - size
        with self.path.open("rb") as file:
            file.seek(size)
            what = _excerpt(file.read(200))
        os.truncate(self._file, size)
        self._size = size
        warn_user(
            f"{self.path} ended within a record, as after a kill or a power failure: line "
            f"{number:,} and what followed, {lost:,} bytes, were cut off ({what}). If it was a "
            "prediction or a label, pass it again",
            LogCutWarning,
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no record."""
        return self._size == 0

    @property
    def is_open(self) -> bool:
        """Whether the file is open for appending."""
        return self._file >= 0

    def require_open(self) -> None:
        """Refuse if the file is closed, or was opened by another process."""
        self.require_own_process()
        if not self.is_open:
            raise InputError(f"the tracker of {self.path.parent} is closed")

    def require_own_process(self) -> None:
        """Refuse in a fork: the model of the parent would never learn from its records."""
        if self._process != os.getpid():
            raise InputError(
                f"the tracker of {self.path.parent} was opened by process {self._process}, and "
                f"this is process {os.getpid()}, a fork of it: what it logs the other would never "
                "learn. Use the tracker where it was opened, and send it the predictions"
            )

    def append(self, record: Record, *, sync: bool = False) -> None:
        """Append a record, which survives a kill; ``sync`` flushes it to the disk."""
        self.require_open()
        text = json.dumps(record, separators=(",", ":")).encode()
        line = b"%08x%s%s\n" % (zlib.crc32(text), b"*" if sync else b" ", text)
        try:
            self._write(line)
            if sync:
                os.fsync(self._file)
            self._size += len(line)
        except OSError:
            # The caller sees an error, so the record must not be in the file.
            self._undo_write()
            raise
        except BaseException:
            # Interrupted: the record may be there or not, which the next reading decides.
            self.close()
            raise

    def _undo_write(self) -> None:
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
        """Close the file, which releases the lock."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


# Logs opened by this process.
_OPEN_LOGS: "WeakSet[RecordLog]" = WeakSet()


def _close_in_fork() -> None:
    for log in list(_OPEN_LOGS):
        log.close()
    _OPEN_LOGS.clear()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_close_in_fork)


def _excerpt(data: bytes) -> str:
    """Describe a damaged part of the file."""
    text = data.strip(b"\0\n")[:80].decode("ascii", "replace")
    return f"it reads {text!r}" if text else "it holds nothing but zeros"


def _is_valid(line: bytes) -> bool:
    """Return whether a line is complete and has the right checksum."""
    marked = line[8:_HEADER_BYTES] in (b" ", b"*") and line.endswith(b"\n")
    return marked and line[:8] == b"%08x" % zlib.crc32(line[_HEADER_BYTES:-1])


def _is_synced(line: bytes) -> bool:
    return line[8:_HEADER_BYTES] == b"*"
