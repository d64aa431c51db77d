"""Fitted calibrators as plain functions: what is left of a fit, what is saved, what predicts."""

from tempocal.maps.affine import DIAGONAL, FULL, FULL_OF_LOG_PROBA, Affine
from tempocal.maps.along_time import (
    FORMS,
    CoefficientMap,
    Curves,
    FeatureCurves,
    MapPerStep,
    TemporalMap,
    curves_of,
)
from tempocal.maps.average import Average, members_of
from tempocal.maps.band import AnyBand, Band, StepBand
from tempocal.maps.bases import (
    Basis,
    BinBasis,
    ConstantBasis,
    ExponentialBases,
    ExponentialBasis,
    ExpressionBasis,
    ProductBasis,
    SplineBasis,
    StepBasis,
)
from tempocal.maps.document import from_dict, schema_of, to_dict
from tempocal.maps.features import FeatureForm, FeatureMap
from tempocal.maps.fitted_map import FittedMap, Form, from_logits
from tempocal.maps.one_vs_rest import BETAS, LINES, Beta, BinaryMap, Line, OneVsRest
from tempocal.maps.proba import proba_at_once, proba_of_map
from tempocal.maps.probability_curves import Knots, Steps
from tempocal.maps.scale import SCALE, Scale

__all__ = [
    "BETAS",
    "DIAGONAL",
    "FORMS",
    "FULL",
    "FULL_OF_LOG_PROBA",
    "LINES",
    "SCALE",
    "Affine",
    "AnyBand",
    "Average",
    "Band",
    "Basis",
    "Beta",
    "BinBasis",
    "BinaryMap",
    "CoefficientMap",
    "ConstantBasis",
    "Curves",
    "ExponentialBases",
    "ExponentialBasis",
    "ExpressionBasis",
    "FeatureCurves",
    "FeatureForm",
    "FeatureMap",
    "FittedMap",
    "Form",
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
    "curves_of",
    "from_dict",
    "from_logits",
    "members_of",
    "proba_at_once",
    "proba_of_map",
    "schema_of",
    "to_dict",
]
