"""The format of a file, by its name."""

from typing import Literal, get_args

from tempocal.errors import InputError

Format = Literal["csv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
NAMES: dict[Format, str] = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
# Compressions that are not read.
_COMPRESSED = (".zst", ".bz2", ".xz", ".lz4", ".zip", ".7z")
STANDARD = "-"


def format_of(path: str, given: Format | None = None) -> Format:
    """Return the format of a file; ``given`` is for names without a known suffix.

    Examples
    --------
    >>> format_of("predictions.csv.gz")
    'csv'
    """
    found = _by_suffix(path)
    if found is not None:
        return found
    if path == STANDARD:
        return given or "csv"
    other = next((one for one in _COMPRESSED if path.lower().endswith(one)), None)
    if given is None and other is not None:
        raise InputError(
            f"{path!r} is compressed by a program other than gzip, by its ending {other}: "
            "decompress it first"
        )
    if given is None:
        suffixes = ", ".join(_SUFFIXES)
        raise InputError(
            f"the name {path!r} does not tell the format: it must end in {suffixes}, or say "
            "--format"
        )
    return given


def is_gzip(path: str) -> bool:
    """Return whether a file is to be written compressed."""
    return path.lower().endswith(".gz")


def _by_suffix(path: str) -> Format | None:
    bare = path.lower().removesuffix(".gz")
    return next((found for suffix, found in _SUFFIXES.items() if bare.endswith(suffix)), None)
