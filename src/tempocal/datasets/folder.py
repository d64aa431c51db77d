"""The data folder, and the file in it that a loader reads."""

import os
from dataclasses import dataclass
from pathlib import Path

from tempocal.errors import DatasetError, DatasetNotFoundError, InputError

# Environment variable of the default data folder.
VARIABLE = "TEMPOCAL_DATA"

Folder = str | os.PathLike[str] | None


@dataclass(frozen=True)
class DatasetFiles:
    """The files that a loader can read."""

    title: str
    names: tuple[str, ...]  # in order of preference; folders end in a slash
    hint: str  # where to get one

    @property
    def listed(self) -> str:
        """The names as text."""
        return " or ".join(self.names)


def data_folder(folder: Folder, files: DatasetFiles) -> Path:
    """Return the given folder, or else that of the environment variable."""
    chosen = os.environ.get(VARIABLE) or None if folder is None else folder
    if chosen is None:
        raise DatasetNotFoundError(
            f"{files.title} was not looked for, as no folder is known: pass folder=, or set the "
            f"environment variable {VARIABLE}, to a folder that has {files.listed}; {files.hint}"
        )
    if not isinstance(chosen, str | os.PathLike) or not str(chosen):
        raise InputError(f"folder must be the path of a folder, but it is {chosen!r}")
    path = Path(chosen).expanduser()
    if path.exists() and not path.is_dir():
        raise DatasetError(f"folder must be the path of a folder, but {path} is a file")
    return path


def find(folder: Path, files: DatasetFiles) -> Path | None:
    """Return the first of the files that exists, or None."""
    for name in files.names:
        path = folder / name
        if not path.exists():
            continue
        if path.is_dir() != name.endswith("/"):
            is_, must = ("folder", "file") if path.is_dir() else ("file", "folder")
            raise DatasetError(f"{path} is a {is_}, and must be a {must}")
        return path
    return None


def not_found(folder: Path, files: DatasetFiles) -> DatasetNotFoundError:
    """Return the error for a dataset without any of its files."""
    missing = "" if folder.exists() else ", which does not exist"
    return DatasetNotFoundError(
        f"{files.title} is not in {folder}{missing}: it is read from {files.listed}, in a folder "
        f"that is passed as folder= or named by the environment variable {VARIABLE}; {files.hint}"
    )
