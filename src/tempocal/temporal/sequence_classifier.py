"""Calibration of a model along growing sequences: cut prefixes, score them, fit along time."""

import sys
from collections.abc import Callable
from copy import copy
from itertools import islice
from math import inf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.summary import Summary
from tempocal.errors import InputError
from tempocal.inputs import check_positive_int
from tempocal.links import Array
from tempocal.sequences import Prefixes, prefixes, truncate
from tempocal.sequences.lengths import lengths_of, one_for_each
from tempocal.temporal.auto import AutoTemporalCalibrator
from tempocal.temporal.prefix_model import check_output, concatenate, scoring_function


class CalibratedSequenceClassifier(ClassifierMixin, BaseEstimator):
    """Calibrate a model that predicts the class of growing sequences.

    `fit` cuts complete sequences into prefixes, scores the prefixes with the model and fits the
    calibrator along their time, with each sequence as a group. The model must be fitted already,
    and **never on the sequences that it is calibrated with**, on which it is overconfident. To keep
    the result, save the model in its own way, and the calibrator with
    ``clf.calibrator_.save(path)``.

    Parameters
    ----------
    model : callable or classifier
        Scores a list of prefixes. A callable returns logits or probabilities, depending on
        ``calibrator.inputs``, as an array of shape (n,), (n, 1) or (n, K). Of a scikit-learn
        classifier `predict_proba` is called with ``inputs="proba"``. With ``inputs="logits"`` it is
        `decision_function`, or if there is none, the logarithm of `predict_proba`, which are
        softmax logits. Columns are its ``classes_``; without them, the calibrator's or the sorted
        labels.
    calibrator : calibrator, default=None
        A calibrator along time, or one that ignores time; None is ``AutoTemporalCalibrator()``. If
        its ``td_horizon`` is a number, prefixes also learn from longer ones of their sequence.
    cuts : int or None, default=5
        Number of random cut points of each sequence, see `tempocal.sequences.truncate`; None takes
        all prefixes.
    time : callable, default=None
        Returns the time of a prefix; None takes the length of the prefix.
    weighted : bool, default=False
        Whether to weight the cuts by the length of their sequence, so that they represent all
        prefixes. If not, all sequences have equal weight, as in the paper. It has no effect with
        ``cuts=None``.
    batch_size : int, default=1024
        Number of prefixes that are scored at once.
    random_state : int or None, default=0
        Seed of the cut points; None draws new ones at every fit.

    Attributes
    ----------
    calibrator_ : calibrator
        The fitted calibrator.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.
    n_prefixes_ : int
        Number of prefixes that it was fitted to.

    Examples
    --------
    Who wins more rounds than not? A lead of two says less, the more rounds it took. The model says
    0.9 each time; Bayes' rule 0.9, 0.8 and 0.7.

    >>> import numpy as np
    >>> import tempocal as tc
    >>> rng = np.random.default_rng(3)
    >>> skill = rng.random(400)
    >>> rounds = ["".join(np.where(rng.random(12) < one, "w", "l")) for one in skill]
    >>> def lead(prefixes):
    ...     return [prefix.count("w") - prefix.count("l") for prefix in prefixes]
    >>> clf = tc.CalibratedSequenceClassifier(lead, tc.TemporalCalibrator())
    >>> clf = clf.fit(rounds, skill > 0.5)
    >>> clf.predict_proba(["ww", "wwlwlw", "wwlwlwlwlwlw"])[:, 1].round(1)
    array([0.9, 0.8, 0.7])
    """

    def __init__(
        self,
        model: Any,
        calibrator: Any = None,
        *,
        cuts: int | None = 5,
        time: Callable[[Any], Any] | None = None,
        weighted: bool = False,
        batch_size: int = 1024,
        random_state: Any = 0,
    ) -> None:
        self.model = model
        self.calibrator = calibrator
        self.cuts = cuts
        self.time = time
        self.weighted = weighted
        self.batch_size = batch_size
        self.random_state = random_state

    calibrator_: Any
    classes_: NDArray[Any]
    n_prefixes_: int

    def fit(self, sequences: Any, y: Any, groups: Any = None) -> Self:
        """Fit the calibrator to complete sequences that the model was not fitted to.

        ``y`` is the class of each sequence. ``groups`` are clusters of sequences that are not
        independent of each other, such as stays of one patient; by default each sequence is one.
        """
        cut = self._cut_sequences(sequences, y, groups)
        calibrator = _with_classes(self.calibrator, getattr(self.model, "classes_", None))
        scored = self._score_prefixes(cut, sequences, calibrator)
        # Weights count repetitions of rows, so they should have a mean of 1.
        weight = cut.weight / cut.weight.mean() if self.weighted else None
        follows = _sequence_and_order(cut) if _learns_from_forecasts(calibrator) else {}
        calibrator.fit(**scored, y=cut.label, groups=cut.id, sample_weight=weight, **follows)
        self.calibrator_, self.classes_ = calibrator, calibrator.classes_
        self.n_prefixes_ = len(cut)
        return self

    def decision_function(self, sequences: Any) -> Array:
        """Calibrated logits of each sequence so far: (n,) for two classes, else (n, K)."""
        return np.asarray(self._predict_with("decision_function", sequences))

    def predict_log_proba(self, sequences: Any) -> Array:
        """Log-probability of each class, of shape (n, K), for each sequence so far."""
        return np.asarray(self._predict_with("predict_log_proba", sequences))

    def predict_proba(self, sequences: Any) -> Array:
        """Probability of each class, of shape (n, K), for each sequence so far."""
        return np.asarray(self._predict_with("predict_proba", sequences))

    def predict(self, sequences: Any) -> NDArray[Any]:
        """Most probable class of each sequence so far."""
        return np.asarray(self._predict_with("predict", sequences))

    def summary(self) -> Summary:
        """Summarize the fit of the calibrator."""
        check_is_fitted(self, "calibrator_")
        return self.calibrator_.summary()  # type: ignore[no-any-return]

    def __sklearn_clone__(self) -> Self:
        # Clones share the model: scikit-learn would clone it too, and lose its fit.
        bare = copy(self)
        bare.model = None
        fresh: Self = super(CalibratedSequenceClassifier, bare).__sklearn_clone__()
        fresh.model = self.model
        return fresh

    def _cut_sequences(self, sequences: Any, y: Any, groups: Any) -> Prefixes:
        count = len(lengths_of(sequences))
        labels = one_for_each(y, count, "y")
        ids = None if groups is None else one_for_each(groups, count, "groups")
        if self.cuts is None:
            return prefixes(sequences, labels=labels, ids=ids)
        k = check_positive_int(self.cuts, "cuts")
        return truncate(sequences, k, labels=labels, ids=ids, seed=self.random_state)

    def _predict_with(self, method: str, sequences: Any) -> Any:
        check_is_fitted(self, "calibrator_")
        # With this spacing the only prefix of a sequence is itself.
        complete = prefixes(sequences, every=sys.maxsize)
        return getattr(self.calibrator_, method)(
            **self._score_prefixes(complete, sequences, self.calibrator_)
        )

    def _score_prefixes(self, cut: Prefixes, sequences: Any, calibrator: Any) -> dict[str, Any]:
        """Score prefixes with the model, and return the arguments of the calibrator."""
        score = scoring_function(self.model, calibrator.inputs)
        size, time_of = check_positive_int(self.batch_size, "batch_size"), _time_function(self.time)
        outputs, times, remaining = list[Array](), list[Any](), cut.take(sequences)
        while batch := list(islice(remaining, size)):
            times.extend(map(time_of, batch))
            outputs.append(check_output(score(batch), len(batch)))
        scored = {"logits": concatenate(outputs)}
        return {**scored, "time": times} if has_fit_parameter(calibrator, "time") else scored


