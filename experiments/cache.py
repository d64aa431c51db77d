"""Results kept in a folder under the hash of everything they depend on."""

import ast
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def code_of(*modules: ModuleType) -> str:
    """Return a hash of what modules do: comments, docstrings and layout leave it as it is.

    A package stands for all its modules, those in C included.
    """
    digest = hashlib.sha256()
    for path in [file for module in modules for file in _files(module)]:
        if path.suffix != ".py":
            digest.update(path.read_bytes())
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                node.body = [line for line in node.body if not _is_text(line)]
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:16]


def key_of(settings: Any) -> str:
    """Return a hash of a dataclass: another value anywhere gives another hash."""
    text = json.dumps(asdict(settings), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _files(module: ModuleType) -> list[Path]:
    path = Path(str(module.__file__))
    if path.name != "__init__.py":
        return [path]
    return sorted(file for kind in ("py", "c", "h") for file in path.parent.rglob(f"*.{kind}"))


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def place(folder: Path, settings: Any, suffix: str) -> Path:
    """Return the file that the result of these settings is kept in."""
    return folder / f"{type(settings).__name__.lower()}-{key_of(settings)}{suffix}"


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` fill a file beside ``path`` and give it that name only when it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(beside)
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all."""

    def write(beside: Path) -> None:
        beside.write_text(text, encoding="utf-8")

    write_whole(path, write)
