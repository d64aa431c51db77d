"""Fitted calibrators as plain functions: what is left of a fit, what is saved, what predicts."""

from tempocal.maps.along_time import Curves, MapPerStep, TemporalMap
from tempocal.maps.band import Band, StepBand
from tempocal.maps.bases import (
    Basis,
    BinBasis,
    ConstantBasis,
    ExponentialBases,
    ExponentialBasis,
    ProductBasis,
    SplineBasis,
    StepBasis,
)
from tempocal.maps.binary import Beta, BinaryMap, Knots, Line, Steps
from tempocal.maps.document import from_dict, to_dict
from tempocal.maps.forms import FORMS, numbers_by_name
from tempocal.maps.multiclass import Affine, FittedMap, OneVsRest, Scale
from tempocal.maps.proba import proba_at_once, proba_of_map

__all__ = [
    "FORMS",
    "Affine",
    "Band",
    "Basis",
    "Beta",
    "BinBasis",
    "BinaryMap",
    "ConstantBasis",
    "Curves",
    "ExponentialBases",
    "ExponentialBasis",
    "FittedMap",
    "Knots",
    "Line",
    "MapPerStep",
    "OneVsRest",
    "ProductBasis",
    "Scale",
    "SplineBasis",
    "StepBand",
    "StepBasis",
    "Steps",
    "TemporalMap",
    "from_dict",
    "numbers_by_name",
    "proba_at_once",
    "proba_of_map",
    "to_dict",
]
