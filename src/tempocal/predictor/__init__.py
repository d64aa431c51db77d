"""A fitted model straight from its file, for those who only predict: without scikit-learn."""

from tempocal.predictor.predict import Predictor, read_model

__all__ = ["Predictor", "read_model"]
