"""From a model file back to a fitted calibrator, along time or not."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.loading import restore
from tempocal.errors import DamagedModelFileError
from tempocal.modelfile import read_document
from tempocal.temporal.auto_document import auto_from_content
from tempocal.temporal.reading import from_content

# Every other name is that of a calibrator which knows no time, or is refused.
_READERS: dict[str, Callable[[Mapping[str, Any]], Calibrator]] = {
    "AutoTemporalCalibrator": auto_from_content,
    "TemporalCalibrator": from_content,
}


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
        If the file is damaged, of another kind, or written by a later version.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import tempocal as tc
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0]).save(path)
    >>> tc.load(path).classes_
    array([0, 1])
    """
    content = read_document(path, "model")
    try:
        name = content.get("calibrator")
        read = _READERS.get(name, restore) if isinstance(name, str) else restore
        return read(content)
    except DamagedModelFileError as error:
        raise DamagedModelFileError(f"{path}: {error}") from error