def _learns_from_forecasts(calibrator: Calibrator) -> bool:
    """Whether a horizon was set by which rows learn from those that follow."""
    return getattr(calibrator, "td_horizon", "auto") not in ("auto", inf)


def _sequence_and_order(cut: Prefixes) -> dict[str, Any]:
    """Prefixes lie in order already, in which the same one may come twice."""
    return {"sequence": cut.sequence, "order": np.arange(len(cut))}


def _with_classes(calibrator: Any, classes: Any) -> Any:
    """Clone the calibrator, and set its classes to those of the model's columns."""
    fresh = AutoTemporalCalibrator() if calibrator is None else calibrator
    if not isinstance(fresh, Calibrator):
        raise InputError(
            f"calibrator must be one such as TemporalCalibrator(), but it is {fresh!r}"
        )
    owner = fresh = clone(fresh)
    if classes is None:
        return fresh
    if "classes" not in fresh.get_params(deep=False):
        # TemporalCalibrator has them in its inner calibrator, which may be None.
        owner = fresh.calibrator = fresh._calibrator_and_curve()[0]
    own, columns = (np.asarray(one).tolist() for one in (owner.classes, classes))
    if own not in (None, columns):
        raise InputError(
            f"the calibrator has classes={own}, but the columns of the model are {columns}: leave "
            "classes out, and those of the model are taken"
        )
    owner.set_params(classes=classes)
    return fresh


def _time_function(time: Any) -> Callable[[Any], Any]:
    if not (time is None or callable(time)):
        raise InputError(f"time must be None or a callable of a prefix, but it is {time!r}")
    return len if time is None else time
