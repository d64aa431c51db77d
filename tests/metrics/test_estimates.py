import copy
import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

from tempocal.metrics import ece

ERROR = ece([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9])


def test_is_a_float():
    assert ERROR == ERROR.value == pytest.approx(0.125)
    assert hash(ERROR) == hash(ERROR.value)
    assert f"{ERROR:.2e} {ERROR}" == f"{ERROR.value:.2e} {ERROR.value}"
    assert json.loads(json.dumps(ERROR)) == ERROR.value
    assert np.mean([ERROR, 0.0]) == ERROR.value / 2


@pytest.mark.parametrize("again", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_keep_everything(again):
    copied = again(ERROR)
    assert (copied, copied.value, copied.estimator) == (ERROR, ERROR.value, ERROR.estimator)
    np.testing.assert_array_equal(copied.bins.confidence, ERROR.bins.confidence)


def test_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        ERROR.value = 0.0


def test_bins_are_a_tidy_table():
    table = pd.DataFrame(vars(ERROR.bins))
    names = ["lower", "upper", "count", "weight", "confidence", "frequency"]
    assert list(table) == [*names, "groups", "lower_frequency", "upper_frequency"]
    filled = table.dropna()
    gap = (filled["confidence"] - filled["frequency"]).abs()
    assert (gap * filled["weight"]).sum() / filled["weight"].sum() == pytest.approx(ERROR)


def test_is_a_score_of_scikit_learn():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = np.where(random.random(300) < 0.5, "lost", "won")
    scorer = make_scorer(ece, response_method="predict_proba", greater_is_better=False)
    scores = cross_val_score(LogisticRegression(), X, y, scoring=scorer)
    assert ((scores < 0) & (scores > -0.5)).all()
