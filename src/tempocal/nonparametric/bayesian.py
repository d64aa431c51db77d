"""Bayesian binning into quantiles, BBQ (Naeini, Cooper and Hauskrecht, 2015)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from tempocal.links import Array
from tempocal.maps.binary import Steps
from tempocal.nonparametric.bins import edges_at, equal_mass_cuts, mass_ranks, midpoints
from tempocal.nonparametric.distinct import Distinct, Positions
from tempocal.nonparametric.ordered import Ordered

# A thousand models this much less probable than the best cannot change the average in float64.
_NEGLIGIBLE = 1e-20
# Its reciprocal, and so its gamma function, is still finite.
_SMALLEST = 1e-300


def fit_bayesian(
    rows: Ordered,
    *,
    spread: float = 10.0,
    prior_rows: float = 2.0,
) -> Steps:
    """Average equal-mass binnings of many sizes by their posterior probabilities.

    Parameters
    ----------
    rows : Ordered
        Log-odds, targets and weights, as `in_order` has put them.
    spread : float
        The paper's C: from n^(1/3) / C to C * n^(1/3) bins, where n is the total weight.
    prior_rows : float
        The paper's N': pseudo-rows of the prior, shared evenly by the bins of a model.

    Returns
    -------
    Steps
        The average of step functions is itself one, on the union of their edges. Its
        probabilities are never 0 or 1.

    Notes
    -----
    With B bins, p_b the middle of bin b in probability, alpha_b = N' / B * p_b and
    beta_b = N' / B * (1 - p_b), a bin with m_b positives and n_b negatives predicts
    (alpha_b + m_b) / (N' / B + m_b + n_b), and the evidence of the model is the product over bins
    of Beta(alpha_b + m_b, beta_b + n_b) / Beta(alpha_b, beta_b). All distinct binnings are equally
    probable beforehand. Where ties leave fewer bins than asked for, B is the number left.

    A model costs O(B log n) on cumulated sums, all of them together O(C^2 n^(2/3) log n).

    Examples
    --------
    >>> from tempocal.nonparametric import in_order
    >>> odds, targets = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True])
    >>> fitted = fit_bayesian(in_order(odds, targets, None))
    >>> fitted.edges
    array([-1.5, 0. , 1.5])
    >>> fitted.probabilities.round(2)
    array([0.07, 0.15, 0.85, 0.93])
    """
    data = rows.distinct()
    binnings = _binnings(data, spread)
    positives, negatives = np.cumsum(data.positives), data.negatives
    np.cumsum(negatives, out=negatives)
    models = [_fit_model(data.odds, positives, negatives, cuts, prior_rows) for cuts in binnings]
    return _average(data.odds, models)


@dataclass(frozen=True)
class _Model:
    cuts: Positions
    probabilities: Array
    log_evidence: float


def _binnings(data: Distinct, spread: float) -> Iterable[Positions]:
    root = np.cbrt(data.weights.sum())
    most = min(int(np.ceil(spread * root)), len(data.odds))
    fewest = min(max(1, int(root / spread)), most)
    ranks = mass_ranks(data.weights)
    candidates = (equal_mass_cuts(ranks, bins) for bins in range(fewest, most + 1))
    # Ties can make binnings of several sizes the same one, which must not count twice.
    return {cuts.tobytes(): cuts for cuts in candidates}.values()


def _fit_model(
    odds: Array, positives: Array, negatives: Array, cuts: Positions, prior_rows: float
) -> _Model:
    """Fit one binning; ``positives`` and ``negatives`` are cumulated over the distinct values."""
    last = np.append(cuts, len(odds) - 1)
    positives = np.diff(positives[last], prepend=0.0)
    negatives = np.diff(negatives[last], prepend=0.0)
    middles, complements = midpoints(edges_at(odds, cuts))
    # Beyond odds of 700 or so a middle underflows, and at 0 the prior would be improper.
    alpha = np.maximum(middles * prior_rows / len(last), _SMALLEST)
    beta = np.maximum(complements * prior_rows / len(last), _SMALLEST)
    log_evidence = betaln(alpha + positives, beta + negatives) - betaln(alpha, beta)
    probabilities = (alpha + positives) / (alpha + beta + positives + negatives)
    return _Model(cuts, probabilities, float(log_evidence.sum()))


def _average(odds: Array, models: list[_Model]) -> Steps:
    log_evidence = np.array([model.log_evidence for model in models])
    posterior = np.exp(log_evidence - log_evidence.max())
    kept = np.flatnonzero(posterior > _NEGLIGIBLE)
    posterior /= posterior[kept].sum()
    cuts = np.unique(np.concatenate([models[k].cuts for k in kept]))
    last = np.append(cuts, len(odds) - 1)
    probabilities = np.zeros(len(last))
    for k in kept:
        model = models[k]
        probabilities += posterior[k] * model.probabilities[np.searchsorted(model.cuts, last)]
    # Less than certain in every model, but 1 - 1e-20 is no float.
    inside = np.clip(probabilities, _SMALLEST, np.nextafter(1.0, 0.0))
    return Steps(edges_at(odds, cuts), inside)
