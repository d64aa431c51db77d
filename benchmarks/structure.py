"""How the source is laid out, in numbers: ``python -m benchmarks.structure``.

Class names and file names that stand for two things, the size of the tree, and the files and
functions that typical calls enter.
"""

import ast
import sys
import tempfile
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


def entered_by(call: Callable[[], Any]) -> tuple[list[str], int]:
    """Files and the number of functions of the package that a call enters."""
    codes = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    files = sorted({str(Path(code.co_filename).relative_to(ROOT)) for code in codes})
    functions = {code for code in codes if not code.co_name.startswith("<")}
    return files, len(functions)


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


def main(*, verbose: bool = False) -> None:
    """Print all counts, with ``verbose`` the files themselves."""
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
    for name, call in typical_calls().items():
        call()
        files, functions = entered_by(call)
        print(f"{name}: {len(files)} files, {functions} functions")
        if verbose:
            print("  " + "\n  ".join(files))


if __name__ == "__main__":
    main(verbose="--files" in sys.argv)
