"""Reading a file that may be anything: a device, a pipe, a file without an end."""

import os
import stat

from tempocal.errors import NotAModelFileError
from tempocal.modelfile.limits import MAX_BYTES


def read_bytes(path: str) -> bytes:
    """Return the bytes of an ordinary file of at most `MAX_BYTES`; refuse every other."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotAModelFileError("is not a tempocal model: not an ordinary file")
        # The size may be out of date, or 0 as under /proc: the read has its own limit.
        data = b"" if status.st_size > MAX_BYTES else file.read(MAX_BYTES + 1)
    if max(status.st_size, len(data)) > MAX_BYTES:
        raise NotAModelFileError(f"is not a tempocal model: larger than {MAX_BYTES} bytes")
    return data


def _open_without_waiting(path: str, flags: int) -> int:
    # A named pipe that nobody writes to would otherwise hold us in open() forever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
