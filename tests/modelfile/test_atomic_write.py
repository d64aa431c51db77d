"""A save happens whole or not at all, and leaves nothing else behind."""

import errno
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tempocal.modelfile import read_document, write_document

OLD, NEW = {"model": "old"}, {"model": "new", "numbers": list(range(1000))}
posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
NOBODY = 65534


@pytest.fixture
def old(path):
    write_document(path, OLD)
    return path


@pytest.fixture
def owned():
    """A saved model of a user whom permissions bind, who is the one running: never root."""
    folder = Path(tempfile.mkdtemp())
    was_root = os.geteuid() == 0
    if was_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        write_document(folder / "model.json", OLD)
        yield folder / "model.json"
    finally:
        if was_root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


def only_file(path):
    return [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_save_leaves_one_file(path):
    for content in (OLD, NEW, OLD):
        write_document(path, content)
        assert read_document(path) == content
        assert only_file(path)


def test_whoever_has_the_old_file_open_goes_on_reading_the_old_model(old):
    with old.open("rb") as file:
        before = file.read(10)
        write_document(old, NEW)
        assert b'"old"' in before + file.read()


@posix
def test_all_data_is_on_the_disk_before_the_name_points_at_it(path, monkeypatch):
    calls, fsync, replace = [], os.fsync, os.replace

    def recorded_fsync(descriptor):
        status = os.fstat(descriptor)
        calls.append("folder" if stat.S_ISDIR(status.st_mode) else status.st_size)
        fsync(descriptor)

    def recorded_replace(source, target):
        calls.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    write_document(path, OLD)
    assert calls == [path.stat().st_size, "rename", "folder"]


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
def test_a_failing_save_leaves_the_old_model_and_names_the_path(old, monkeypatch, call, code):
    def fail(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(OSError, match="cannot save the model") as caught:
            write_document(old, NEW)
    assert (caught.value.errno, caught.value.filename) == (code, str(old))
    assert read_document(old) == OLD
    assert only_file(old)


def test_an_interrupted_save_leaves_the_old_model(old, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_document(old, NEW)
    assert read_document(old) == OLD
    assert only_file(old)


@posix
def test_a_disk_that_is_full_leaves_the_old_model(old):
    # The system itself stops the write here: no file may grow beyond 1000 bytes.
    code = (
        "import sys, resource; from tempocal.modelfile import write_document;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000));"
        "write_document(sys.argv[1], {'numbers': list(range(1000))})"
    )
    run = [sys.executable, "-c", code, old]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert re.search(
        r"OSError: .*cannot save the model: File too large: .*model\.json", done.stderr
    )
    assert read_document(old) == OLD
    assert only_file(old)


KILLED = """
import os, signal, sys
from tempocal.modelfile import write_document

path, name, count, when = sys.argv[1:]
real, calls = getattr(os, name), []

def call(*args, **kwargs):
    calls.append(name)
    if len(calls) == int(count) and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*args, **kwargs)
    if len(calls) == int(count):
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(os, name, call)
write_document(path, {"model": "new", "numbers": list(range(1000))})
"""


@posix
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("name", "count"), [("open", 2), ("fsync", 1), ("replace", 1), ("fsync", 2)]
)
def test_a_save_killed_at_any_step_leaves_the_old_model_or_the_new(old, name, count, when):
    done = subprocess.run([sys.executable, "-c", KILLED, old, name, str(count), when], check=False)
    assert done.returncode == -signal.SIGKILL
    is_new = (name, count) == ("fsync", 2) or (name, when) == ("replace", "after")
    assert read_document(old) == (NEW if is_new else OLD)
    write_document(old, OLD)
    assert read_document(old) == OLD


@posix
def test_a_folder_that_cannot_be_synced_does_not_undo_the_save(old, monkeypatch):
    real = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_document(old, NEW)
    assert read_document(old) == NEW


@pytest.mark.parametrize("name", ["missing/model.json", "missing/", "", "."])
def test_a_path_that_cannot_be_a_file_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((FileNotFoundError, IsADirectoryError)) as caught:
        write_document(name, NEW)
    assert caught.value.filename == name
    assert not list(tmp_path.iterdir())


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        write_document(tmp_path, NEW)
    assert not list(tmp_path.iterdir())


@posix
def test_a_file_in_place_of_the_folder_is_refused(old):
    with pytest.raises(NotADirectoryError, match=r"model\.json/inner"):
        write_document(old / "inner", NEW)


@posix
def test_a_folder_without_permission_is_refused(owned):
    owned.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"model\.json"):
            write_document(owned, NEW)
        assert read_document(owned) == OLD
        assert only_file(owned)
    finally:
        owned.parent.chmod(0o700)


@posix
def test_a_folder_one_may_write_to_but_not_list_is_fine(owned):
    owned.parent.chmod(0o300)
    try:
        write_document(owned, NEW)
        assert read_document(owned) == NEW
    finally:
        owned.parent.chmod(0o700)


@posix
def test_a_file_without_permission_to_write_is_refused(owned):
    owned.chmod(0o400)
    with pytest.raises(PermissionError, match=r"model\.json"):
        write_document(owned, NEW)
    assert read_document(owned) == OLD


@posix
def test_devices_and_pipes_are_not_replaced(path):
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"Not an ordinary file: .*model\.json"):
        write_document(path, NEW)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert only_file(path)


