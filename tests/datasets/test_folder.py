"""Which folder is looked in, and what is said where nothing is found."""

import pytest

from tempocal.datasets import load_amazon_fine_food, load_cs_rounds, load_imdb
from tempocal.errors import DatasetError, DatasetNotFoundError, InputError, TempocalError

LOADERS = {
    load_imdb: ["imdb.parquet", "aclImdb/", "aclImdb_v1.tar.gz", "https://ai.stanford.edu/~amaas/"],
    load_amazon_fine_food: [
        "Reviews.csv",
        "database.sqlite",
        "amazon_fine_food.parquet",
        "amazon_fine_food_sample.parquet",
        "https://www.kaggle.com/datasets/snap/amazon-fine-food-reviews",
    ],
    load_cs_rounds: ["cs2_rounds.parquet", "csgo_rounds.parquet", "csgo_rounds.csv"],
}
each_loader = pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)


@each_loader
def test_an_empty_folder_is_told_with_all_that_helps(load, tmp_path):
    with pytest.raises(DatasetNotFoundError) as caught:
        load(tmp_path)
    for word in [*LOADERS[load], str(tmp_path), "TEMPOCAL_DATA", "folder="]:
        assert word in str(caught.value)
    assert "does not exist" not in str(caught.value)
    assert "\n" not in str(caught.value)


@each_loader
@pytest.mark.parametrize("value", [None, ""])
def test_no_folder_at_all_is_told(load, value, monkeypatch, tmp_path):
    """The current folder is not looked in, even if it has a folder of data."""
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    if value is not None:
        monkeypatch.setenv("TEMPOCAL_DATA", value)
    with pytest.raises(DatasetNotFoundError, match="no folder is known") as caught:
        load()
    for word in [*LOADERS[load], "TEMPOCAL_DATA", "folder="]:
        assert word in str(caught.value)


@each_loader
def test_the_environment_names_the_folder_unless_one_is_passed(load, monkeypatch, tmp_path):
    monkeypatch.setenv("TEMPOCAL_DATA", str(tmp_path / "there"))
    with pytest.raises(DatasetNotFoundError, match="there, which does not exist"):
        load()
    with pytest.raises(DatasetNotFoundError, match="here, which does not exist"):
        load(str(tmp_path / "here"))


def test_the_home_folder_may_be_a_tilde(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("TEMPOCAL_DATA", "~/data")
    with pytest.raises(DatasetNotFoundError) as caught:
        load_imdb()
    assert str(tmp_path / "data") in str(caught.value)


@each_loader
def test_a_folder_that_is_a_file_is_refused(load, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match=r"must be the path of a folder, but .*file is a file"):
        load(tmp_path / "file")


@each_loader
@pytest.mark.parametrize("folder", [5, b"data", ""])
def test_a_folder_that_is_no_path_is_refused(load, folder):
    with pytest.raises(InputError, match="folder must be the path of a folder, but it is"):
        load(folder)


@pytest.mark.parametrize(
    ("load", "name"),
    [
        (load_imdb, "imdb.parquet"),
        (load_amazon_fine_food, "Reviews.csv"),
        (load_cs_rounds, "csgo_rounds.csv"),
    ],
)
def test_a_folder_in_place_of_a_file_is_refused(load, name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(DatasetError, match=f"{name} is a folder, and must be a file"):
        load(tmp_path)


def test_a_file_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "aclImdb").touch()
    with pytest.raises(DatasetError, match="aclImdb is a file, and must be a folder"):
        load_imdb(tmp_path)


@pytest.mark.parametrize(
    ("load", "name"),
    [
        (load_imdb, "imdb.parquet"),
        (load_amazon_fine_food, "Reviews.csv"),
        (load_amazon_fine_food, "database.sqlite"),
        (load_amazon_fine_food, "amazon_fine_food.parquet"),
        (load_cs_rounds, "cs2_rounds.parquet"),
        (load_cs_rounds, "csgo_rounds.csv"),
    ],
)
@pytest.mark.parametrize("content", [b"", b"\xff\xfenothing of the kind\x00\xff" * 20])
def test_empty_and_strange_files_are_refused(load, name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    said = "cannot be read as|has no column" if content else "is empty"
    with pytest.raises(DatasetError, match=f"^{name} ({said})") as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


def test_errors_are_caught_as_what_they_are():
    assert issubclass(DatasetError, TempocalError)
    assert issubclass(DatasetError, ValueError)
    assert issubclass(DatasetNotFoundError, DatasetError)
    assert issubclass(DatasetNotFoundError, FileNotFoundError)
