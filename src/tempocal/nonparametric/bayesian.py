"""Bayesian binning into quantiles, BBQ (Naeini, Cooper and Hauskrecht, 2015)."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from tempocal.kernels.thread_pool import map_on_cores
from tempocal.links import Array
from tempocal.maps import Steps
from tempocal.nonparametric.bins import edges_at, equal_mass_cuts, mass_ranks, midpoints_between
from tempocal.nonparametric.distinct import Distinct, Positions
from tempocal.nonparametric.ordered import OrderedRows

# A thousand models whose posterior relative to the best is below this cannot change the average.
_NEGLIGIBLE = 1e-20
# The gamma function of this is still finite.
_SMALLEST = 1e-300
# Models that are fitted together: fewer take longer, and many more do not fit the cache.
BATCH = 32


def fit_bayesian(
    rows: OrderedRows,
    *,
    spread: float = 10.0,
    prior_rows: float = 2.0,
) -> Steps:
    """Average equal-mass binnings of many sizes by their posterior probabilities.

    Parameters
    ----------
    rows : OrderedRows
        Log-odds, targets and weights, from `sort_rows`.
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
    probable a priori. Where ties leave fewer bins than requested, B is the number left.

    A model costs O(B log n) on cumulative sums, all of them together O(C^2 n^(2/3) log n).

    Examples
    --------
    >>> from tempocal.nonparametric import sort_rows
    >>> odds, targets = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True])
    >>> fitted = fit_bayesian(sort_rows(odds, targets, None))
    >>> fitted.edges
    array([-1.5, 0. , 1.5])
    >>> fitted.probabilities.round(2)
    array([0.07, 0.15, 0.85, 0.93])
    """
    data = rows.distinct()
    binnings = _binnings(data, spread)
    positives, negatives = np.cumsum(data.positives), data.negatives
    np.cumsum(negatives, out=negatives)
    n_batches = -(-len(binnings) // BATCH)

    def work(batch: int) -> list[_Model]:
        # Every batch has small and large models, so that the cores are equally busy.
        own = binnings[batch::n_batches]
        return _fit_models(data.odds, positives, negatives, own, prior_rows)

    models = [model for own in map_on_cores(work, range(n_batches)) for model in own]
    return _average(data.odds, models)


@dataclass(frozen=True)
class _Model:
    cuts: Positions
    probabilities: Array
    log_evidence: float


def _binnings(data: Distinct, spread: float) -> list[Positions]:
    root = np.cbrt(data.weights.sum())
    most = min(int(np.ceil(spread * root)), len(data.odds))
    fewest = min(max(1, int(root / spread)), most)
    ranks = mass_ranks(data.weights)
    candidates = (equal_mass_cuts(ranks, bins) for bins in range(fewest, most + 1))
    # With ties, several numbers of bins can give the same binning, which must count once.
    return list({cuts.tobytes(): cuts for cuts in candidates}.values())


def _fit_models(
    odds: Array, positives: Array, negatives: Array, binnings: list[Positions], prior_rows: float
) -> list[_Model]:
    """Fit binnings, given cumulative ``positives`` and ``negatives`` over the distinct values."""
    sizes = np.array([len(cuts) + 1 for cuts in binnings])
    starts = np.cumsum(sizes) - sizes
    last, lower, upper = _concatenate_bins(odds, binnings, starts)
    m, n = _bin_sums(positives[last], starts), _bin_sums(negatives[last], starts)
    middles, complements = midpoints_between(lower, upper)
    share = np.repeat(prior_rows / sizes, sizes)
    # Beyond log-odds of about 700 a middle underflows, and at 0 the prior would be improper.
    alpha, beta = (np.maximum(p * share, _SMALLEST) for p in (middles, complements))
    log_evidence = betaln(alpha + m, beta + n) - betaln(alpha, beta)
    probabilities = (alpha + m) / (alpha + beta + m + n)
    return [
        _Model(*model)
        for model in zip(
            binnings,
            np.split(probabilities, starts[1:]),
            np.add.reduceat(log_evidence, starts).tolist(),
            strict=True,
        )
    ]


def _concatenate_bins(
    odds: Array, binnings: list[Positions], starts: Positions
) -> tuple[Positions, Array, Array]:
    """Last value and edges of the bins of all binnings; ``starts`` are their first bins."""
    bins = sum(len(cuts) + 1 for cuts in binnings)
    is_inner = np.ones(bins, dtype=np.bool_)
    is_inner[starts - 1] = False  # last bin of the previous binning; index -1 is that of the last
    last, upper = np.full(bins, len(odds) - 1), np.full(bins, np.inf)
    last[is_inner] = np.concatenate(binnings)
    upper[is_inner] = edges_at(odds, last[is_inner])
    lower = np.append(-np.inf, upper[:-1])
    lower[starts] = -np.inf
    return last, lower, upper


def _bin_sums(cumulative: Array, starts: Positions) -> Array:
    """Differences of cumulative sums that start again from zero at ``starts``."""
    sums = np.diff(cumulative, prepend=0.0)
    sums[starts] = cumulative[starts]
    return sums


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
    # Every model is below 1, but 1 - 1e-20 rounds to 1.
    inside = np.clip(probabilities, _SMALLEST, np.nextafter(1.0, 0.0))
    return Steps(edges_at(odds, cuts), inside)
