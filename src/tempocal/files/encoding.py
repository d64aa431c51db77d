"""Detection of text that is not UTF-8: the file, the line, and how to convert it."""

from tempocal.errors import InputError
from tempocal.files.input_file import InputFile

_BLOCK = 2**20


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
