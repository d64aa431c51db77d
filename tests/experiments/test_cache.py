"""Results are kept under everything that they depend on, whole or not at all."""

from dataclasses import fields, replace
from types import ModuleType

import pytest
from experiments.cache import code_of, key_of, place, write_whole
from experiments.settings import TextRun

RUN = TextRun("imdb", "dan", 0, 10, 64, "data", "reader", "code")


@pytest.mark.parametrize("field", [field.name for field in fields(RUN)])
def test_every_setting_counts(field):
    value = getattr(RUN, field)
    other = replace(RUN, **{field: value + 1 if isinstance(value, int) else value + "x"})
    assert key_of(other) != key_of(RUN)
    assert key_of(replace(RUN)) == key_of(RUN)


def test_names_tell_what_is_kept(tmp_path):
    assert place(tmp_path, RUN, ".parquet").name == f"textrun-{key_of(RUN)}.parquet"


def module(tmp_path, name, code):
    made = ModuleType(name)
    made.__file__ = str(tmp_path / f"{name}.py")
    (tmp_path / f"{name}.py").write_text(code)
    return made


def test_code_that_does_the_same_is_the_same(tmp_path):
    one = module(tmp_path, "one", '"""Text."""\ndef f(x):\n    """Double."""\n    return 2 * x\n')
    other = module(tmp_path, "other", "# Another comment.\n\ndef f(x):\n    return (2 * x)\n")
    third = module(tmp_path, "third", "def f(x):\n    return 3 * x\n")
    assert code_of(one) == code_of(other) != code_of(third)


def test_nothing_is_left_of_what_failed(tmp_path):
    def fails(path):
        path.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(tmp_path / "a", fails)
    assert list(tmp_path.iterdir()) == []
