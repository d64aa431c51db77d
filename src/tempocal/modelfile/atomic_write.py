"""Replacing a file in one step: at any moment it is wholly the old one or wholly the new one."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

_CANNOT_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS}


def replace_file(path: str, data: bytes) -> None:
    """Put a file with `data` at `path`, on the disk when this returns."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str, what: str = "the model") -> Iterator[BinaryIO]:
    """Give a file to write to that is at `path` once all is written and on the disk.

    The data goes to a new file in the same folder, which then takes the place of the old one. Any
    failure to do so removes the new file, leaves the old one as it was and raises an OSError with
    `path`; so does a disk that fails after that, when the new one is in place.

    A process killed in between leaves ``.tempocal-*.tmp`` behind: such a file is never read nor in
    the way of another save, and may be deleted when nothing is being saved. It is not deleted
    here, where it could be another process's save under way.
    """
    try:
        # A link stays a link: what it points at is replaced, as writing to it would.
        target = os.path.realpath(path)
        mode = _mode_to_keep(path, target)
        folder = os.path.dirname(target)
        temporary = os.path.join(folder, f".tempocal-{os.urandom(8).hex()}.tmp")
        with _renamed_when_written(temporary, target, mode) as file:
            yield file
        _sync_folder(folder)
    except OSError as error:
        reason = f"cannot save {what}: {error.strerror or error}"
        raise OSError(error.errno, reason, path) from error


def _mode_to_keep(path: str, target: str) -> int | None:
    """Return the permissions of the file that is there, or refuse what must not be replaced."""
    if not os.path.basename(path):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):  # renaming would turn /dev/null into a file
        raise OSError(errno.EINVAL, "Not an ordinary file")
    # Renaming needs no permission to write the old file, but whoever took it away meant something.
    os.close(os.open(target, os.O_WRONLY))
    return mode & 0o777


@contextmanager
def _renamed_when_written(temporary: str, target: str, mode: int | None) -> Iterator[BinaryIO]:
    # Never wider than the old file's permissions, and the user's umask for a file that is new.
    descriptor = os.open(
        temporary,
        os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0),
        0o666 if mode is None else mode,
    )
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _sync_folder(folder: str) -> None:
    """Make the renaming last through a power failure, where the system has a way to."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows, or a folder one may write to but not list
        return
    try:
        os.fsync(descriptor)
    except OSError as error:  # some network file systems
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)
