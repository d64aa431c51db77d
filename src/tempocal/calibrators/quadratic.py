"""Slope, curvature and bias on the log-odds."""

from collections.abc import Sequence

from tempocal.calibrators.features import Feature, FeatureCalibrator
from tempocal.formula.nodes import Expression, absolute

# Here the curvature moves log-odds by as much as the slope, at the same penalty.
LARGE_ODDS = 10.0


class QuadraticScaling(FeatureCalibrator):
    """Calibrated log-odds ``slope * z + curvature * z * |z| + bias``; monotone.

    Slope and curvature are at least 0, so that the ranking stays as it is. A positive curvature
    corrects predictions that are underconfident far from one half and less so near it.
    Overconfidence that grows with the log-odds cannot be corrected: that takes a negative one.

    Parameters
    ----------
    shrinkage : "auto", float or pair of floats, default="auto"
        Penalty on the slope towards 1, on ten times the curvature towards 0 (one strength for
        both) and on the bias towards 0; see `TemperatureScaling`.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> cal = tc.QuadraticScaling().fit(matches.logits, matches.label, groups=matches.sequence)
    >>> list(cal.summary().details)[:3]
    ['slope', 'curvature', 'bias']
    """

    def features(self, odds: Expression) -> Sequence[Feature]:
        """Return the log-odds and their signed square."""
        return (
            Feature("slope", odds, identity=1.0, lower=0.0),
            Feature("curvature", odds * absolute(odds), lower=0.0, unit=LARGE_ODDS),
        )
