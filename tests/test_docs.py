"""What the pages of the documentation show runs, and prints what they say."""

import re
import shlex
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tempocal as tc
from tempocal.cli.group import tempocal

DOCS = Path(__file__).parent.parent / "docs"
RUN = (
    "getting-started",
    "concepts",
    "few-sequences",
    "scorer",
    "learning",
    "exports",
    "monitor",
    "extending",
    "report",
)
GUIDES = [DOCS / f"{name}.md" for name in RUN]
PAGES = [*GUIDES, *sorted(DOCS.glob("how-to/*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Example:
    """A block of a page, and the block of text after it, which is what it prints."""

    language: str
    code: str
    shown: str | None
    line: int


def examples(page: Path) -> list[Example]:
    """Return the blocks of a page that run, in order."""
    text = page.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(text))
    found = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        language, code = block.groups()
        printed = following is not None and following[1] == "text"
        line = text.count("\n", 0, block.start()) + 2
        if language in ("python", "shell"):
            found.append(Example(language, code, following[2] if printed else None, line))
    return found


def run(example: Example, page: Path, namespace: dict[str, Any]) -> str:
    """Run a block and return what it printed; of shell blocks, the calls of tempocal."""
    if example.language == "python":
        # Blank lines in front make a traceback point at the line of the page.
        code = compile("\n" * (example.line - 1) + example.code, str(page), "exec")
        with redirect_stdout(StringIO()) as printed:
            exec(code, namespace)
        return printed.getvalue()
    return "".join(map(call, example.code.replace("\\\n", " ").splitlines()))


def call(line: str) -> str:
    """Run one line of shell if it is a call of tempocal."""
    words = shlex.split(line)
    if words[:1] != ["tempocal"]:
        return ""
    result = CliRunner().invoke(tempocal, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def differences(shown: str, printed: str) -> list[str]:
    """Compare word by word; numbers may differ in the last digits, and "..." stands for lines."""
    problems, rest = [], _lines(printed)
    for line in _lines(shown):
        if line == "...":
            continue
        if "..." in shown:  # lines were left out: look for this one further on
            while rest and not _alike(line, rest[0]):
                rest = rest[1:]
        if not rest or not _alike(line, rest[0]):
            problems.append(f"shown: {line}\nprinted: {rest[0] if rest else 'nothing more'}")
        rest = rest[1:]
    if rest and "..." not in shown:
        problems.append(f"not shown: {rest[0]}")
    return problems


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip(" ─━\t")]


def _alike(shown: str, printed: str) -> bool:
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(_near(*map(_number, pair)) for pair in pairs)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= max(0.03 * abs(one), 0.0021)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("COLUMNS", "100")
    namespace: dict[str, Any] = {"__name__": page.stem}
    found = examples(page)
    assert any(example.language == "python" for example in found)
    for example in found:
        printed = run(example, page, namespace)
        if example.shown is not None:
            problems = differences(example.shown, printed)
            assert not problems, f"{page.name}, line {example.line}:\n" + "\n".join(problems)


def test_a_word_or_a_number_that_is_wrong_is_found():
    assert not differences("a 0.123\nb 7", "a  0.1234\nb 7\n")
    assert not differences("a 1\n...\nc 3", "a 1\nb 2\nc 3\nd 4\n")
    assert differences("a 0.123", "a 0.143\n")
    assert differences("a 1", "b 1\n")
    assert differences("a 1", "a 1\nb 2\n")
    assert differences("a 1\n...\nc 3", "a 1\nb 2\n")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_links_between_pages_lead_to_files(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_api_page_has_every_public_name(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    page = import_module("api_names").with_names((DOCS / "api.md").read_text(encoding="utf-8"))
    modules = [
        tc.metrics,
        tc.plots,
        tc.report,
        tc.scorer,
        tc.sequences,
        tc.datasets,
        tc.export,
        tc.extend,
        tc.live,
    ]
    names = {name for module in [tc, *modules] for name in module.__all__} - {"__version__"}
    assert {name for name in names if not re.search(rf"\b{name}\b", page)} == set()
