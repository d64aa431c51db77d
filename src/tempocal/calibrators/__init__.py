"""The calibrators: scikit-learn classifiers from predictions to calibrated predictions."""

from tempocal.calibrators.bayesian import BayesianBinning
from tempocal.calibrators.beta import BetaCalibration
from tempocal.calibrators.dirichlet import DirichletCalibration
from tempocal.calibrators.histogram import HistogramBinning
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.isotonic import IsotonicCalibration
from tempocal.calibrators.matrix import MatrixScaling
from tempocal.calibrators.near_isotonic import NearIsotonicEnsemble
from tempocal.calibrators.platt import PlattScaling
from tempocal.calibrators.summary import Summary
from tempocal.calibrators.temperature import TemperatureScaling
from tempocal.calibrators.vector import VectorScaling

__all__ = [
    "BayesianBinning",
    "BetaCalibration",
    "DirichletCalibration",
    "HistogramBinning",
    "Identity",
    "IsotonicCalibration",
    "MatrixScaling",
    "NearIsotonicEnsemble",
    "PlattScaling",
    "Summary",
    "TemperatureScaling",
    "VectorScaling",
]
