"""From sums over rows to coefficients, at a given strength of shrinkage or one from the data."""

from tempocal.solve.blockwise_newton import fit_separately
from tempocal.solve.design_effect import design_effect
from tempocal.solve.evidence import Shrunk, doubt, fit_by_evidence
from tempocal.solve.folds import N_FOLDS, fit_by_folds, fold_codes
from tempocal.solve.group_gradients import squares_along
from tempocal.solve.minimize import fit
from tempocal.solve.newton import minimize_newton
from tempocal.solve.penalties import Penalty, Strengths
from tempocal.solve.posterior import Memory, Scatter, go_on, remember
from tempocal.solve.problem import MOST_NEWTON_COEFFICIENTS, Problem, Solution
from tempocal.solve.profile import Place, Profiled, fit_profile, fit_profile_by_evidence
from tempocal.solve.quadratic import Wanted

__all__ = [
    "MOST_NEWTON_COEFFICIENTS",
    "N_FOLDS",
    "Memory",
    "Penalty",
    "Place",
    "Problem",
    "Profiled",
    "Scatter",
    "Shrunk",
    "Solution",
    "Strengths",
    "Wanted",
    "design_effect",
    "doubt",
    "fit",
    "fit_by_evidence",
    "fit_by_folds",
    "fit_profile",
    "fit_profile_by_evidence",
    "fit_separately",
    "fold_codes",
    "go_on",
    "minimize_newton",
    "remember",
    "squares_along",
]
