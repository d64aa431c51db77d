"""Amazon Fine Food Review from each of its layouts."""

import csv
import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tempocal.datasets import Texts, amazon, columns, load_amazon_fine_food
from tempocal.errors import DatasetError

NAMES = [
    "Id",
    "ProductId",
    "UserId",
    "ProfileName",
    "HelpfulnessNumerator",
    "HelpfulnessDenominator",
    "Score",
    "Time",
    "Summary",
    "Text",
]
TEXTS = ['Said "good",\nand was.', "NA", "Café <br />", "  so, so ", "Fine.", "12"]
STARS = [5, 1, 3, 2, 4, 5]


def rows(ids=range(1, 7), stars=STARS, texts=TEXTS) -> list[list]:
    return [
        [one, "B00", "A1", None, 0, 0, score, 1303862400, "", text]
        for one, score, text in zip(ids, stars, texts, strict=True)
    ]


def write_csv(folder: Path, table: list[list], names=NAMES) -> None:
    with (folder / "Reviews.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *table])


def write_sqlite(folder: Path, table: list[list], names=NAMES) -> None:
    path = folder / "database.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        # As text may be found where numbers belong, columns have no type.
        database.execute(f"CREATE TABLE Reviews ({', '.join(names)})")
        marks = ", ".join("?" * len(names))
        database.executemany(f"INSERT INTO Reviews VALUES ({marks})", table)
        database.commit()


def write_parquet(folder: Path, table: list[list], names=NAMES) -> None:
    values = [[row[at] for row in table] for at in range(len(names))]
    parquet.write_table(pa.table(values, names=names), folder / "amazon_fine_food.parquet")


WRITERS = {
    "Reviews.csv": write_csv,
    "database.sqlite": write_sqlite,
    "amazon_fine_food.parquet": write_parquet,
}
each_layout = pytest.mark.parametrize("name", WRITERS)


def require_the_reviews(loaded: Texts) -> None:
    assert loaded.text == TEXTS
    assert loaded.label.tolist() == [1, 0, 0, 0, 1, 1]
    assert loaded.part.tolist() == ["whole"] * 6
    assert loaded.sequence.tolist() == [1, 2, 3, 4, 5, 6]
    assert loaded.label.dtype == loaded.sequence.dtype == np.int64
    assert not loaded.complete


@each_layout
def test_all_layouts_say_the_same(name, tmp_path):
    WRITERS[name](tmp_path, [rows()[at] for at in (3, 0, 5, 4, 1, 2)])
    loaded = load_amazon_fine_food(tmp_path)
    require_the_reviews(loaded)
    assert loaded.source.name == name
    content = (tmp_path / name).read_bytes()
    assert loaded.source.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", ["amazon_fine_food.parquet", "amazon_fine_food_sample.parquet"])
def test_rows_without_an_id_are_numbered(name, tmp_path):
    parquet.write_table(pa.table({"Text": TEXTS, "Score": STARS}), tmp_path / name)
    loaded = load_amazon_fine_food(tmp_path)
    require_the_reviews(loaded)
    assert loaded.source.name == name


def test_the_official_files_come_first(tmp_path):
    for name in reversed(WRITERS):
        WRITERS[name](tmp_path, rows())
        assert load_amazon_fine_food(tmp_path).source.name == name


def test_line_breaks_in_texts_may_fall_between_blocks(tmp_path, monkeypatch):
    """A large file is read in blocks, and these must not end within a text."""
    monkeypatch.setattr(columns, "_BLOCK_BYTES", 256)
    texts = [f"one\n{'two ' * (at % 7)}\nthree, {at}" for at in range(100)]
    write_csv(tmp_path, rows(range(100), [5] * 100, texts))
    assert load_amazon_fine_food(tmp_path).text == texts


def test_it_is_complete_with_all_reviews(tmp_path, monkeypatch):
    assert amazon._REVIEWS == 568_454
    monkeypatch.setattr(amazon, "_REVIEWS", 6)
    write_csv(tmp_path, rows())
    assert load_amazon_fine_food(tmp_path).complete


@each_layout
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"stars": [5, 1, 0, 2, 4, 5]}, "row 3: Score must be a whole number from 1 to 5, .* '?0"),
        ({"stars": [5, 1, 3, 2, 4, 6]}, "row 6: Score must be a whole number from 1 to 5, .* '?6"),
        ({"stars": [5, None, 3, 2, 4, 5]}, "row 2: Score must be .* but it is missing"),
        ({"stars": [5, 4.5, 3, 2, 4, 5]}, r"row 2: Score must be .* but it is '?4\.5"),
        ({"stars": ["five", "1", "3", "2", "4", "5"]}, "row 1: Score must be .* but it is 'five'"),
        ({"texts": ["a", "b", "c", None, "e", "f"]}, "row 4: Text must be text, but it is missing"),
        ({"ids": [1, 2, 3, 2, 5, 6]}, "the Id 2 comes 2 times"),
        ({"ids": [1, 2, None, 4, 5, 6]}, "row 3: Id must be a whole number, but it is missing"),
    ],
)
def test_wrong_values_are_refused(name, changes, said, tmp_path):
    WRITERS[name](tmp_path, rows(**changes))
    with pytest.raises(DatasetError, match=f"^{name}.*{said}"):
        load_amazon_fine_food(tmp_path)


@each_layout
def test_a_missing_column_is_told(name, tmp_path):
    WRITERS[name](tmp_path, [row[:-1] for row in rows()], NAMES[:-1])
    with pytest.raises(DatasetError, match=f"{name} has no column 'Text': .* Time, Summary$"):
        load_amazon_fine_food(tmp_path)


@pytest.mark.parametrize("name", ["Reviews.csv", "database.sqlite"])
def test_a_file_without_rows_is_refused(name, tmp_path):
    WRITERS[name](tmp_path, [])
    with pytest.raises(DatasetError, match=f"{name} has no rows"):
        load_amazon_fine_food(tmp_path)


def test_a_database_without_the_table_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "database.sqlite")) as database:
        database.execute("CREATE TABLE Other (Id)")
        database.commit()
    with pytest.raises(DatasetError, match=r"database.sqlite has no table Reviews"):
        load_amazon_fine_food(tmp_path)


def test_text_of_a_database_that_is_bytes_is_refused(tmp_path):
    write_sqlite(tmp_path, rows(texts=["a", "b", b"caf\xe9", "d", "e", "f"]))
    with pytest.raises(DatasetError, match="row 3: Text must be text, but it is b'caf"):
        load_amazon_fine_food(tmp_path)


def test_a_row_with_too_few_fields_is_refused(tmp_path):
    write_csv(tmp_path, [*rows(), [7, "B00"]])
    with pytest.raises(DatasetError, match=r"Reviews.csv cannot be read as CSV: .*columns"):
        load_amazon_fine_food(tmp_path)


def test_a_csv_that_is_not_utf8_is_refused(tmp_path):
    write_csv(tmp_path, rows())
    path = tmp_path / "Reviews.csv"
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xe9"))
    with pytest.raises(DatasetError, match=r"Reviews.csv cannot be read as CSV: .*UTF8"):
        load_amazon_fine_food(tmp_path)
