"""Laws that hold whatever the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tempocal as tc
from support.calibrators import ALL, at_fixed_shrinkage
from support.examples import examples

every_kind = pytest.mark.parametrize("kind", ALL)
finite = st.floats(-20, 20, allow_nan=False, width=32)
# Few examples each, for eleven calibrators; a fit that stands at a bound says so, and so do logits
# that could be probabilities.
quick = examples(15)
pytestmark = [
    pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning"),
    pytest.mark.filterwarnings("ignore::tempocal.errors.LooksLikeProbabilitiesWarning"),
]


@st.composite
def labelled_logits(draw, n_classes=None):
    """Logits of two classes in one column or of three, with every class among the labels."""
    n_classes = n_classes or draw(st.sampled_from([2, 3]))
    n = draw(st.integers(n_classes, 30))
    z = draw(arrays(np.float64, n if n_classes == 2 else (n, n_classes), elements=finite))
    y = draw(arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    y[:n_classes] = np.arange(n_classes)
    return z, y


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@every_kind
@given(data=labelled_logits())
@quick
def test_probabilities_are_probabilities_and_agree_with_the_logits(kind, data):
    z, y = data
    cal = at_fixed_shrinkage(kind).fit(z, y)
    p = cal.predict_proba(z)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    decision = cal.decision_function(z)
    if decision.ndim == 1:
        close(p[:, 1], 1 / (1 + np.exp(-decision)))
    else:
        shifted = np.exp(decision - decision.max(axis=1, keepdims=True))
        close(p, shifted / shifted.sum(axis=1, keepdims=True))
    close(np.exp(cal.predict_log_proba(z)), p)


@every_kind
@given(data=labelled_logits(), seed=st.integers(0, 100))
@quick
def test_the_order_of_the_rows_does_not_matter(kind, data, seed):
    z, y = data
    order = np.random.default_rng(seed).permutation(len(y))
    a = at_fixed_shrinkage(kind).fit(z, y)
    b = at_fixed_shrinkage(kind).fit(z[order], y[order])
    close(a.predict_proba(z), b.predict_proba(z))


@every_kind
@given(data=labelled_logits(n_classes=3), order=st.permutations([0, 1, 2]))
@quick
def test_the_order_of_the_classes_does_not_matter(kind, data, order):
    z, y = data
    renamed = np.argsort(order)[y]
    a = at_fixed_shrinkage(kind).fit(z, y).predict_proba(z)
    b = at_fixed_shrinkage(kind).fit(z[:, order], renamed).predict_proba(z[:, order])
    close(a[:, order], b)


@every_kind
@given(data=labelled_logits(), draw=st.data())
@quick
def test_a_weight_is_a_repetition(kind, data, draw):
    z, y = data
    counts = draw.draw(arrays(np.int64, len(y), elements=st.integers(0, 3)))
    counts[:3] = np.maximum(counts[:3], 1)
    weighted = at_fixed_shrinkage(kind).fit(z, y, sample_weight=counts)
    repeated = at_fixed_shrinkage(kind).fit(np.repeat(z, counts, axis=0), np.repeat(y, counts))
    close(weighted.predict_proba(z), repeated.predict_proba(z))
    assert weighted.summary().nll_after == pytest.approx(repeated.summary().nll_after, abs=1e-9)


@pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration])
@given(data=labelled_logits(), draw=st.data())
@quick
def test_a_weight_is_a_repetition_for_the_strength_too(kind, data, draw):
    """The evidence is made of sums, so the strength it chooses obeys the same law."""
    z, y = data
    counts = draw.draw(arrays(np.int64, len(y), elements=st.integers(1, 3)))
    weighted = kind().fit(z, y, sample_weight=counts)
    repeated = kind().fit(np.repeat(z, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict_proba(z), repeated.predict_proba(z), atol=1e-5)


@pytest.mark.parametrize(
    "kind", [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration, tc.DirichletCalibration]
)
@given(data=labelled_logits(n_classes=3), shift=st.integers(-30, 30))
@quick
def test_a_shift_of_all_logits_of_a_row_does_not_matter(kind, data, shift):
    z, y = data
    shifts = shift * np.linspace(-1, 1, len(y))[:, None]
    a = at_fixed_shrinkage(kind).fit(z, y).predict_proba(z)
    b = at_fixed_shrinkage(kind).fit(z + shifts, y).predict_proba(z + shifts)
    close(a, b)


@given(data=labelled_logits())
@quick
def test_temperature_keeps_every_rank_and_every_decision(data):
    z, y = data
    cal = tc.TemperatureScaling().fit(z, y)
    decision = cal.decision_function(z)
    assert cal.inverse_temperature_ > 0
    if z.ndim == 1:
        # Equal logits stay equal and distinct ones stay in order, unless they round together.
        order = np.argsort(z, kind="stable")
        assert (np.diff(decision[order]) >= 0).all()
        assert (np.sign(decision) == np.sign(z)).all()
    else:
        assert (decision.argmax(axis=1) == z.argmax(axis=1)).all()


@pytest.mark.parametrize("kind", [tc.BetaCalibration, tc.IsotonicCalibration])
@given(data=labelled_logits(n_classes=2))
@quick
def test_monotone_methods_never_swap_two_rows(kind, data):
    z, y = data
    grid = np.linspace(-25, 25, 201)
    assert (np.diff(kind().fit(z, y).decision_function(grid)) >= -1e-12).all()


@every_kind
@given(data=labelled_logits())
@quick
def test_labels_may_be_anything(kind, data):
    z, y = data
    names = np.array(["draw", "lost", "won"])
    a = at_fixed_shrinkage(kind).fit(z, y)
    b = at_fixed_shrinkage(kind).fit(z, names[y])
    np.testing.assert_array_equal(a.predict_proba(z), b.predict_proba(z))
    np.testing.assert_array_equal(names[a.predict(z)], b.predict(z))


@pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.VectorScaling])
@given(data=labelled_logits())
@quick
def test_a_fit_is_never_worse_than_doing_nothing_on_its_own_rows(kind, data):
    z, y = data
    summary = kind(shrinkage=1.0).fit(z, y).summary()
    assert summary.nll_after <= summary.nll_before + 1e-9


@given(data=labelled_logits(n_classes=2))
@quick
def test_platts_fit_is_never_worse_on_the_targets_that_it_has(data):
    """These are smoothed, so that on the labels of few rows it may well be worse."""
    z, y = data
    counts = np.bincount(y)
    targets = np.where(y == 1, (counts[1] + 1) / (counts[1] + 2), 1 / (counts[0] + 2))

    def objective(slope, bias):
        eta = slope * z + bias
        losses = np.logaddexp(0.0, eta) - targets * eta
        return losses.sum() + 0.5 * ((slope - 1.0) ** 2 + bias**2)

    found = tc.PlattScaling(shrinkage=1.0).fit(z, y).map_.maps[0]
    assert objective(found.slope, found.bias) <= objective(1.0, 0.0) + 1e-9
