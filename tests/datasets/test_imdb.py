"""Large Movie Review from each of its layouts."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tempocal.datasets import Texts, imdb, imdb_archive, load_imdb
from tempocal.errors import DatasetError

NAMES = ["split", "label", "review_id", "rating", "text"]
# In the order that is asked for: by part, label and number, of which 10 comes after 9.
REVIEWS = [
    ("train", 0, 9, 2, "Dull."),
    ("train", 0, 10, 1, "Awful,\nand not even short.\r\n"),
    ("train", 1, 0, 8, "Moving."),
    ("test", 0, 3, 4, " A film.<br />Why? "),
    ("test", 1, 3, 10, "Superb: café, naïve, 映画."),
    ("test", 1, 200, 7, "Funny \x85 at times"),
]
IDS = [9, 10, 100_000, 200_003, 300_003, 300_200]
SHUFFLED = [REVIEWS[at] for at in (4, 1, 5, 0, 3, 2)]


def write_parquet(folder: Path, reviews=SHUFFLED, **columns) -> None:
    values = dict(zip(NAMES, map(list, zip(*reviews, strict=True)), strict=True)) | columns
    table = pa.table({name: column for name, column in values.items() if column is not None})
    parquet.write_table(table, folder / "imdb.parquet")


def member(part: str, label: int, number: int, stars: int) -> str:
    return f"aclImdb/{part}/{('neg', 'pos')[label]}/{number}_{stars}.txt"


def write_folder(folder: Path, reviews=SHUFFLED) -> None:
    for *name, text in reviews:
        path = folder / member(*name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (folder / "aclImdb/train/unsup").mkdir(parents=True)
    (folder / "aclImdb/train/unsup/0_0.txt").write_text("Nobody knows.")
    (folder / "aclImdb/README").write_text("About.")
    (folder / "aclImdb/test/pos/.DS_Store").touch()


def archive_of(reviews=SHUFFLED) -> bytes:
    contents = {member(*name): text.encode() for *name, text in reviews}
    contents |= {"aclImdb/README": b"About.", "aclImdb/train/unsup/0_0.txt": b"Nobody knows."}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        folder = tarfile.TarInfo("aclImdb/train/pos")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)  # two at different times are the same


def write_archive(folder: Path, monkeypatch, content: bytes | None = None) -> None:
    content = archive_of() if content is None else content
    (folder / "aclImdb_v1.tar.gz").write_bytes(content)
    monkeypatch.setattr(imdb_archive, "MD5", hashlib.md5(content).hexdigest())


def require_the_reviews(loaded: Texts) -> None:
    assert loaded.text == [text for *_, text in REVIEWS]
    assert loaded.label.tolist() == [label for _, label, *_ in REVIEWS]
    assert loaded.part.tolist() == [part for part, *_ in REVIEWS]
    assert loaded.sequence.tolist() == IDS
    assert loaded.label.dtype == loaded.sequence.dtype == np.int64
    assert not loaded.complete


def test_parquet_is_read_in_order(tmp_path):
    write_parquet(tmp_path)
    loaded = load_imdb(tmp_path)
    require_the_reviews(loaded)
    content = (tmp_path / "imdb.parquet").read_bytes()
    assert loaded.source.name == "imdb.parquet"
    assert loaded.source.sha256 == hashlib.sha256(content).hexdigest()


def test_the_folder_is_read_in_the_same_order(tmp_path):
    write_folder(tmp_path)
    loaded = load_imdb(tmp_path)
    require_the_reviews(loaded)
    assert loaded.source.name == "aclImdb"


def test_the_archive_is_read_in_the_same_order(tmp_path, monkeypatch):
    write_archive(tmp_path, monkeypatch)
    loaded = load_imdb(tmp_path)
    require_the_reviews(loaded)
    assert loaded.source.name == "aclImdb_v1.tar.gz"
    assert loaded.source.sha256 == hashlib.sha256(archive_of()).hexdigest()
    assert [path.name for path in tmp_path.iterdir()] == ["aclImdb_v1.tar.gz"]


def test_parquet_comes_before_the_folder_and_that_before_the_archive(tmp_path, monkeypatch):
    write_archive(tmp_path, monkeypatch)
    write_folder(tmp_path)
    assert load_imdb(tmp_path, download=True).source.name == "aclImdb"
    write_parquet(tmp_path)
    assert load_imdb(tmp_path, download=True).source.name == "imdb.parquet"


def test_the_checksum_of_a_folder_is_that_of_names_and_contents(tmp_path):
    sums = []
    last = (*REVIEWS[5][:4], "Funny!")
    renamed = ("test", 1, 201, 7, REVIEWS[5][4])
    for at, reviews in enumerate(
        (REVIEWS, SHUFFLED, [*REVIEWS[:5], last], [*REVIEWS[:5], renamed])
    ):
        (tmp_path / str(at)).mkdir()
        write_folder(tmp_path / str(at), reviews)
        sums.append(load_imdb(tmp_path / str(at)).source.sha256)
    assert sums[0] == sums[1]
    assert len(set(sums)) == 3
    assert all(len(one) == 64 for one in sums)


def test_it_is_complete_with_all_reviews_of_each_kind(tmp_path, monkeypatch):
    monkeypatch.setattr(imdb, "_REVIEWS", 1)
    write_parquet(tmp_path, [REVIEWS[at] for at in (0, 2, 3, 4)])
    assert load_imdb(tmp_path).complete
    write_parquet(tmp_path, [REVIEWS[at] for at in (0, 1, 2, 4)])
    assert not load_imdb(tmp_path).complete


def test_labels_may_be_true_and_false_and_text_a_category(tmp_path):
    write_parquet(
        tmp_path,
        label=[label == 1 for _, label, *_ in SHUFFLED],
        split=pa.array([part for part, *_ in SHUFFLED]).dictionary_encode(),
    )
    require_the_reviews(load_imdb(tmp_path))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"text": None}, "imdb.parquet has no column 'text': its columns are split, label"),
        ({"text": ["a", None, "c", "d", "e", "f"]}, "row 2: text must be text, but it is missing"),
        ({"text": ["a", "b", "", "d", "e", "f"]}, "row 3: text must be text, but it is empty"),
        ({"text": [1, 2, 3, 4, 5, 6]}, "row 1: text must be text, but it is 1"),
        ({"label": [0, 1, 2, 0, 1, 0]}, "row 3: label must be a whole number from 0 to 1, .* 2"),
        ({"label": [0, 1, 0, None, 1, 0]}, "row 4: label must be .* but it is missing"),
        ({"label": [0, 1, 0.5, 0, 1, 0]}, "row 3: label must be .* but it is 0.5"),
        ({"label": ["pos"] * 6}, "row 1: label must be .* but it is 'pos'"),
        ({"split": ["train"] * 5 + ["unsup"]}, "row 6: split must be 'train' or 'test', but .*uns"),
        ({"split": ["train"] * 5 + [None]}, "row 6: split must be .* but it is missing"),
        ({"review_id": [1, 2, 3, 4, 5, 100_000]}, "row 6: review_id must be .* from 0 to 99999"),
        ({"review_id": [1, 2, -3, 4, 5, 6]}, "row 3: review_id must be .* but it is -3"),
        (
            {"review_id": [7] * 6, "label": [1] * 6, "split": ["test"] * 6},
            "the review with the id 300007 comes 6 times",
        ),
        ({name: [] for name in NAMES}, "has no rows"),
    ],
)
def test_wrong_columns_are_refused(columns, said, tmp_path):
    write_parquet(tmp_path, **columns)
    with pytest.raises(DatasetError, match=said):
        load_imdb(tmp_path)


def test_a_column_that_comes_twice_is_refused(tmp_path):
    table = pa.table(
        [["train"], [0], [1], ["a"], ["b"]],
        names=["split", "label", "review_id", "text", "text"],
    )
    parquet.write_table(table, tmp_path / "imdb.parquet")
    with pytest.raises(DatasetError, match="has more than one column 'text'"):
        load_imdb(tmp_path)


wrong_reviews = pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("train/pos/0_9.txt", b"", "train/pos/0_9.txt is empty"),
        ("train/pos/0_9.txt", b"caf\xe9", "train/pos/0_9.txt is not UTF-8 text"),
        ("train/pos/0.txt", b"Good.", "train/pos/0.txt must be named by a number and stars"),
        ("train/neg/9_1.txt", b"Bad.", "the review with the id 9 comes 2 times"),
        ("test/neg/123456_1.txt", b"Bad.", "review_id must be .* from 0 to 99999, .* 123456"),
    ],
)


@wrong_reviews
def test_wrong_reviews_of_a_folder_are_refused(name, content, said, tmp_path):
    write_folder(tmp_path)
    (tmp_path / "aclImdb" / name).write_bytes(content)
    with pytest.raises(DatasetError, match=f"^aclImdb.*{said}"):
        load_imdb(tmp_path)


@wrong_reviews
def test_wrong_reviews_of_an_archive_are_refused(name, content, said, tmp_path, monkeypatch):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        write_folder(tmp_path)
        (tmp_path / "aclImdb" / name).write_bytes(content)
        archive.add(tmp_path / "aclImdb", "aclImdb")
    (tmp_path / "aclImdb").rename(tmp_path / "elsewhere")
    write_archive(tmp_path, monkeypatch, packed.getvalue())
    with pytest.raises(DatasetError, match=rf"^aclImdb_v1.tar.gz.*{said}"):
        load_imdb(tmp_path)


def test_a_folder_without_one_of_its_folders_is_refused(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "aclImdb/test/neg").rename(tmp_path / "aclImdb/test/negative")
    with pytest.raises(DatasetError, match="aclImdb has no folder test/neg"):
        load_imdb(tmp_path)
    (tmp_path / "aclImdb/test/neg").mkdir()
    with pytest.raises(DatasetError, match="aclImdb has no reviews in test/neg"):
        load_imdb(tmp_path)


def test_a_folder_among_the_reviews_is_refused(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "aclImdb/train/pos/7_7.txt").mkdir()
    with pytest.raises(DatasetError, match=r"7_7.txt is not a file, and must be a review"):
        load_imdb(tmp_path)


def test_an_archive_without_reviews_is_refused(tmp_path, monkeypatch):
    write_archive(tmp_path, monkeypatch, archive_of([]))
    with pytest.raises(DatasetError, match=r"aclImdb_v1.tar.gz has no reviews in train/neg"):
        load_imdb(tmp_path)


def test_an_archive_with_another_checksum_is_not_read(tmp_path):
    (tmp_path / "aclImdb_v1.tar.gz").write_bytes(archive_of())
    with pytest.raises(DatasetError, match="delete it and fetch it again") as caught:
        load_imdb(tmp_path)
    assert hashlib.md5(archive_of()).hexdigest() in str(caught.value)
    assert "7c2ac02c03563afcf9b574c7e56c153a" in str(caught.value)


@pytest.mark.parametrize("content", [archive_of()[:200], b"no archive", b""])
def test_an_archive_that_is_none_is_refused(content, tmp_path, monkeypatch):
    """As if the published checksum were that of a broken file."""
    write_archive(tmp_path, monkeypatch, content)
    with pytest.raises(DatasetError, match="cannot be read as a tar archive"):
        load_imdb(tmp_path)
