"""Functions of time whose combinations are curves: one file each."""

from tempocal.maps.bases.basis import Basis, Combination
from tempocal.maps.bases.constant import ConstantBasis
from tempocal.maps.bases.exponential import ExponentialBases, ExponentialBasis
from tempocal.maps.bases.expression import ExpressionBasis
from tempocal.maps.bases.product import ProductBasis
from tempocal.maps.bases.spline import SplineBasis
from tempocal.maps.bases.step import StepBasis
from tempocal.maps.bases.time_bin import BinBasis

__all__ = [
    "Basis",
    "BinBasis",
    "Combination",
    "ConstantBasis",
    "ExponentialBases",
    "ExponentialBasis",
    "ExpressionBasis",
    "ProductBasis",
    "SplineBasis",
    "StepBasis",
]
