"""Assess calibration along time: fit, evaluate on held-out rows, and state a verdict."""

from tempocal.assessment.assessing import assess, assess_table
from tempocal.assessment.discrimination import Discrimination
from tempocal.assessment.methods import METHODS
from tempocal.assessment.pipeline import Assessment
from tempocal.assessment.verdict import Verdict
from tempocal.assessment.versus import Versus

__all__ = [
    "METHODS",
    "Assessment",
    "Discrimination",
    "Verdict",
    "Versus",
    "assess",
    "assess_table",
]
