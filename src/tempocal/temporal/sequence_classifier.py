"""From whole sequences and a model of prefixes to calibrated probabilities of growing ones."""

import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from tempocal.calibrators.summary import Summary
from tempocal.errors import InputError
from tempocal.inputs import check_whole
from tempocal.links import Array
from tempocal.sequences import Prefixes, prefixes, truncate
from tempocal.sequences.lengths import lengths_of, one_for_each
from tempocal.temporal.calibrator import TemporalCalibrator


def _default() -> Any:
    return TemporalCalibrator()


class CalibratedSequenceClassifier(ClassifierMixin, BaseEstimator):
    """Calibrate a model along the sequences that it watches growing.

    `fit` cuts whole sequences short, scores the prefixes with the model and fits the calibrator
    along their time, each sequence a group. The model is not fitted here: it comes fitted, and
    **never on the sequences that it is calibrated with**, which it would know too well. To keep a
    fitted classifier, save both of its parts: ``clf.calibrator_.save(path)``, and the model.

    Parameters
    ----------
    model : callable or classifier
        Gives a row for each of a list of prefixes. A callable returns what ``calibrator.inputs``
        says, logits or probabilities, as an array of shape (n,), (n, 1) or (n, K). Of a
        scikit-learn classifier `predict_proba` is asked with ``inputs="proba"``; with
        ``inputs="logits"`` `decision_function`, or, where there is none, `predict_proba`, whose
        logarithms are then softmax logits. Its ``classes_`` are the classes of the columns;
        without them these are the calibrator's, or the sorted labels. Clones share the model.
    calibrator : calibrator, default=None
        Along time, or a global one, which is not told the time; None is ``TemporalCalibrator()``.
    cuts : int or None, default=5
        Random cut points of each sequence, as `tempocal.sequences.truncate` draws them; None takes
        all prefixes.
    time : callable, default=None
        From a prefix to its time; None takes the length of the prefix.
    weighted : bool, default=False
        Whether random cuts stand for all prefixes, so that long sequences count more. Otherwise
        each sequence counts alike, as in the paper. Without effect on all prefixes.
    batch_size : int, default=1024
        How many prefixes are made and passed to the model at once.
    random_state : int or None, default=0
        Seed of the cut points; None draws others at every fit.

    Attributes
    ----------
    calibrator_ : calibrator
        The fitted one.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.
    n_prefixes_ : int
        How many prefixes it was fitted to.

    Examples
    --------
    Players win and lose rounds; which are the better ones? A round says less than the model thinks.

    >>> import numpy as np
    >>> import tempocal as tc
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.random(400)
    >>> rounds = ["".join(np.where(rng.random(12) < one, "w", "l")) for one in skill]
    >>> def lead(prefixes):
    ...     return [prefix.count("w") - prefix.count("l") for prefix in prefixes]
    >>> clf = tc.CalibratedSequenceClassifier(lead, tc.TemporalCalibrator(curve=tc.Spline()))
    >>> clf = clf.fit(rounds, skill > 0.5)
    >>> clf.predict_proba(["w", "wlww", "wlwwlwwlwlww"])[:, 1].round(2)
    array([0.7 , 0.8 , 0.87])
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
        random_state: int | None = 0,
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
        """Fit the calibrator to whole sequences that the model was not fitted to.

        Parameters
        ----------
        sequences : list of sequences
            Anything with ``len()`` and slicing: strings, lists of words, arrays along time.
        y : array-like
            Class of each sequence, labels of any kind.
        groups : array-like, default=None
            Cluster of each sequence, where some are not independent; None: each is its own.

        Returns
        -------
        self
        """
        cut = self._cut(sequences, y, groups)
        calibrator = _with_classes(_checked(self.calibrator), getattr(self.model, "classes_", None))
        scored = self._score(cut, sequences, calibrator)
        # A weight is how often a row was seen, and on average these were seen once.
        weight = cut.weight / cut.weight.mean() if self.weighted else None
        calibrator.fit(
            scored.scores, cut.label, groups=cut.id, sample_weight=weight, **scored.clock
        )
        self.calibrator_, self.classes_ = calibrator, calibrator.classes_
        self.n_prefixes_ = len(cut)
        return self

    def decision_function(self, sequences: Any) -> Array:
        """Calibrated logits of each sequence as it stands: (n,) for two classes, else (n, K)."""
        return np.asarray(self._ask("decision_function", sequences))

    def predict_log_proba(self, sequences: Any) -> Array:
        """Log-probability of each class, of shape (n, K), for each sequence as it stands."""
        return np.asarray(self._ask("predict_log_proba", sequences))

    def predict_proba(self, sequences: Any) -> Array:
        """Probability of each class, of shape (n, K), for each sequence as it stands."""
        return np.asarray(self._ask("predict_proba", sequences))

    def predict(self, sequences: Any) -> NDArray[Any]:
        """Most probable class of each sequence as it stands."""
        return np.asarray(self._ask("predict", sequences))

    def summary(self) -> Summary:
        """Tell what the fit of the calibrator did."""
        check_is_fitted(self, "calibrator_")
        return self.calibrator_.summary()  # type: ignore[no-any-return]

    def __sklearn_clone__(self) -> Self:
        # scikit-learn would clone the model too, and a clone of it is not fitted.
        bare = copy(self)
        bare.model = None
        fresh: Self = super(CalibratedSequenceClassifier, bare).__sklearn_clone__()
        fresh.model = self.model
        return fresh

    def _cut(self, sequences: Any, y: Any, groups: Any) -> Prefixes:
        count = len(lengths_of(sequences))
        labels = one_for_each(y, count, "y")
        ids = None if groups is None else one_for_each(groups, count, "groups")
        if self.cuts is None:
            return prefixes(sequences, labels=labels, ids=ids)
        k = check_whole(self.cuts, "cuts")
        return truncate(sequences, k, labels=labels, ids=ids, seed=self.random_state)

    def _ask(self, method: str, sequences: Any) -> Any:
        check_is_fitted(self, "calibrator_")
        # A step beyond the longest leaves of each sequence the whole.
        now = prefixes(sequences, every=sys.maxsize)
        scored = self._score(now, sequences, self.calibrator_)
        return getattr(self.calibrator_, method)(scored.scores, **scored.clock)

    def _score(self, cut: Prefixes, sequences: Any, calibrator: Any) -> "_Scored":
        ask, size = (
            _scorer(self.model, calibrator.inputs),
            check_whole(self.batch_size, "batch_size"),
        )
        scores: list[Array] = []
        times: list[Any] = []
        walk = cut.take(sequences)
        while batch := list(islice(walk, size)):
            times += [] if self.time is None else map(self.time, batch)
            scores.append(_rows(ask, batch))
        # A global calibrator has no use for the time.
        timed = has_fit_parameter(calibrator, "time")
        time = cut.length if self.time is None else times
        return _Scored(_joined(scores), {"time": time} if timed else {})


@dataclass(frozen=True)
class _Scored:
    """What the model says of prefixes, and the keyword that tells their time."""

    scores: Array
    clock: dict[str, Any]


def _checked(calibrator: Any) -> Any:
    calibrator = _default() if calibrator is None else calibrator
    if isinstance(calibrator, type) or not hasattr(calibrator, "inputs"):
        raise InputError(
            f"calibrator must be one such as TemporalCalibrator(), but it is {calibrator!r}"
        )
    return calibrator


def _with_classes(calibrator: Any, classes: Any) -> Any:
    """Clone a calibrator, which is to know the classes of the model's columns."""
    fresh = clone(calibrator)
    if classes is None:
        return fresh
    owner = fresh
    if "classes" not in fresh.get_params(deep=False):
        # Along time it is the calibrator within that knows them, and None stands for one.
        owner = fresh.calibrator = fresh._parts()[0]
    if owner.classes is not None and list(owner.classes) != list(classes):
        raise InputError(
            f"classes of the calibrator are {list(owner.classes)}, but the columns of the model "
            f"are {list(classes)}: leave them out, the model's are taken"
        )
    owner.set_params(classes=classes)
    return fresh


def _scorer(model: Any, inputs: str) -> Callable[[list[Any]], Any]:
    """Choose what the model is asked for."""
    proba = getattr(model, "predict_proba", None)
    decide = getattr(model, "decision_function", None)
    if isinstance(model, type) or not (proba or decide or callable(model)):
        raise InputError(
            "model must be a callable of a list of prefixes, or a fitted classifier with "
            f"predict_proba or decision_function, but it is {model!r}"
        )
    if not (proba or decide):
        return model  # type: ignore[no-any-return]
    if inputs == "proba":
        ...
