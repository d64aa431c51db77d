"""Penalized maximum likelihood: from sums over rows to coefficients and penalty strengths."""

from tempocal.solve.evidence import RegularizedFit, alternative_fit, fit_by_evidence
from tempocal.solve.folds import N_FOLDS, fit_by_folds, fold_codes
from tempocal.solve.group_gradients import design_effect, projected_squares
from tempocal.solve.laplace import FixedStrengths
from tempocal.solve.minimize import fit
from tempocal.solve.newton import minimize_newton
from tempocal.solve.penalties import Penalty, Strengths
from tempocal.solve.posterior import MovingTargets, Posterior, Scatter, posterior_of, update_fit
from tempocal.solve.problem import MAX_NEWTON_COEFFICIENTS, Problem, Solution
from tempocal.solve.profile import ProfileFit, RateIterate, fit_profile, fit_profile_by_evidence

__all__ = [
    "MAX_NEWTON_COEFFICIENTS",
    "N_FOLDS",
    "FixedStrengths",
    "MovingTargets",
    "Penalty",
    "Posterior",
    "Problem",
    "ProfileFit",
    "RateIterate",
    "RegularizedFit",
    "Scatter",
    "Solution",
    "Strengths",
    "alternative_fit",
    "design_effect",
    "fit",
    "fit_by_evidence",
    "fit_by_folds",
    "fit_profile",
    "fit_profile_by_evidence",
    "fold_codes",
    "minimize_newton",
    "posterior_of",
    "projected_squares",
    "update_fit",
]
