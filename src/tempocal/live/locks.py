"""One process at a time, by a lock on a file."""

import errno
from contextlib import suppress
from types import ModuleType

# Windows has no such lock, nor have some file systems of networks: there nothing keeps two
# processes from one file.
fcntl: ModuleType | None = None
with suppress(ImportError):
    import fcntl

_NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP}


def try_to_lock(file: int) -> bool:
    """Take an open file for oneself, until it is closed; False if somebody else has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True
