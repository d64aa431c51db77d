"""The archive is fetched once, and never kept if it is not the official one."""

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tempocal.datasets import imdb_archive, load_imdb
from tempocal.errors import DatasetError, DatasetNotFoundError

ARCHIVE = "aclImdb_v1.tar.gz"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        self.server.requests.append(self.path)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve a folder as the publisher does; requests are counted."""
    (tmp_path / "published").mkdir()
    handler = partial(Quiet, directory=str(tmp_path / "published"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        running.requests = []
        running.published = tmp_path / "published" / ARCHIVE
        address = f"http://127.0.0.1:{running.server_port}/{ARCHIVE}"
        monkeypatch.setattr(imdb_archive, "ADDRESS", address)
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def archive(small_archive, server, monkeypatch):
    server.published.write_bytes(small_archive)
    monkeypatch.setattr(imdb_archive, "MD5", hashlib.md5(small_archive).hexdigest())
    return small_archive


def test_the_archive_is_fetched_once(archive, server, tmp_path):
    folder = tmp_path / "not" / "yet"
    first = load_imdb(folder, download=True)
    again = load_imdb(folder)
    assert [path.name for path in folder.iterdir()] == [ARCHIVE]
    assert (folder / ARCHIVE).read_bytes() == archive
    assert first.text == again.text == ["Bad.", "Good.", "Worse.", "Better."]
    assert server.requests == [f"/{ARCHIVE}"]


def test_nothing_is_fetched_unasked(archive, server, tmp_path):
    with pytest.raises(DatasetNotFoundError, match="download=True fetches"):
        load_imdb(tmp_path)
    assert server.requests == []


def test_nothing_is_fetched_over_a_file_that_is_there(archive, server, tmp_path):
    (tmp_path / ARCHIVE).write_bytes(b"mine")
    with pytest.raises(DatasetError, match="has the md5 checksum"):
        load_imdb(tmp_path, download=True)
    assert (tmp_path / ARCHIVE).read_bytes() == b"mine"
    assert server.requests == []


def test_a_corrupted_download_is_refused_and_not_left_behind(archive, server, tmp_path):
    broken = archive[:-10] + bytes(10)
    server.published.write_bytes(broken)
    folder = tmp_path / "data"
    with pytest.raises(DatasetError, match="could not be fetched") as caught:
        load_imdb(folder, download=True)
    assert hashlib.md5(broken).hexdigest() in str(caught.value)
    assert hashlib.md5(archive).hexdigest() in str(caught.value)
    assert list(folder.iterdir()) == []


def test_an_address_that_is_gone_is_told(archive, server, tmp_path):
    server.published.unlink()
    folder = tmp_path / "data"
    with pytest.raises(DatasetError, match=rf"{ARCHIVE} could not be fetched .*404"):
        load_imdb(folder, download=True)
    assert list(folder.iterdir()) == []
