"""Whether predictions can be trusted along time, and what to do: fits, judges, and says it."""

from tempocal.assessment.assessing import assess, assess_table
from tempocal.assessment.methods import METHODS
from tempocal.assessment.pipeline import Assessment
from tempocal.assessment.verdict import Verdict

__all__ = ["METHODS", "Assessment", "Verdict", "assess", "assess_table"]
