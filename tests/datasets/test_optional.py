"""Packages that only loaders need: not loaded before, and told in a sentence where missing."""

import subprocess
import sys

import pooch  # noqa: F401 - remembers for good whether it found tqdm
import pytest

from tempocal.datasets import load_amazon_fine_food, load_cs_rounds, load_imdb

INSTALL = 'is not installed: pip install "tempocal\\[datasets\\]"$'


@pytest.mark.parametrize("module", ["tempocal", "tempocal.datasets"])
def test_importing_loads_none_of_them(module):
    code = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert "tempocal" in loaded
    assert loaded.isdisjoint({"pyarrow", "pooch", "tqdm", "requests", "scipy", "sklearn"})


@pytest.mark.parametrize(
    ("load", "name"),
    [
        (load_imdb, "imdb.parquet"),
        (load_amazon_fine_food, "Reviews.csv"),
        (load_cs_rounds, "cs2_rounds.parquet"),
    ],
)
def test_without_pyarrow_its_install_command_is_told(load, name, tmp_path, monkeypatch):
    (tmp_path / name).write_text("anything")
    for module in ["pyarrow", "pyarrow.csv", "pyarrow.parquet"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"with pyarrow, which {INSTALL}"):
        load(tmp_path)


@pytest.mark.parametrize("package", ["pooch", "tqdm"])
def test_without_pooch_its_install_command_is_told(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"with {package}, which {INSTALL}"):
        load_imdb(tmp_path, download=True)
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_further_down_is_not_hidden(tmp_path, monkeypatch):
    """A package that is there, but lacks one of its own needs, is another problem."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "pooch.py").write_text("import a_module_that_nobody_has")
    monkeypatch.delitem(sys.modules, "pooch", raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
        load_imdb(tmp_path, download=True)
