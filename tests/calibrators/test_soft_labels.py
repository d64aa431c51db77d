"""Fits to soft labels: against a general optimizer, and as the rows that they stand for."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax
from sklearn.base import clone

import tempocal as tc
from tempocal.errors import InputError

VOTES = 7
CALIBRATORS = {
    1: (tc.TemperatureScaling(), tc.PlattScaling(), tc.BetaCalibration(), tc.QuadraticScaling()),
    3: (
        tc.TemperatureScaling(),
        tc.PlattScaling(),
        tc.VectorScaling(),
        tc.MatrixScaling(),
        tc.DirichletCalibration(),
    ),
}
CASES = [(columns, each) for columns, some in CALIBRATORS.items() for each in some]
IDS = [f"{type(each).__name__}-{columns}" for columns, each in CASES]
WITHOUT = (
    tc.IsotonicCalibration(),
    tc.HistogramBinning(),
    tc.BayesianBinning(),
    tc.NearIsotonicEnsemble(),
)


def votes(columns, n=120, seed=0):
    """Logits, and how many votes each class has."""
    rng = np.random.default_rng(seed)
    z = 2.0 * rng.normal(size=(n, max(columns, 2)))
    proba = np.exp(log_softmax(0.5 * z + 0.4 * np.eye(z.shape[1])[0], axis=1))
    counts = np.array([rng.multinomial(VOTES, p) for p in proba])
    return (z[:, 1] - z[:, 0], counts) if columns == 1 else (z, counts)


def row_by_row(z, counts):
    """Each vote as a row, and the row that it is of."""
    row = np.repeat(np.arange(len(z)), counts.sum(axis=1))
    return z[row], np.concatenate([np.repeat(np.arange(len(c)), c) for c in counts]), row


def same_model(one, other, z, tolerance=1e-9):
    np.testing.assert_allclose(one.predict_proba(z), other.predict_proba(z), rtol=0, atol=tolerance)


@pytest.mark.parametrize("shrinkage", [0.0, 3.0])
def test_platt_scaling_is_that_of_a_general_optimizer(shrinkage):
    z, counts = votes(1)
    p, w = counts[:, 1] / VOTES, np.random.default_rng(1).uniform(0.5, 3.0, len(z))
    cal = tc.PlattScaling(shrinkage=shrinkage, smooth_targets=False)
    cal.fit(z, p, sample_weight=w, soft_label=True)

    def objective(theta):
        eta = theta[0] * z + theta[1]
        loss = -(p * log_expit(eta) + (1 - p) * log_expit(-eta))
        return w @ loss + shrinkage / 2 * ((theta[0] - 1) ** 2 + theta[1] ** 2)

    best = minimize(objective, [1.0, 0.0], options={"gtol": 1e-10}).x
    np.testing.assert_allclose([cal.slope_[0], cal.bias_[0]], best, atol=1e-6)
    loss = -(p * log_expit(z) + (1 - p) * log_expit(-z))
    assert cal.summary().nll_before == pytest.approx(w @ loss / w.sum(), abs=1e-12)


@pytest.mark.parametrize("shrinkage", [0.0, 2.0])
def test_vector_scaling_is_that_of_a_general_optimizer(shrinkage):
    z, counts = votes(3)
    p = counts / VOTES
    cal = tc.VectorScaling(shrinkage=shrinkage).fit(z, p, soft_label=True)

    def objective(theta):
        loss = -(p * log_softmax(theta[:3] * z + theta[3:], axis=1)).sum()
        return loss + shrinkage / 2 * (((theta[:3] - 1) ** 2).sum() + (theta[3:] ** 2).sum())

    best = minimize(objective, [1.0] * 3 + [0.0] * 3, options={"gtol": 1e-9}).x
    want = np.exp(log_softmax(best[:3] * z + best[3:], axis=1))
    np.testing.assert_allclose(cal.predict_proba(z), want, atol=1e-6)


@pytest.mark.parametrize(("columns", "calibrator"), CASES, ids=IDS)
def test_votes_are_as_many_rows_in_a_group(columns, calibrator):
    z, counts = votes(columns)
    rows, y, row = row_by_row(z, counts)
    soft = clone(calibrator).fit(z, counts / VOTES, [float(VOTES)] * len(z), soft_label=True)
    hard = clone(calibrator).fit(rows, y, groups=row)
    same_model(soft, hard, z)
    found, want = soft.summary(), hard.summary()
    assert (found.n_rows, found.n_groups) == (len(z), len(z))
    assert found.total_weight == pytest.approx(want.total_weight)
    assert found.nll_after == pytest.approx(want.nll_after, abs=1e-9)
    if want.effective_number is not None:
        assert found.effective_number == pytest.approx(want.effective_number, rel=1e-6)


@pytest.mark.parametrize(("columns", "calibrator"), CASES, ids=IDS)
def test_certain_labels_are_labels_to_the_bit(columns, calibrator):
    z, counts = votes(columns)
    y = counts.argmax(axis=1)
    soft = np.eye(counts.shape[1])[y]
    hard = clone(calibrator).fit(z, y)
    for given in (soft, soft[:, 1]) if columns == 1 else (soft,):
        found = clone(calibrator).fit(z, given, soft_label=True)
        np.testing.assert_array_equal(found.predict_proba(z), hard.predict_proba(z))
        assert str(found.summary()) == str(hard.summary())


def test_a_half_is_between_its_neighbors():
    """With all labels 1/2 the bias takes the mean to 1/2, which no single label shows."""
    z = np.linspace(-1.0, 3.0, 200)
    cal = tc.PlattScaling(shrinkage=0.0).fit(z, np.full(200, 0.5), soft_label=True)
    np.testing.assert_allclose(cal.predict_proba(z)[:, 1], 0.5, atol=1e-9)


def test_rows_of_weight_zero_count_for_nothing():
    z, counts = votes(1)
    p, w = counts[:, 1] / VOTES, np.arange(len(z)) % 3.0
    found = tc.PlattScaling().fit(z, p, w, soft_label=True)
    kept = tc.PlattScaling().fit(z[w > 0], p[w > 0], w[w > 0], soft_label=True)
    np.testing.assert_array_equal(found.predict_proba(z), kept.predict_proba(z))
    assert found.summary().n_rows == (w > 0).sum()


def test_many_rows_are_sampled_fairly():
    """So many that few stand for them: the optimum is still that of all."""
    z, counts = votes(1, n=60_000)
    p = counts[:, 1] / VOTES
    cal = tc.PlattScaling(shrinkage=0.0, smooth_targets=False).fit(z, p, soft_label=True)
    residual = cal.predict_proba(z)[:, 1] - p
    assert abs(residual.mean()) < 1e-9
    assert abs((residual * z).mean()) < 1e-9


def test_classes_name_the_columns():
    z, counts = votes(3)
    cal = tc.VectorScaling(classes=["c", "a", "b"]).fit(z, counts / VOTES, soft_label=True)
    assert cal.classes_.tolist() == ["c", "a", "b"]
    assert tc.VectorScaling().fit(z, counts / VOTES, soft_label=True).classes_.tolist() == [0, 1, 2]
    named = pd.DataFrame(counts / VOTES, columns=["a", "b", "c"])
    with pytest.raises(InputError, match=r"the columns of y are named .* but the classes come in"):
        tc.VectorScaling(classes=["c", "a", "b"]).fit(z, named, soft_label=True)


def test_a_class_may_have_no_probability():
    z, counts = votes(3)
    p = counts / VOTES
    p[:, 0], p[:, 1] = 0.0, p[:, 0] + p[:, 1]
    assert tc.VectorScaling().fit(z, p, soft_label=True).predict_proba(z)[:, 0].max() < 0.3


@pytest.mark.parametrize("grouped", [False, True])
def test_partial_fit_goes_on_as_with_votes(grouped):
    z, counts = votes(1)
    # A later call whose labels are all certain.
    counts[80:] = VOTES * np.eye(2, dtype=int)[counts[80:].argmax(axis=1)]
    soft, hard = tc.PlattScaling(), tc.PlattScaling()
    for part in (slice(40), slice(40, 80), slice(80, None)):
        rows, y, row = row_by_row(z[part], counts[part])
        own = np.arange(len(z[part])) // 2 if grouped else None
        soft.partial_fit(
            z[part],
            counts[part, 1] / VOTES,
            groups=own,
            sample_weight=np.full(len(z[part]), float(VOTES)),
            classes=[0, 1],
            soft_label=True,
        )
        hard.partial_fit(rows, y, groups=row if own is None else own[row], classes=[0, 1])
    same_model(soft, hard, z)
    found, want = soft.summary(), hard.summary()
    assert found.n_rows == len(z)
    assert found.n_groups == want.n_groups == len(z) // (1 + grouped)
    assert found.nll_after == pytest.approx(want.nll_after, abs=1e-9)


@pytest.mark.parametrize("calibrator", WITHOUT, ids=lambda one: type(one).__name__)
def test_calibrators_without_coefficients_learn_from_classes(calibrator):
    z, counts = votes(1)
    name = type(calibrator).__name__
    words = f"calibrators with coefficients.*{name} has none"
    with pytest.raises(InputError, match=words):
        clone(calibrator).fit(z, counts[:, 1] / VOTES, soft_label=True)
    along = tc.TemporalCalibrator(clone(calibrator), tc.PerStep())
    with pytest.raises(InputError, match=words):
        along.fit(z, counts[:, 1] / VOTES, time=z, soft_label=True)
    auto = tc.AutoTemporalCalibrator([(clone(calibrator), tc.PerStep())])
    with pytest.raises(InputError, match=words):
        auto.fit(z, counts[:, 1] / VOTES, time=z, soft_label=True)


def test_the_identity_is_measured():
    z, counts = votes(1)
    p = counts[:, 1] / VOTES
    found = tc.Identity().fit(z, p, soft_label=True).summary()
    loss = -(p * np.log(expit(z)) + (1 - p) * np.log(expit(-z))).mean()
    assert found.nll_before == found.nll_after == pytest.approx(loss, abs=1e-12)
    assert found.n_rows == len(z)


def test_soft_labels_are_never_inferred():
    with pytest.raises(InputError, match=r"fractions such as 0.3.*continuous; .*soft_label=True"):
        tc.PlattScaling().fit([0.0, 1.0, 2.0], [0.3, 0.5, 1.0])
    with pytest.raises(InputError, match="soft_label must be True or False, but it is 'yes'"):
        tc.PlattScaling().fit([0.0, 1.0], [0.3, 0.5], soft_label="yes")


def test_a_saved_model_predicts_the_same(tmp_path):
    z, counts = votes(3)
    cal = tc.DirichletCalibration().fit(z, counts / VOTES, soft_label=True)
    cal.save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(z), cal.predict_proba(z))
