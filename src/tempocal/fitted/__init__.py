"""A fitted model straight from its file, for those who only predict: without scikit-learn."""

from tempocal.fitted.model import FittedModel
from tempocal.fitted.reading import read_model

__all__ = ["FittedModel", "read_model"]
