"""Where the data lie, and which of the files a loader reads is there."""

import os
from dataclasses import dataclass
from pathlib import Path

from tempocal.errors import DatasetError, DatasetNotFoundError, InputError

# Names the data folder where a loader is not told.
VARIABLE = "TEMPOCAL_DATA"

Folder = str | os.PathLike[str] | None


@dataclass(frozen=True)
class Wanted:
    """What a loader looks for."""

    title: str
    names: tuple[str, ...]  # files that would do, the best first; folders end in a slash
    hint: str  # where to get one

    @property
    def listed(self) -> str:
        """Names in words."""
        return " or ".join(self.names)


def data_folder(folder: Folder, wanted: Wanted) -> Path:
    """Return the folder that was passed, or else that of the environment variable."""
    chosen = os.environ.get(VARIABLE) or None if folder is None else folder
    if chosen is None:
        raise DatasetNotFoundError(
            f"{wanted.title} was not looked for, as no folder is known: pass folder=, or set the "
            f"environment variable {VARIABLE}, to a folder that has {wanted.listed}; {wanted.hint}"
        )
    if not isinstance(chosen, str | os.PathLike) or not str(chosen):
        raise InputError(f"folder must be the path of a folder, but it is {chosen!r}")
    path = Path(chosen).expanduser()
    if path.exists() and not path.is_dir():
        raise DatasetError(f"folder must be the path of a folder, but {path} is a file")
    return path


def find(folder: Path, wanted: Wanted) -> Path | None:
    """Return the first of the files that is there."""
    for name in wanted.names:
        path = folder / name
        if not path.exists():
            continue
        if path.is_dir() != name.endswith("/"):
            is_, must = ("folder", "file") if path.is_dir() else ("file", "folder")
            raise DatasetError(f"{path} is a {is_}, and must be a {must}")
        return path
    return None


def not_found(folder: Path, wanted: Wanted) -> DatasetNotFoundError:
    """Return the error for a dataset of which there is no file."""
    missing = "" if folder.exists() else ", which does not exist"
    return DatasetNotFoundError(
        f"{wanted.title} is not in {folder}{missing}: it is read from {wanted.listed}, in a folder "
        f"that is passed as folder= or named by the environment variable {VARIABLE}; {wanted.hint}"
    )
