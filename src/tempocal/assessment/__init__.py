"""Whether predictions can be trusted along time, and what to do: fits, judges, and says it."""

from tempocal.assessment.assessing import Assessment, assess
from tempocal.assessment.methods import METHODS
from tempocal.assessment.verdict import Verdict

__all__ = ["METHODS", "Assessment", "Verdict", "assess"]
