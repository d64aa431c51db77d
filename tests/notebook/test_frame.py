"""Columns as data frames of whichever library is there or asked for."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tempocal.errors import InputError
from tempocal.notebook import as_frame
from tempocal.notebook import frame as frames

COLUMNS = {"a": np.array([1, 2]), "b": ["x", None]}


@pytest.mark.parametrize(
    ("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_it_is_of_the_library_that_was_asked_for(library, kind):
    found = as_frame(COLUMNS, library)
    assert isinstance(found, kind)
    assert list(found.to_pydict() if kind is pa.Table else found.columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("there", "kind"), [({"polars", "pyarrow"}, pl.DataFrame), ({"pyarrow"}, pa.Table)]
)
def test_by_default_it_is_of_the_first_that_is_installed(monkeypatch, there, kind):
    assert isinstance(as_frame(COLUMNS), pd.DataFrame)
    monkeypatch.setattr(frames, "find_spec", lambda name: name in there or None)
    assert isinstance(as_frame(COLUMNS), kind)


def test_what_cannot_be_is_a_sentence(monkeypatch):
    with pytest.raises(InputError, match="library must be one of pandas, polars, pyarrow"):
        as_frame(COLUMNS, "dask")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="polars is not installed: pip install polars"):
        as_frame(COLUMNS, "polars")
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="a frame needs one of pandas, polars, pyarrow"):
        as_frame(COLUMNS)
