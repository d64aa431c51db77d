"""Which format a file has, by its name."""

from typing import Literal, get_args

from tempocal.errors import InputError

Format = Literal["csv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
NAMES: dict[Format, str] = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
STANDARD = "-"


def format_of(path: str, given: Format | None = None) -> Format:
    """Return the format of a file; ``given`` is for names that do not tell.

    Examples
    --------
    >>> format_of("predictions.csv.gz")
    'csv'
    """
    found = _by_ending(path)
    if found is not None:
        return found
    if path == STANDARD:
        return given or "csv"
    if given is None:
        endings = ", ".join(_ENDINGS)
        raise InputError(
            f"the name {path!r} does not tell the format: it must end in {endings}, or say --format"
        )
    return given


def is_gzip(path: str) -> bool:
    """Tell whether a file to be written is to be compressed."""
    return path.lower().endswith(".gz")


def _by_ending(path: str) -> Format | None:
    bare = path.lower().removesuffix(".gz")
    return next((found for ending, found in _ENDINGS.items() if bare.endswith(ending)), None)
