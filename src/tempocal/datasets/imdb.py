"""Large Movie Review, the first of the paper's datasets."""

from pathlib import Path

import numpy as np

from tempocal.datasets.columns import DatasetColumns, read_parquet
from tempocal.datasets.containers import Source, Texts, source_of
from tempocal.datasets.dataset_checks import check_texts, integers, one_of, require_unique
from tempocal.datasets.folder import DatasetFiles, Folder, data_folder, find, not_found
from tempocal.datasets.imdb_archive import ADDRESS, ARCHIVE, fetch_archive, read_archive
from tempocal.datasets.imdb_folder import read_folder
from tempocal.datasets.imdb_names import PARTS

_FILES = DatasetFiles(
    "Large Movie Review",
    ("imdb.parquet", "aclImdb/", ARCHIVE),
    f"download=True fetches {ARCHIVE}, which is published at {ADDRESS}",
)
# Reviews of each part and label; and the offset between their ids, above all review numbers.
_REVIEWS, _STEP = 12_500, 100_000


def load_imdb(folder: Folder = None, *, download: bool = False) -> Texts:
    """Read Large Movie Review: 50,000 film reviews, half of them to train on, half to test on.

    The first of these that is in the data folder is read:

    - ``imdb.parquet``, with the columns split ("train" or "test"), label (0 or 1), review_id and
      text;
    - ``aclImdb``, the folder that the official archive unpacks to;
    - ``aclImdb_v1.tar.gz``, the official archive, if its checksum is right.

    The reviews without a label in the official files are not read.

    Parameters
    ----------
    folder : path, optional
        The data folder. By default, that of the environment variable ``TEMPOCAL_DATA``.
    download : bool
        If none of these exists, download the archive (84 MB) into the data folder. That needs
        ``pip install "tempocal[datasets]"``, as does reading Parquet.

    Returns
    -------
    Texts
        Sorted by part (train, then test), label and number, whichever file was read. Reviews are
        numbered within their part and label, so the id in ``sequence`` is that number, plus
        100,000 for a positive review, plus 200,000 for a test review. The checksum of a folder is
        over the name, length and content of each review.

    References
    ----------
    A. Maas et al. (2011). Learning word vectors for sentiment analysis. ACL.

    Examples
    --------
    >>> from tempocal.datasets import load_imdb
    >>> reviews = load_imdb("data")  # doctest: +SKIP
    >>> test = reviews.part == "test"  # doctest: +SKIP
    """
    directory = data_folder(folder, _FILES)
    path = find(directory, _FILES)
    if path is None:
        if not download:
            raise not_found(directory, _FILES)
        path = fetch_archive(directory)
    return _sorted(*_read(path))


def _read(path: Path) -> tuple[DatasetColumns, Source]:
    if path.name == ARCHIVE:
        return read_archive(path)
    if path.is_dir():
        return read_folder(path)
    columns = read_parquet(path, ["split", "label", "review_id", "text"])
    return columns, source_of(path)


def _sorted(columns: DatasetColumns, source: Source) -> Texts:
    file, values = columns.file, columns.values
    part = np.array(one_of(values["split"], "split", file, PARTS))
    label = integers(values["label"], "label", file, 0, 1)
    number = integers(values["review_id"], "review_id", file, 0, _STEP - 1)
    text = check_texts(values["text"], "text", file)
    group = 2 * (part == "test") + label
    sequence = _STEP * group + number
    require_unique(sequence, "the review with the id", file)
    order = np.argsort(sequence)
    return Texts(
        text=[text[row] for row in order],
        label=label[order],
        part=part[order],
        sequence=sequence[order],
        source=source,
        complete=bool((np.bincount(group, minlength=4) == _REVIEWS).all()),
    )
