"""What is wrong with a text file of rows: its encoding, its separator, the line that is ragged."""

import csv
from collections.abc import Iterable, Iterator

from tempocal.errors import InputError

# The longest first.
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# Field separators other than the comma.
SEPARATORS = (";", "\t", "|")
# A number with a decimal comma.
DECIMAL_COMMA = r"\s*[+-]?\d+,\d+\s*"
COMMA_HINT = ": decimals must have a point, not a comma"


def require_no_other_encoding(start: bytes, name: str) -> None:
    """Refuse a file whose first four bytes are UTF-16 or UTF-32."""
    found = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if start.startswith(mark)), None)
    # Without a mark: an ASCII letter and a NUL byte.
    if found is None and b"\0" in start[:2] and start.strip(b"\0"):
        found = "UTF-16BE" if start[:1] == b"\0" else "UTF-16LE"
    if found is not None:
        raise InputError(
            f"{name} is {found}, and text must be UTF-8: convert it, such as with iconv -f {found} "
            "-t UTF-8"
        )


def ragged_line(lines: Iterable[str], name: str) -> InputError | None:
    """Return what is wrong with the first line that has not as many fields as the header.

    Examples
    --------
    >>> print(ragged_line(["z,won", "0.5,1", "0.7"], "a.csv"))
    a.csv: line 3 has 1 field, and the header 2: each line must have as many as the header, and a
    field with a comma in it must be in double quotes
    >>> print(ragged_line(["z;won", "0,5;1"], "a.csv"))
    a.csv: fields must be separated by commas, but these are by ';', it seems. Write it with commas
    between fields and points in decimals
    >>> ragged_line(["z,won", "0.5,1"], "a.csv")
    """
    header, rows = _split(lines)
    if not header:
        return None
    other = next((mark for mark in SEPARATORS if len(header) == 1 and mark in header[0]), None)
    if other is not None:
        return InputError(
            f"{name}: fields must be separated by commas, but these are by {other!r}, it seems. "
            "Write it with commas between fields and points in decimals"
        )
    for line, row in rows:
        if row and len(row) != len(header):
            return InputError(
                f"{name}: line {line:,} has {len(row)} field{'s' * (len(row) != 1)}, and the "
                f"header {len(header)}: each line must have as many as the header, and a field "
                "with a comma in it must be in double quotes"
            )
    return None


def _split(lines: Iterable[str]) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the fields of the header, and of each line after it, with its number."""
    reader = csv.reader(lines)

    def numbered() -> Iterator[tuple[int, list[str]]]:
        while True:
            line = reader.line_num + 1
            try:
                yield line, next(reader)
            except (StopIteration, csv.Error):
                return

    rows = numbered()
    first = next(rows, (0, []))
    return first[1], rows
