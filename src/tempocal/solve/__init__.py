"""From sums over rows to coefficients, at a given strength of shrinkage or one from the data."""

from tempocal.solve.evidence import Shrunk, fit_by_evidence
from tempocal.solve.fitting import fit
from tempocal.solve.folds import N_FOLDS, fit_by_folds, fold_codes
from tempocal.solve.problem import Problem, Solution, Strength

__all__ = [
    "N_FOLDS",
    "Problem",
    "Shrunk",
    "Solution",
    "Strength",
    "fit",
    "fit_by_evidence",
    "fit_by_folds",
    "fold_codes",
]
