"""Locks: on a file against other processes, and between threads, safe across a fork."""

import errno
import os
from contextlib import suppress
from threading import RLock
from types import ModuleType
from typing import Any
from weakref import WeakSet

# Windows and some network file systems have no such lock: there two processes can open one file.
fcntl: ModuleType | None = None
with suppress(ImportError):
    import fcntl

_NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP}


def try_to_lock(file: int) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock."""
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


# A fork copies only the calling thread. What another thread was changing at that moment would stay
# half changed in the child, and locked forever: so a fork first acquires all of these locks.
_across_forks: "WeakSet[Any]" = WeakSet()
_forking = RLock()
_acquired: list[Any] = []


def lock_across_forks() -> Any:
    """Return a lock that no thread but the forking one holds when the process is forked."""
    lock = RLock()
    _across_forks.add(lock)
    return lock


def _before_fork() -> None:
    _forking.acquire()
    for lock in sorted(_across_forks, key=id):
        lock.acquire()
        _acquired.append(lock)


def _after_fork() -> None:
    while _acquired:
        _acquired.pop().release()
    _forking.release()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
