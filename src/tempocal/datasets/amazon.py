"""Amazon Fine Food Review, the second of the paper's datasets."""

from pathlib import Path

import numpy as np

from tempocal.datasets.columns import DatasetColumns, read_csv, read_parquet, read_sqlite
from tempocal.datasets.containers import Texts, source_of
from tempocal.datasets.dataset_checks import check_texts, integers, require_unique
from tempocal.datasets.folder import DatasetFiles, Folder, data_folder, find, not_found

_FILES = DatasetFiles(
    "Amazon Fine Food Review",
    (
        "Reviews.csv",
        "database.sqlite",
        "amazon_fine_food.parquet",
        "amazon_fine_food_sample.parquet",
    ),
    "the first two are published at https://www.kaggle.com/datasets/snap/amazon-fine-food-reviews",
)
_REVIEWS = 568_454
# The paper takes four and five stars as positive.
_POSITIVE = 4


def load_amazon_fine_food(folder: Folder = None) -> Texts:
    """Read Amazon Fine Food Review: reviews of one to three stars (0), and of four or five (1).

    The first of these that is in the data folder is read:

    - ``Reviews.csv`` or ``database.sqlite``, the official files, of which the columns (of the table
      Reviews) Id, Score and Text are read;
    - ``amazon_fine_food.parquet`` or ``amazon_fine_food_sample.parquet``, with the columns Score
      and Text, and perhaps Id. Without it, rows are numbered from 1, as the official ones are.

    Parameters
    ----------
    folder : path, optional
        The data folder. By default, that of the environment variable ``TEMPOCAL_DATA``.

    Returns
    -------
    Texts
        Sorted by Id. They are not split: ``part`` is "whole". They are ``complete`` if there are
        568,454. (The sizes of the paper's parts sum to 30 more.)

    References
    ----------
    J. McAuley and J. Leskovec (2013). From amateurs to connoisseurs: modeling the evolution of user
    expertise through online reviews. WWW.

    Examples
    --------
    >>> from tempocal.datasets import load_amazon_fine_food
    >>> reviews = load_amazon_fine_food("data")  # doctest: +SKIP
    >>> reviews.label.mean()  # doctest: +SKIP
    """
    directory = data_folder(folder, _FILES)
    path = find(directory, _FILES)
    if path is None:
        raise not_found(directory, _FILES)
    columns = _read(path)
    file, values = columns.file, columns.values
    stars = integers(values["Score"], "Score", file, 1, 5)
    sequence = integers(values.get("Id", np.arange(1, len(columns) + 1)), "Id", file)
    text = check_texts(values["Text"], "Text", file)
    require_unique(sequence, "the Id", file)
    order = np.argsort(sequence)
    return Texts(
        text=[text[row] for row in order],
        label=(stars[order] >= _POSITIVE).astype(np.int64),
        part=np.full(len(order), "whole"),
        sequence=sequence[order],
        source=source_of(path),
        complete=len(order) == _REVIEWS,
    )


def _read(path: Path) -> DatasetColumns:
    if path.suffix == ".csv":
        return read_csv(path, ["Id", "Score", "Text"])
    if path.suffix == ".sqlite":
        return read_sqlite(path, "Reviews", ["Id", "Score", "Text"])
    return read_parquet(path, ["Score", "Text"], ["Id"])
