"""Every file that is not byte for byte a model is refused, and the error says what it is."""

import json
import pickle
import struct
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tempocal.errors import (
    DamagedModelFileError,
    ModelFileError,
    NewerModelFileError,
    NotAModelFileError,
)
from tempocal.modelfile import read_document, write_document

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4s", 13, b"IHDR") + zlib.compress(bytes(100))


def put(path, data):
    """Write a new file: to empty an old one can mean to wait for the disk, thousands of times."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Give a path and the bytes of the model saved there, for tests that draw many files."""
    path = tmp_path_factory.mktemp("fuzz") / "model.json"
    write_document(path, {"kind": "Scale", "slope": [0.1, 2.0], "text": '"[{\\'})
    return path, path.read_bytes()


def test_every_flipped_bit_is_refused(path, saved):
    for bit in range(8 * len(saved)):
        damaged = bytearray(saved)
        damaged[bit // 8] ^= 1 << bit % 8
        put(path, damaged)
        with pytest.raises(ModelFileError, match=r"model\.json"):
            read_document(path)


def test_every_flipped_bit_after_the_first_two_lines_is_called_damage(path, saved):
    for position in range(saved.index(b'  "sha256"'), len(saved)):
        put(path, saved[:position] + bytes([saved[position] ^ 1]) + saved[position + 1 :])
        with pytest.raises(DamagedModelFileError):
            read_document(path)


def test_a_file_cut_anywhere_is_damaged(path, saved):
    for length in range(len(saved)):
        put(path, saved[:length])
        with pytest.raises(DamagedModelFileError):
            read_document(path)


def test_a_file_with_a_byte_more_or_less_anywhere_is_refused(path, saved):
    for position in range(len(saved) + 1):
        for byte in (b"", b" ", b"\n", b"\x00", b"0"):
            changed = saved[:position] + byte + saved[position + (not byte) :]
            if changed != saved:
                put(path, changed)
                with pytest.raises(ModelFileError):
                    read_document(path)


@given(
    cut=st.tuples(st.integers(0, 400), st.integers(0, 400)).map(sorted),
    middle=st.binary(max_size=20)
    | st.sampled_from([b'"', b"[" * 99, b"NaN", b"1e999", b"\\u0000"]),
)
@example(cut=[0, 0], middle=b"")
def test_no_mutation_goes_through(other, cut, middle):
    path, whole = other
    mutated = whole[: cut[0]] + middle + whole[cut[1] :]
    put(path, mutated)
    if mutated == whole:
        assert read_document(path)["slope"] == [0.1, 2.0]
    else:
        with pytest.raises(ModelFileError):
            read_document(path)


@given(data=st.binary())
def test_no_bytes_raise_anything_else(other, data):
    path, _ = other
    put(path, data)
    with pytest.raises(ModelFileError):
        read_document(path)


@pytest.mark.parametrize(
    "data",
    [
        b"logit,time,label\n0.3,1,0\n",
        pickle.dumps({"format": "tempocal"}),
        PNG,
        bytes(1000),
        b'{"format": "another-model", "schema": 1}',
        b'["tempocal"]',
        b"null",
        b"3",
        b"\n",
        "{}".encode("utf-16"),
    ],
    ids=lambda data: repr(data[:12]),
)
def test_other_kinds_of_files_are_called_so(path, data):
    put(path, data)
    with pytest.raises(NotAModelFileError, match="is not a tempocal model"):
        read_document(path)


def test_an_empty_file_is_called_damaged(path):
    path.touch()
    with pytest.raises(DamagedModelFileError, match="nothing but the beginning"):
        read_document(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: json.dumps(json.loads(data)).encode(),
        lambda data: data.replace(b'  "schema"', b'  "schema": 1,\n  "schema"'),
    ],
    ids=["line endings", "byte order mark", "reformatted", "schema twice"],
)
def test_a_model_laid_out_anew_is_called_damaged(path, saved, change):
    put(path, change(saved))
    with pytest.raises(DamagedModelFileError):
        read_document(path)


@pytest.mark.parametrize("schema", [3, 10, 999_999_999])
def test_a_newer_schema_is_called_so(forge, schema):
    with pytest.raises(NewerModelFileError, match=f"schema {schema}; this version knows up to 2"):
        read_document(forge("{}", schema))


def test_a_newer_file_is_known_by_its_first_two_lines_alone(path):
    path.write_text('{\n  "format": "tempocal-model",\n  "schema": 3,\n  "whatever": []\n}\n')
    with pytest.raises(NewerModelFileError, match="upgrade tempocal"):
        read_document(path)


@pytest.mark.parametrize("schema", [0, -1, 1.0, True, None, "1", 10**9])
def test_a_schema_that_is_no_small_number_is_damage(forge, schema):
    with pytest.raises(DamagedModelFileError):
        read_document(forge("{}", schema))


@pytest.mark.parametrize("key", ["schema", "sha256", "content"])
def test_a_missing_part_is_damage(path, saved, key):
    whole = json.loads(saved)
    del whole[key]
    path.write_text(json.dumps(whole, indent=2) + "\n")
    with pytest.raises(DamagedModelFileError):
        read_document(path)
