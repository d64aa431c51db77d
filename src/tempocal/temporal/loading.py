"""From a model file back to a fitted calibrator, along time or not."""

from os import PathLike
from typing import Any

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.document import restore
from tempocal.errors import ModelFileError
from tempocal.modelfile import read_with_schema
from tempocal.predictor.document import ALONG_TIME, AutoDocument, document_from
from tempocal.temporal.auto_document import restore_auto
from tempocal.temporal.document import restore_along_time


def load(path: str | PathLike[str]) -> Any:
    """Read a fitted calibrator from a model file.

    Parameters
    ----------
    path : path-like
        A file that ``save`` wrote.

    Returns
    -------
    calibrator
        It predicts as the one that was saved, to the bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, written by a later version, or has a curve or a
        calibrator that is defined in a module which has not been imported.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import tempocal as tc
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0]).save(path)
    >>> tc.load(path).classes_
    array([0, 1])
    """
    content, schema = read_with_schema(path, "model")
    try:
        return _restore(content, schema)
    except ModelFileError as error:
        raise type(error)(f"{path}: {error}") from error


def _restore(content: dict[str, Any], schema: int) -> Calibrator:
    document = document_from(content, schema)
    if isinstance(document, AutoDocument):
        return restore_auto(document)
    return restore_along_time(document) if document.calibrator == ALONG_TIME else restore(document)
