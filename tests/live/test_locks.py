"""A lock is had by one, where there are locks."""

import errno
import os

import pytest

from tempocal.live import locks
from tempocal.live.locks import try_to_lock

if locks.fcntl is None:
    pytest.skip("there are no such locks here", allow_module_level=True)


@pytest.fixture
def files(tmp_path):
    """Open one file twice, as two processes would."""
    opened = [os.open(tmp_path / "lock", os.O_RDONLY | os.O_CREAT) for _ in range(2)]
    yield opened
    for file in opened:
        os.close(file)


def test_one_has_it(files):
    assert try_to_lock(files[0])
    assert not try_to_lock(files[1])


@pytest.mark.parametrize(("number", "goes_on"), [(errno.ENOSYS, True), (errno.EIO, False)])
def test_a_file_system_without_locks_is_no_failure(files, monkeypatch, number, goes_on):
    def fail(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locks.fcntl, "flock", fail)
    if goes_on:
        assert try_to_lock(files[0])
    else:
        with pytest.raises(OSError, match=os.strerror(number)):
            try_to_lock(files[0])
