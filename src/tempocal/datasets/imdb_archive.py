"""Large Movie Review as the official archive, read without unpacking it."""

import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from tempocal.datasets.columns import DatasetColumns, import_optional
from tempocal.datasets.containers import Source, md5_of, source_of
from tempocal.datasets.imdb_names import from_reviews
from tempocal.errors import DatasetError

ARCHIVE = "aclImdb_v1.tar.gz"
ADDRESS = f"https://ai.stanford.edu/~amaas/data/sentiment/{ARCHIVE}"
MD5 = "7c2ac02c03563afcf9b574c7e56c153a"
_MEMBER = re.compile(r"(?:\./)?aclImdb/(train|test)/(neg|pos)/([^/.][^/]*)")


def fetch_archive(folder: Path) -> Path:
    """Download the archive into a folder; nothing stays there if the checksum is wrong."""
    pooch = import_optional("pooch")
    import_optional("tqdm")  # for the progress bar; the error of pooch would be less clear
    try:
        pooch.retrieve(ADDRESS, f"md5:{MD5}", fname=ARCHIVE, path=folder, progressbar=True)
    # A wrong checksum is a ValueError; a failed download is an OSError.
    except (ValueError, OSError) as error:
        raise DatasetError(f"{ADDRESS} could not be fetched into {folder}: {error}") from error
    return folder / ARCHIVE


def read_archive(path: Path) -> tuple[DatasetColumns, Source]:
    """Read all reviews, if the archive is the official one."""
    found = md5_of(path)
    if found != MD5:
        raise DatasetError(
            f"{path.name} has the md5 checksum {found}, but that of the official archive is {MD5}: "
            f"it is damaged or another file; delete it and fetch it again from {ADDRESS}"
        )
    try:
        columns = from_reviews(path.name, _reviews(path))
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DatasetError(f"{path.name} cannot be read as a tar archive: {error}") from error
    return columns, source_of(path)


def _reviews(path: Path) -> Iterator[tuple[str, str, str, bytes]]:
    # As a stream: seeking back in a compressed file would decompress it again.
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            match = _MEMBER.fullmatch(member.name)
            content = archive.extractfile(member) if match and member.isfile() else None
            if match and content is not None:
                yield match[1], match[2], match[3], content.read()
