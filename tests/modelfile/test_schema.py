"""Files written by earlier versions load forever: one of each schema is kept beside this test."""

from pathlib import Path

import pytest

import tempocal as tc
from support.matches import rows
from tempocal.modelfile import read_document, write_document
from tempocal.modelfile.schema import SCHEMA

FILES = Path(__file__).parent / "files"
CONTENT = {
    "kind": "Example",
    "classes": ["ja", "né", "日本"],
    "fitted": True,
    "nothing": None,
    "count": 2**53 + 1,
    "numbers": [0.1, -0.0, 5e-324, 1.7976931348623157e308, 1e16, 1.0],
    "matrix": [[1.0, 0.5], [-0.5, 2.0]],
    "parts": [{"kind": "Line", "slope": 1.25}, {}, []],
}


@pytest.mark.parametrize("schema", range(1, SCHEMA + 1))
def test_files_of_every_schema_are_read(schema):
    assert read_document(FILES / f"schema_{schema}.json") == CONTENT


@pytest.mark.parametrize("schema", range(1, SCHEMA + 1))
def test_every_schema_is_written_as_ever(schema, path):
    # The bytes depend on how Python prints floats and sorts text, which must not drift unseen.
    write_document(path, CONTENT, schema=schema)
    assert path.read_bytes() == (FILES / f"schema_{schema}.json").read_bytes()


def test_only_models_that_0_1_does_not_know_need_the_second_schema(path):
    z, y, time, _ = rows()
    for curve, schema in ((tc.Spline(clock="log"), 1), (tc.Spline(), 2), (tc.Logarithmic(), 2)):
        tc.TemporalCalibrator(curve=curve).fit(z, y, time=time).save(path)
        assert f'"schema": {schema},' in path.read_text()
