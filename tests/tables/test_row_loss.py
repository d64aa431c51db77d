"""Formulas of the loss and its derivatives say what rows in memory say."""

import numpy as np
import pytest

from tempocal.formula import evaluate
from tempocal.formula.nodes import Column, Number
from tempocal.rows import LINE, ODDS, LabeledLogits, ScaledSoftmax, Sigmoid, Softmax
from tempocal.tables.row_loss import pairs, terms_of

BETA = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
TWO = [Sigmoid(ODDS), Sigmoid(LINE, 1, 0.1, 0.8), Sigmoid(BETA)]
THREE = [
    Sigmoid(LINE, 2),
    Sigmoid(BETA, 0),
    ScaledSoftmax(),
    Softmax(3, diagonal=True),
    Softmax(3, diagonal=False),
    Softmax(3, diagonal=False, of_log_proba=True),
]


@pytest.mark.parametrize("size", [1.0, 30.0])
@pytest.mark.parametrize(
    ("predictor", "columns"), [(one, 1) for one in TWO] + [(one, 3) for one in THREE]
)
def test_terms_add_up_to_the_sums_of_rows(predictor, columns, size):
    rng = np.random.default_rng(0)
    n, width, n_classes = 50, predictor.n_coefficients, max(columns, 2)
    z = size * rng.normal(size=(n, columns))
    labels = rng.integers(0, n_classes, n)
    theta = rng.uniform(0.2, 1.5, width)
    known = {f"z{k}": z[:, k] for k in range(columns)} | {"label": labels.astype(float)}
    terms = terms_of(
        predictor, tuple(Column(f"z{k}") for k in range(columns)), [Number(a) for a in theta]
    )
    scores = LabeledLogits(z[:, 0] if columns == 1 else z, labels, n_classes)
    sums = predictor.stored(scores).sums(theta[None])

    def total(term):
        return np.broadcast_to(evaluate(term, known), n).sum()

    scale = 1.0 + np.abs(sums.hessian).max()
    assert total(terms.loss) == pytest.approx(sums.loss[0], rel=1e-12)
    found = [total(term) for term in terms.gradient]
    np.testing.assert_allclose(found, sums.gradient[0], atol=1e-12 * scale)
    found = [total(term) for term in terms.hessian]
    wanted = [sums.hessian[0, p, q] for p, q in pairs(width)]
    np.testing.assert_allclose(found, wanted, atol=1e-11 * scale)


@pytest.mark.parametrize(
    ("predictor", "columns"), [(one, 1) for one in TWO] + [(one, 3) for one in THREE]
)
def test_forecasts_are_those_of_rows(predictor, columns):
    rng = np.random.default_rng(1)
    n, n_classes = 50, max(columns, 2)
    z, labels = rng.normal(size=(n, columns)), rng.integers(0, n_classes, n)
    theta = rng.uniform(0.2, 1.5, predictor.n_coefficients)
    known = {f"z{k}": z[:, k] for k in range(columns)} | {"label": labels.astype(float)}
    names = tuple(Column(f"z{k}") for k in range(columns))
    rows = predictor.stored(LabeledLogits(z[:, 0] if columns == 1 else z, labels, n_classes))

    def forecasts_at(theta):
        return terms_of(predictor, names, [Number(a) for a in theta]).forecasts

    def values(formulas):
        return np.stack([np.broadcast_to(evaluate(each, known), n) for each in formulas])

    found = forecasts_at(theta)
    np.testing.assert_allclose(values(found.p), rows.forecasts(theta[None]), atol=1e-13)
    np.testing.assert_array_equal(values(found.outcomes), rows.outcomes())
    for q, feature in enumerate(found.features):
        step = 1e-6 * (np.arange(len(theta)) == q)
        up, down = values(forecasts_at(theta + step).p), values(forecasts_at(theta - step).p)
        changes = values([found.change(feature, k) for k in range(len(found.p))])
        np.testing.assert_allclose(changes, (up - down) / 2e-6, atol=1e-8)
