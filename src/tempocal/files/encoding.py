"""Detection of text that is not UTF-8: the file, the line, and how to convert it."""

from tempocal.errors import InputError
from tempocal.files.input_file import InputFile

# The longest first.
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_BLOCK = 2**20


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


def require_utf8(text: bytes, first_line: int, name: str) -> None:
    """Refuse lines that are not UTF-8; ``first_line`` is the number of the first."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = first_line + text.count(b"\n", 0, error.start)
        raise not_utf8(name, line, text[error.start]) from error


def not_utf8(name: str, line: int, byte: int) -> InputError:
    """Return the error for a line in another encoding."""
    return InputError(
        f"{name} is not UTF-8: line {line:,} has the byte 0x{byte:02x}, as in Latin-1. Convert it, "
        "such as with iconv -f LATIN1 -t UTF-8"
    )


def find_other_encoding(source: InputFile) -> InputError | None:
    """Return the error for the first line of a file that is not UTF-8, or None."""
    line = 1
    with source.open_lines() as file:
        while text := file.read(_BLOCK):
            text += file.readline()
            try:
                require_utf8(text, line, source.name)
            except InputError as error:
                return error
            line += text.count(b"\n")
    return None
