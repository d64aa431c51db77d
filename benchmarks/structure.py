"""How the source is laid out, in numbers: ``python -m benchmarks.structure``.

Class names and file names that stand for two things, the size of the tree, and the files and
functions that typical calls enter.
"""

import ast
import sys
import tempfile
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import tempocal as tc

ROOT = Path(tc.__file__).parent


def sources() -> list[Path]:
    """All Python files of the package."""
    return sorted(ROOT.rglob("*.py"))


def class_names_twice() -> dict[str, list[str]]:
    """Names of classes that are defined in more than one file, with these files."""
    found = defaultdict(list)
    for path in sources():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(ROOT)))
    return {name: files for name, files in sorted(found.items()) if len(files) > 1}


def file_stems_twice() -> dict[str, list[str]]:
    """Names of files that occur in more than one folder, with these files."""
    found = defaultdict(list)
    for path in sources():
        if path.stem != "__init__":
            found[path.stem].append(str(path.relative_to(ROOT)))
    return {stem: files for stem, files in sorted(found.items()) if len(files) > 1}


def entered_by(call: Callable[[], Any]) -> dict[str, list[str]]:
    """Functions of the package that a call enters, by file and in the order of its lines.

    Comprehensions and lambdas are part of the function that has them, but their file counts.
    """
    codes = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    found: dict[str, list[str]] = {}
    for code in sorted(codes, key=lambda code: (code.co_filename, code.co_firstlineno)):
        functions = found.setdefault(str(Path(code.co_filename).relative_to(ROOT)), [])
        if not code.co_name.startswith("<"):
            functions.append(code.co_qualname)
    return found


def typical_calls() -> dict[str, Callable[[], Any]]:
    """Return the calls that are traced: 8,600 rows of 400 matches, everything loaded before."""
    m = tc.datasets.simulate_match(400)
    z, y, t, g = m.logits, m.label, m.time, m.sequence
    spline = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    path = Path(tempfile.mkdtemp()) / "model.json"
    fitted = tc.TemporalCalibrator().fit(z, y, time=t, groups=g)
    return {
        "TemperatureScaling().fit": lambda: tc.TemperatureScaling().fit(z, y),
        "TemporalCalibrator(PlattScaling(), Spline()).fit": lambda: spline.fit(
            z, y, time=t, groups=g
        ),
        "predict_proba": lambda: fitted.predict_proba(z, time=t),
        "save": lambda: fitted.save(path),
        "load": lambda: tc.load(path),
    }


def print_sizes() -> None:
    """Print how large the source is, and the names that are used twice."""
    python = sum(path.read_text(encoding="utf-8").count("\n") for path in sources())
    c = sum(path.read_text().count("\n") for path in sorted(ROOT.rglob("*.[ch]")))
    print(f"files: {len(sources())}, lines of Python: {python}, lines of C: {c}")
    for what, twice in (
        ("class names", class_names_twice()),
        ("file names", file_stems_twice()),
    ):
        print(f"{what} used twice: {len(twice)}")
        for name, files in twice.items():
            print(f"  {name}: {', '.join(files)}")


def print_calls(*, files: bool, functions: bool) -> None:
    """Print how many files and functions typical calls enter, and which."""
    for name, call in typical_calls().items():
        call()
        entered = entered_by(call)
        n_functions = sum(map(len, entered.values()))
        print(f"{name}: {len(entered)} files, {n_functions} functions")
        for path, its_functions in entered.items():
            if functions:
                print(f"  {path}: {', '.join(its_functions)}")
            elif files:
                print(f"  {path}")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", action="store_true", help="list the files that calls enter")
    parser.add_argument("--functions", action="store_true", help="list their functions as well")
    asked = parser.parse_args()
    print_sizes()
    print_calls(files=asked.files, functions=asked.functions)
