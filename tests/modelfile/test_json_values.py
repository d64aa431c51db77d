"""What JSON would lose or change is refused before anything is written."""

import re
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from tempocal.errors import InputError
from tempocal.modelfile import read_document, write_document


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), np.float64("nan")])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [0.0, x], lambda x: {"deep": [[x]]}])
def test_nan_and_infinities_are_refused(path, number, wrap):
    with pytest.raises(InputError, match=r"content\['slope'\].* is -?(nan|inf), but a model file"):
        write_document(path, {"slope": wrap(number)})
    assert not path.exists()


@pytest.mark.parametrize(
    "value",
    [(1, 2), {1}, b"x", 1j, Decimal(1), date(2020, 1, 1), np.int64(1), np.bool_(True), np.ones(2)],
    ids=lambda value: type(value).__name__,
)
def test_what_would_not_come_back_is_refused(path, value):
    with pytest.raises(InputError, match=rf"content\['a'\] is a .*{type(value).__name__}, but"):
        write_document(path, {"a": value})


@pytest.mark.parametrize("key", [1, None, True, ("a",)])
def test_keys_that_are_no_strings_are_refused(path, key):
    message = re.escape(f"content['a'] has the key {key!r}, but keys must be strings")
    with pytest.raises(InputError, match=message):
        write_document(path, {"a": {key: 1}})
    with pytest.raises(InputError, match="content has the key"):
        write_document(path, {key: 1})


@pytest.mark.parametrize("content", [{"a": "\ud83d\ude00"}, {"\udfff": 1}, {"a": ["x\udc80"]}])
def test_half_surrogates_are_refused(path, content):
    # Two halves in a row would come back as the one character they spell.
    with pytest.raises(InputError, match="half of a surrogate pair"):
        write_document(path, content)


@pytest.mark.parametrize("number", [10**640, -(10**640), 10**5000], ids=["640", "-640", "5000"])
def test_integers_that_python_may_not_convert_are_refused(path, number):
    with pytest.raises(InputError, match=r"content\['a'\] is an integer of more than 640 digits"):
        write_document(path, {"a": number})


def test_numpy_floats_are_floats(path):
    write_document(path, {"a": np.float64(0.1), "b": [np.float64(2.0)]})
    assert read_document(path) == {"a": 0.1, "b": [2.0]}


def test_depth_has_a_limit_and_content_at_the_limit_is_read(path):
    content: dict = {}
    for _ in range(31):
        content = {"in": content}
    write_document(path, content)
    assert read_document(path) == content
    with pytest.raises(InputError, match="deeper than the 32 levels"):
        write_document(path, {"in": content})


def test_content_that_holds_itself_is_refused(path):
    content: dict = {}
    content["self"] = [content]
    with pytest.raises(InputError, match="deeper than the 32 levels"):
        write_document(path, content)
