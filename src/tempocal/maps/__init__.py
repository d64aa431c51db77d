"""Fitted calibrators as plain functions: what is left of a fit, what is saved, what predicts."""

from tempocal.maps.binary import Beta, BinaryMap, Knots, Line, Steps
from tempocal.maps.document import from_dict, to_dict
from tempocal.maps.multiclass import Affine, FittedMap, OneVsRest, Scale, log_features, one_column

__all__ = [
    "Affine",
    "Beta",
    "BinaryMap",
    "FittedMap",
    "Knots",
    "Line",
    "OneVsRest",
    "Scale",
    "Steps",
    "from_dict",
    "log_features",
    "one_column",
    "to_dict",
]
