"""The layout: made for reading and for line-by-line comparison."""

from tempocal.modelfile.json_text import lay_out


def text(value):
    return "".join(lay_out(value, indent=""))


def test_a_matrix_has_a_line_for_each_row():
    assert text([[1.0, -0.0], [1e-300, 2]]) == "[\n  [1.0, -0.0],\n  [1e-300, 2]\n]"


def test_changing_one_entry_changes_one_line():
    old = text({"a": 1, "b": [1, 2], "c": {"d": [[1, 2], [3, 4]]}}).splitlines()
    new = text({"a": 1, "b": [1, 2], "c": {"d": [[1, 2], [3, 5]]}}).splitlines()
    assert len(old) == len(new)
    assert sum(before != after for before, after in zip(old, new, strict=True)) == 1


def test_empty_lists_and_dictionaries_take_no_lines_of_their_own():
    assert text({"a": {}, "b": []}) == '{\n  "a": {},\n  "b": []\n}'
    assert text([[], {}]) == "[\n  [],\n  {}\n]"


def test_letters_are_left_as_they_are_and_line_breaks_are_not():
    assert text({"größe": "日本\n"}) == '{\n  "größe": "日本\\n"\n}'
