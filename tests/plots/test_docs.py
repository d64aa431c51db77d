"""The examples of docs/plots.md run as they stand, and have their pictures."""

import re
from pathlib import Path

import matplotlib.pyplot as plt

import tempocal as tc

PAGE = Path(__file__).parents[2] / "docs" / "plots.md"


def test_the_examples_run():
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec("\n".join(blocks), {})
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert len(plt.get_fignums()) == len(pictures) == 7
    assert all((PAGE.parent / picture).is_file() for picture in pictures)


def test_every_display_is_shown():
    headings = re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == tc.plots.__all__
