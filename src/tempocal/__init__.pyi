"""The public names of tempocal, each with the module that defines it.

`tempocal/__init__.py` reads this list: a new public name is one line here.
"""

from tempocal import clocks as clocks
from tempocal import datasets as datasets
from tempocal import errors as errors
from tempocal import export as export
from tempocal import extend as extend
from tempocal import live as live
from tempocal import metrics as metrics
from tempocal import plots as plots
from tempocal import report as report
from tempocal import scorer as scorer
from tempocal import sequences as sequences
from tempocal.assessment import assess as assess
from tempocal.assessment import assess_table as assess_table
from tempocal.calibrators.bayesian import BayesianBinning as BayesianBinning
from tempocal.calibrators.beta import BetaCalibration as BetaCalibration
from tempocal.calibrators.dirichlet import DirichletCalibration as DirichletCalibration
from tempocal.calibrators.histogram import HistogramBinning as HistogramBinning
from tempocal.calibrators.identity import Identity as Identity
from tempocal.calibrators.isotonic import IsotonicCalibration as IsotonicCalibration
from tempocal.calibrators.matrix import MatrixScaling as MatrixScaling
from tempocal.calibrators.near_isotonic import NearIsotonicEnsemble as NearIsotonicEnsemble
from tempocal.calibrators.platt import PlattScaling as PlattScaling
from tempocal.calibrators.quadratic import QuadraticScaling as QuadraticScaling
from tempocal.calibrators.summary import Summary as Summary
from tempocal.calibrators.temperature import TemperatureScaling as TemperatureScaling
from tempocal.calibrators.vector import VectorScaling as VectorScaling
from tempocal.curves.constant import Constant as Constant
from tempocal.curves.exponential import ExponentialDecay as ExponentialDecay
from tempocal.curves.logarithmic import Logarithmic as Logarithmic
from tempocal.curves.per_step import PerStep as PerStep
from tempocal.curves.random_walk import RandomWalk as RandomWalk
from tempocal.curves.spline import Spline as Spline
from tempocal.curves.surface import Surface as Surface
from tempocal.temporal.auto import AutoTemporalCalibrator as AutoTemporalCalibrator
from tempocal.temporal.calibrator import TemporalCalibrator as TemporalCalibrator
from tempocal.temporal.interval import Interval as Interval
from tempocal.temporal.loading import load as load
from tempocal.temporal.sequence_classifier import (
    CalibratedSequenceClassifier as CalibratedSequenceClassifier,
)
from tempocal.version import __version__ as __version__
