"""What is written comes back the same, and the same content is the same bytes."""

import json
import math
import struct
import subprocess
import sys
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import InputError
from tempocal.modelfile import read_document, write_document

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | st.text() | FLOATS
NESTED = st.recursive(
    SCALARS, lambda some: st.lists(some) | st.dictionaries(st.text(), some), max_leaves=20
)
CONTENTS = st.builds(dict, some=NESTED)


def exactly(value):
    """Return something that is equal only for equal types and equal bits."""
    if isinstance(value, dict):
        return {key: exactly(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return type(value), struct.pack("<d", value) if isinstance(value, float) else value


@pytest.fixture(scope="module")
def any_path(tmp_path_factory):
    return tmp_path_factory.mktemp("documents") / "model.json"


@given(content=CONTENTS)
def test_content_comes_back_exactly_here_and_from_any_reader_of_json(any_path, content):
    write_document(any_path, content)
    assert exactly(read_document(any_path)) == exactly(content)
    whole = json.loads(any_path.read_bytes())
    assert list(whole) == ["format", "schema", "sha256", "content"]
    assert exactly(whole["content"]) == exactly(content)


@given(bits=st.integers(0, 2**64 - 1))
def test_every_finite_float_keeps_its_bits(any_path, bits):
    (number,) = struct.unpack("<d", struct.pack("<Q", bits))
    if math.isfinite(number):
        write_document(any_path, {"number": number})
        assert exactly(read_document(any_path)["number"]) == exactly(number)


@pytest.mark.parametrize("number", [-0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308])
def test_floats_at_the_edge_keep_their_bits(path, number):
    write_document(path, {"number": [number]})
    assert exactly(read_document(path)) == exactly({"number": [number]})


@pytest.mark.parametrize("number", [0, -1, 2**53 + 1, -(2**64), 10**640 - 1, 1 - 10**640])
def test_integers_stay_integers(path, number):
    write_document(path, {"number": number})
    assert exactly(read_document(path)["number"]) == exactly(number)


def test_order_of_keys_does_not_change_the_bytes(path):
    write_document(path, {"b": 1, "a": {"d": 1, "c": 2}})
    first = path.read_bytes()
    write_document(path, {"a": {"c": 2, "d": 1}, "b": 1})
    assert path.read_bytes() == first


def test_writing_again_what_was_read_gives_the_same_bytes(path, saved):
    write_document(path, read_document(path))
    assert path.read_bytes() == saved


def test_bytes_do_not_depend_on_the_process(path, saved):
    code = "import sys; from tempocal.modelfile import *; p = sys.argv[1]; r = read_document(p)"
    subprocess.run([sys.executable, "-c", f"{code}; write_document(p, r)", path], check=True)
    assert path.read_bytes() == saved


def test_any_mapping_may_be_the_content(path):
    write_document(str(path), MappingProxyType({"a": 1}))
    assert read_document(str(path)) == {"a": 1}


@pytest.mark.parametrize("content", [None, [1], "text", 1.0])
def test_what_is_no_mapping_is_refused(path, content):
    with pytest.raises(InputError, match="content must be a mapping, not"):
        write_document(path, content)


def test_content_too_large_to_be_read_again_is_not_written(path, saved):
    with pytest.raises(InputError, match="the file may have 1000"):
        write_document(path, {"text": "x" * 1000}, limit=1000)
    assert path.read_bytes() == saved


def test_importing_it_loads_nothing_heavy():
    code = "import sys, tempocal.modelfile; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "tempocal.modelfile" in loaded
    assert not {"numpy", "scipy", "sklearn", "pickle"} & loaded
