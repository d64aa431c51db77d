"""Reading a file that may be anything: a device, a pipe, a file without an end."""

import os
import stat

from tempocal.errors import NotAModelFileError
from tempocal.modelfile.limits import MAX_BYTES


def read_bytes(path: str, limit: int = MAX_BYTES) -> bytes:
    """Return the bytes of an ordinary file of at most `limit`; refuse every other."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotAModelFileError("is not a tempocal model: not an ordinary file")
        # Not by the size it claims: that is 0 under /proc, and a file may grow meanwhile.
        data = file.read(limit + 1)
    if len(data) > limit:
        raise NotAModelFileError(f"is not a tempocal model: larger than {limit} bytes")
    return data


def _open_without_waiting(path: str, flags: int) -> int:
    # A named pipe that nobody writes to would otherwise hold us in open() forever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
