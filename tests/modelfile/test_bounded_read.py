"""Paths that lead to something other than an ordinary file of ordinary size."""

import os
import socket

import pytest

from tempocal.errors import NotAModelFileError
from tempocal.modelfile import read_document, write_document
from tempocal.modelfile.limits import MAX_BYTES

posix = pytest.mark.skipif(os.name != "posix", reason="needs pipes and devices as files")


def test_a_missing_file_is_an_ordinary_error(path):
    with pytest.raises(FileNotFoundError, match=r"model\.json"):
        read_document(path)


@posix
def test_a_folder_is_an_ordinary_error(tmp_path):
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        read_document(tmp_path)


@posix
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_devices_are_refused(device):
    with pytest.raises(NotAModelFileError, match=f"{device} .* not an ordinary file"):
        read_document(device)


@posix
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(path):
    os.mkfifo(path)
    with pytest.raises(NotAModelFileError, match="not an ordinary file"):
        read_document(path)


@posix
def test_a_socket_is_an_ordinary_error(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
        with pytest.raises(OSError, match=r"model\.json"):
            read_document(path)


def test_of_a_file_too_large_only_the_beginning_is_read(path):
    with open(path, "wb") as file:
        file.truncate(2**40)  # takes no space on the disk
    with pytest.raises(NotAModelFileError, match=f"larger than {MAX_BYTES} bytes"):
        read_document(path)


def test_a_file_of_exactly_the_limit_is_read(path):
    write_document(path, {"a": "x" * 1000})
    size = path.stat().st_size
    assert read_document(path, limit=size) == {"a": "x" * 1000}
    with pytest.raises(NotAModelFileError, match=f"larger than {size - 1} bytes"):
        read_document(path, limit=size - 1)
