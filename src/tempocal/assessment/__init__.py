"""Assess calibration along time: fit, evaluate on held-out rows, and state a verdict."""

from tempocal.assessment.assessing import assess, assess_table
from tempocal.assessment.methods import METHODS
from tempocal.assessment.pipeline import Assessment
from tempocal.assessment.verdict import Verdict

__all__ = ["METHODS", "Assessment", "Verdict", "assess", "assess_table"]
