"""Text files that DuckDB would refuse in words of its own, or read in a way that nobody means."""

import gzip
import os
from typing import Any

from tempocal.errors import InputError
from tempocal.inputs.text_files import ragged_line, require_no_other_encoding

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def require_text(connection: Any, pattern: str) -> None:
    """Refuse files without rows, in another encoding, or compressed without saying so."""
    found = connection.execute("SELECT file FROM glob(?)", [pattern]).fetchall()
    for (file,) in found:
        if not os.path.isfile(file) or file.endswith(".zst"):
            continue
        start = _start_of(file)
        if not start.strip():
            raise InputError(f"{file} has no rows: there is nothing to do")
        if start.startswith((_GZIP, _ZSTD)):
            ending = ".gz" if start.startswith(_GZIP) else ".zst"
            raise InputError(f"{file} is compressed: its name must end in {ending}")
        require_no_other_encoding(start[:4], file)


def require_even_lines(file: str) -> None:
    """Refuse a file that has lines of different lengths; for one that lacks a column."""
    if not os.path.isfile(file) or file.endswith(".zst"):
        return
    opened: Any = gzip.open if file.endswith(".gz") else open
    with opened(file, "rt", encoding="utf-8-sig", errors="replace", newline="") as text:
        problem = ragged_line(text, file)
    if problem is not None:
        raise problem


def _start_of(file: str) -> bytes:
    """Return the first bytes of the text; none of a damaged archive, which DuckDB names."""
    if not file.endswith(".gz"):
        with open(file, "rb") as plain:
            return plain.read(4096)
    try:
        with gzip.open(file) as archive:
            return archive.read(4096)
    except (OSError, EOFError):
        return b"?"
