"""One process at a time, by a lock on a file; one thread at a time, also across a fork."""

import errno
import os
from contextlib import suppress
from threading import RLock
from types import ModuleType
from typing import Any
from weakref import WeakSet

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


# A fork copies one thread. What another one was changing at that moment would stay half changed in
# the child, and locked for ever: so a fork waits until nobody has any of these locks.
_across_forks: "WeakSet[Any]" = WeakSet()
_forking = RLock()
_taken: list[Any] = []


def lock_across_forks() -> Any:
    """Return a lock that no thread but the forking one holds when the process is forked."""
    lock = RLock()
    _across_forks.add(lock)
    return lock


def _before_fork() -> None:
    _forking.acquire()
    for lock in sorted(_across_forks, key=id):
        lock.acquire()
        _taken.append(lock)


def _after_fork() -> None:
    while _taken:
        _taken.pop().release()
    _forking.release()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