@posix
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_any_new_file(path, umask):
    before = os.umask(umask)
    try:
        write_document(path, NEW)
        path.with_name("other").touch()
    finally:
        os.umask(before)
    assert permissions(path) == permissions(path.with_name("other")) == 0o666 & ~umask


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_the_permissions_of_the_old_file_are_kept(old, mode):
    old.chmod(mode)
    write_document(old, NEW)
    assert permissions(old) == mode


@posix
def test_a_private_file_is_not_public_for_a_moment(old, monkeypatch):
    old.chmod(0o600)
    created, real = [], os.open

    def recorded(path, flags, mode=0o777):
        created.append((flags & os.O_EXCL, mode))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", recorded)
    write_document(old, NEW)
    assert (os.O_EXCL, 0o600) in created


@posix
@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "to nothing yet"])
def test_what_a_link_points_at_is_replaced_and_the_link_stays(tmp_path, exists):
    (tmp_path / "real").mkdir()
    real, link, chain = tmp_path / "real" / "m.json", tmp_path / "link", tmp_path / "chain"
    if exists:
        write_document(real, OLD)
    link.symlink_to(os.path.join("real", "m.json"))
    chain.symlink_to("link")
    write_document(chain, NEW)
    assert read_document(real) == read_document(chain) == NEW
    assert link.is_symlink()
    assert chain.is_symlink()
    assert not real.is_symlink()
    assert only_file(real)


@posix
def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="cannot save the model") as caught:
        write_document(tmp_path / "a", NEW)
    assert caught.value.errno == errno.ELOOP
    assert (tmp_path / "a").is_symlink()


def test_the_longest_name_can_be_saved(tmp_path):
    path = tmp_path / ("m" * 250 + ".json")
    write_document(path, NEW)
    assert read_document(path) == NEW


def test_what_a_killed_save_left_behind_is_in_nobodys_way(old):
    stale = old.with_name(".tempocal-0123456789abcdef.tmp")
    stale.write_bytes(b"half a mod")
    write_document(old, NEW)
    assert read_document(old) == NEW
    assert stale.read_bytes() == b"half a mod"


def test_a_file_that_has_the_temporary_name_is_never_touched(old, monkeypatch):
    monkeypatch.setattr(os, "urandom", bytes)
    taken = old.with_name(f".tempocal-{'0' * 16}.tmp")
    taken.write_bytes(b"somebody's")
    with pytest.raises(FileExistsError, match=r"model\.json"):
        write_document(old, NEW)
    assert taken.read_bytes() == b"somebody's"
    assert read_document(old) == OLD
