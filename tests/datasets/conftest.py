"""No loader sees the data of whoever runs the tests; and an archive to fetch."""

import io
import tarfile

import pytest


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    monkeypatch.delenv("TEMPOCAL_DATA", raising=False)


@pytest.fixture
def small_archive():
    """Large Movie Review with one review of each kind."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in [
            ("train/neg/0_1.txt", b"Bad."),
            ("train/pos/0_9.txt", b"Good."),
            ("test/neg/0_2.txt", b"Worse."),
            ("test/pos/0_10.txt", b"Better."),
        ]:
            entry = tarfile.TarInfo(f"aclImdb/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()
