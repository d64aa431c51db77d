"""Content made to do harm, in a file whose checksum fits."""

import subprocess
import sys
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import DamagedModelFileError
from tempocal.modelfile import read_document
from tempocal.modelfile.json_text import lay_out
from tempocal.modelfile.parse import parse


def one(value: str) -> str:
    return '{\n    "a": ' + value + "\n  }"


def test_forged_content_that_could_have_been_written_is_read(forge):
    # Without this law the refusals below could come from a fault of the forger.
    assert read_document(forge(one("[1, 2.5]"))) == {"a": [1, 2.5]}
    assert read_document(forge(one('"[[{\\"[[\\\\"'))) == {"a": '[[{"[[\\'}
    assert read_document(forge("{}")) == {}


NEVER_WRITTEN = r"""
    NaN Infinity -Infinity 1e999 -1e999 1.50 1.0e0 1E5 -0 01 +1 1. .5 0x1 1_0 tru True 'a'
    "\u0041" "\ud800" "\/" "a
"""


@pytest.mark.parametrize("value", [*NEVER_WRITTEN.split(), '"\t"', "", "1 2"])
def test_values_that_are_never_written_are_refused(forge, value):
    with pytest.raises(DamagedModelFileError, match="is damaged"):
        read_document(forge(one(value)))


@pytest.mark.parametrize(
    "content",
    [
        '{\n    "a": 1,\n    "a": 1\n  }',
        '{\n    "a": 1,\n    "a": 2\n  }',
        '{\n    "a": {\n      "b": 1,\n      "b": 1\n    }\n  }',
        '{\n    "b": 1,\n    "a": 1\n  }',
        '{"a": 1}',
        '{\n    "a": 1\n  } ,"format": {}',
        '{\n    "a": 1,\n  }',
        '{\n    // why\n    "a": 1\n  }',
        '{\n    "a": 1\n  }}',
        "{{}}",
    ],
)
def test_other_texts_of_a_content_are_refused(forge, content):
    with pytest.raises(DamagedModelFileError, match="is damaged"):
        read_document(forge(content))


@pytest.mark.parametrize("data", [b" {}", b"{} ", b"{}\n", b"\n{}", b"{}{}"])
def test_nothing_may_stand_around_the_content(data):
    with pytest.raises(DamagedModelFileError, match="is damaged"):
        parse(data)


@pytest.mark.parametrize("data", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xe9", b"\xef\xbb\xbf"])
def test_invalid_utf8_is_refused(forge, data):
    with pytest.raises(DamagedModelFileError, match="is damaged"):
        read_document(forge(b'{\n    "a": ' + data + b"\n  }"))
    with pytest.raises(DamagedModelFileError, match="is damaged"):
        read_document(forge(data.join([b"{", b"}"])))


BOMBS = {
    "open": "[" * 100_000,
    "closed": "[" * 50_000 + "]" * 50_000,
    "objects": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "behind a string": '"\\"", ' + "[" * 10_000,
    "just too deep": "[" * 32 + "]" * 32,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_depth_is_refused_before_it_is_followed(forge, bomb):
    with pytest.raises(DamagedModelFileError, match="nested deeper than 32"):
        read_document(forge(one(bomb)))


def test_depth_is_refused_where_little_of_the_stack_is_left(forge):
    path = forge(one("[" * 500 + "]" * 500))
    code = "import sys; sys.setrecursionlimit(200); from tempocal.modelfile import read_document"
    run = [sys.executable, "-c", f"{code}; read_document(sys.argv[1])", path]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert "DamagedModelFileError" in done.stderr
    assert "RecursionError" not in done.stderr


@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_without_end_are_refused_at_once(forge, sign):
    # Converting a million digits takes Python seconds where its own limit is lifted.
    path = forge(one(sign + "9" * 1_000_000))
    code = "import sys; from tempocal.modelfile import read_document; read_document(sys.argv[1])"
    run = [sys.executable, "-X", "int_max_str_digits=0", "-c", code, path]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=600)
    assert "an integer of more than 640 digits" in done.stderr


def test_a_million_escaped_quotes_take_no_time(forge):
    path = forge(one('"' + '\\"' * 1_000_000))
    start = time.perf_counter()
    with pytest.raises(DamagedModelFileError):
        read_document(path)
    assert time.perf_counter() - start < 120  # milliseconds, or hours


JSON_LIKE = st.lists(
    st.sampled_from(['{\n    "a": ', "\n  }", '"', "\\", "[", "]", "{", "}", ",", ", ", ": ", "1"])
    | st.sampled_from(["-", "0.5", "e9", "NaN", "null", "\n", " ", "\ud800\udc00", "é"])
    | st.text(max_size=2),
).map(lambda parts: "".join(parts).encode(errors="replace"))


@given(data=JSON_LIKE)
def test_no_text_raises_anything_else(data):
    with suppress(DamagedModelFileError):
        assert "".join(lay_out(parse(data))).encode() == data
