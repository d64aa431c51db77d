"""The search over rates is compared with brute force: a fit at each of 400 rates."""

import numpy as np
import pytest

from tempocal.maps import ExponentialBases, ExponentialBasis, ProductBasis
from tempocal.rows import BinaryRows
from tempocal.solve import Penalty, Problem, fit
from tempocal.solve.profile import FASTEST, SLOWEST, fit_profile, fit_profile_by_evidence

STEPS = 30
TIMES = np.arange(float(STEPS))
RATES = np.log(np.geomspace(1e-2, 1e3, 400))
TRUTHS = {
    "rising": lambda t: 1 - 0.7 * np.exp(-t / 6),
    "falling": lambda t: 0.4 + 0.8 * np.exp(-t / 6),
    "fast": lambda t: 1 - 0.8 * np.exp(-3 * t),
    "flat": lambda t: 0.7 + 0.0 * t,
    "linear": lambda t: 0.3 + 0.03 * t,
    "humped": lambda t: 0.4 + 0.8 * np.exp(-(((t - 12) / 5) ** 2)),
}
# Passes of the searches against brute force, to see that there are few.
PASSES: list[int] = []


def simulate(truth, n=400, seed=0, bias=0.0):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, STEPS, size=n)
    t[:2] = 0, STEPS - 1
    z = 2 * rng.normal(size=n)
    p = 1 / (1 + np.exp(-TRUTHS[truth](t) * z - bias * np.cos(t / 9)))
    return z, t, (rng.random(n) < p).astype(float)


def exponential(log_rate):
    rate = np.exp(log_rate) / (STEPS - 1)
    return ExponentialBases(rate, 0.0) if np.ndim(rate) else ExponentialBasis(float(rate), 0.0)


def make_exponential(z, t, y, *, platt, weights=None):
    """Problems at every rate; a penalty is half on the first and half on the last value."""
    features = np.stack([z, np.ones_like(z)]) if platt else z[None]
    rows = BinaryRows(features, y, weights=weights, keys=t.astype(np.intp), n_keys=STEPS)
    identity = np.array([1.0, 0.0]) if platt else np.array([1.0])
    is_bias = identity == 0

    def make(log_rates):
        basis = exponential(log_rates[0])
        ends = basis(TIMES[[0, -1]])
        level = 0.5 * ends.swapaxes(-1, -2) @ ends
        return Problem(
            rows=rows,
            basis=basis(TIMES),
            identity=np.tile(identity, 2),
            penalties=(
                Penalty("slopes", kron_each(level, np.diag(1.0 - is_bias))),
                Penalty("biases", kron_each(level, np.diag(1.0 * is_bias))),
            ),
            lower=np.tile(np.where(is_bias, -np.inf, 1e-6), 2),
            baseline_penalty=np.zeros(2 * len(identity)),
            moment=np.ones((1, 1)),
        )

    return make


def kron_each(level, matrix):
    if level.ndim == 2:
        return np.kron(level, matrix)
    return np.array([np.kron(one, matrix) for one in level])


def objective(make, log_rates, theta, strengths):
    problem = make(log_rates)
    return problem.evaluate(theta, strengths, hessian=False).value


def brute_force(make, strengths, rates=RATES):
    """Return the least objective over a grid of rates."""
    best, start = np.inf, None
    for rate in rates:
        solution = fit(make((float(rate),)), strengths, start)
        start = solution.theta
        best = min(best, objective(make, (float(rate),), solution.theta, strengths))
    return best


@pytest.mark.parametrize("platt", [False, True], ids=["temperature", "platt"])
@pytest.mark.parametrize("strength", [0.0, 1.0])
@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_is_never_worse_than_brute_force(truth, seed, strength, platt):
    z, t, y = simulate(truth, seed=seed, bias=0.4 * platt)
    # All 400 rates once; the other seeds with every eighth, to save time.
    rates = RATES if seed == 0 else RATES[seed::8]
    make, strengths = make_exponential(z, t, y, platt=platt), (strength, strength)
    place = fit_profile(make, 1, strengths)
    PASSES.append(place.solution.passes)
    found = objective(make, place.log_rates, place.theta, strengths)
    assert found <= brute_force(make, strengths, rates) + 1e-6 * len(y)
    assert SLOWEST <= place.log_rates[0] <= FASTEST
    assert place.solution.converged


@pytest.mark.parametrize("scale", [0.05, 30.0])
@pytest.mark.parametrize("truth", ["rising", "falling", "fast"])
def test_is_never_worse_on_logits_of_another_unit(truth, scale):
    z, t, y = simulate(truth)
    make = make_exponential(scale * z, t, y, platt=False)
    place = fit_profile(make, 1, (0.0, 0.0))
    found = objective(make, place.log_rates, place.theta, (0.0, 0.0))
    assert found <= brute_force(make, (0.0, 0.0), RATES[::4]) + 1e-6 * len(y)


def test_few_passes_are_enough():
    """Brute force takes over a thousand; this must run after the comparisons with it."""
    assert PASSES == [] or np.median(PASSES) <= 15
    assert max(PASSES, default=0) <= 60


def test_a_sample_gives_the_start_of_many_rows():
    z, t, y = simulate("rising", n=100_000)
    make = make_exponential(z, t, y, platt=False)
    place = fit_profile(make, 1, (0.0, 0.0))
    found = objective(make, place.log_rates, place.theta, (0.0, 0.0))
    near = np.exp(place.log_rates[0]) / (STEPS - 1)
    assert near == pytest.approx(1 / 6, rel=0.15)
    for rate in place.log_rates[0] + np.linspace(-1, 1, 21):
        solution = fit(make((float(rate),)), (0.0, 0.0), place.theta)
        value = objective(make, (float(rate),), solution.theta, (0.0, 0.0))
        assert found <= value + 1e-6 * len(y)


def test_weights_are_repetitions():
    z, t, y = simulate("rising")
    counts = np.random.default_rng(0).integers(1, 4, size=len(y))
    weighted = make_exponential(z, t, y, platt=True, weights=counts.astype(float))
    repeated = make_exponential(
        np.repeat(z, counts), np.repeat(t, counts), np.repeat(y, counts), platt=True
    )
    a, b = (fit_profile(make, 1, (1.0, 1.0)) for make in (weighted, repeated))
    assert a.log_rates[0] == pytest.approx(b.log_rates[0], abs=1e-3)
    np.testing.assert_allclose(a.theta, b.theta, atol=1e-4)


def test_one_step_below_the_tolerance_is_the_optimum_in_the_rate_too():
    """The derivative of the profile by the rate vanishes, unless the rate is at a limit."""
    z, t, y = simulate("rising", n=2000)
    make = make_exponential(z, t, y, platt=False)
    place = fit_profile(make, 1, (1.0, 1.0))

    def profile(rate):
        solution = fit(make((float(rate),)), (1.0, 1.0), place.theta)
        return objective(make, (float(rate),), solution.theta, (1.0, 1.0)) / len(y)

    here = place.log_rates[0]
    assert profile(here) <= min(profile(here + 0.02), profile(here - 0.02)) + 1e-10
    slope = (profile(here + 1e-3) - profile(here - 1e-3)) / 2e-3
    assert abs(slope) < 1e-5


def make_two(z, t, u, y):
    """Two clocks, an exponential along each."""
    keys = t * STEPS + u
    rows = BinaryRows(z[None], y, keys=keys.astype(np.intp), n_keys=STEPS * STEPS)
    both = np.stack(np.meshgrid(TIMES, TIMES, indexing="ij"), axis=-1).reshape(-1, 2)

    def make(log_rates):
        one, other = (exponential(log_rate) for log_rate in log_rates)
        return Problem(
            rows=rows,
            basis=ProductBasis(one, other)(both),
            identity=np.ones(4),
            penalties=(Penalty("slopes", np.ones(4)),),
            lower=np.full(4, 1e-6),
            baseline_penalty=np.zeros(4),
            moment=np.ones((1, 1)),
        )

    return make


@pytest.mark.parametrize("seed", [0, 1])
def test_two_rates_are_never_worse_than_brute_force_over_both(seed):
    rng = np.random.default_rng(seed)
    n = 500
    t, u = rng.integers(0, STEPS, size=(2, n))
    z = 2 * rng.normal(size=n)
    slope = (1 - 0.7 * np.exp(-t / 6)) * (0.5 + 0.8 * np.exp(-u / 10))
    y = (rng.random(n) < 1 / (1 + np.exp(-slope * z))).astype(float)
    make = make_two(z, t, u, y)
    place = fit_profile(make, 2, (1.0,))
    found = objective(make, place.log_rates, place.theta, (1.0,))
    best = np.inf
    for a in np.linspace(SLOWEST, FASTEST, 8):
        start = place.theta
        for b in np.linspace(SLOWEST, FASTEST, 8):
            solution = fit(make((float(a), float(b))), (1.0,), start)
            best = min(best, objective(make, (float(a), float(b)), solution.theta, (1.0,)))
    assert found <= best + 1e-6 * n


class TestHardCases:
    @pytest.mark.parametrize("platt", [False, True], ids=["temperature", "platt"])
    @pytest.mark.parametrize("strength", [0.0, 1.0])
    def test_separable_data_do_not_crash(self, strength, platt):
        z, t, _ = simulate("rising", n=60)
        make = make_exponential(z, t, (z > 0).astype(float), platt=platt)
        place = fit_profile(make, 1, (strength, strength))
        assert SLOWEST <= place.log_rates[0] <= FASTEST
        assert np.isfinite(place.theta).all()
        assert place.solution.unbounded == (strength == 0.0)

    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_tiny_data_do_not_crash(self, n):
        z, t, y = simulate("rising", n=n)
        make = make_exponential(z, t, y, platt=True)
        place = fit_profile(make, 1, (1.0, 1.0))
        assert np.isfinite(place.theta).all()
        found = objective(make, place.log_rates, place.theta, (1.0, 1.0))
        assert found <= brute_force(make, (1.0, 1.0), RATES[::4]) + 1e-6 * n

    @pytest.mark.parametrize("seed", range(3))
    def test_reversed_labels_end_at_the_bound(self, seed):
        z, t, y = simulate("flat", n=3000, seed=seed)
        make = make_exponential(-z, t, y, platt=False)
        place = fit_profile(make, 1, (0.0, 0.0))
        np.testing.assert_allclose(place.theta, 1e-6, atol=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    def test_curves_that_start_reversed_are_never_worse_than_brute_force(self, seed):
        """Where the bound holds the first value."""
        rng = np.random.default_rng(seed)
        t = rng.integers(0, STEPS, size=400)
        z = 2 * rng.normal(size=400)
        slope = 1 - 1.8 * np.exp(-t / 6)
        y = (rng.random(400) < 1 / (1 + np.exp(-slope * z))).astype(float)
        make = make_exponential(z, t, y, platt=False)
        place = fit_profile(make, 1, (0.0, 0.0))
        found = objective(make, place.log_rates, place.theta, (0.0, 0.0))
        assert found <= brute_force(make, (0.0, 0.0), RATES[::4]) + 1e-6 * 400


class TestStrengthsFromTheData:
    @pytest.mark.parametrize("truth", TRUTHS)
    def test_the_rate_is_the_best_at_the_strengths_that_were_chosen(self, truth):
        z, t, y = simulate(truth)
        make = make_exponential(z, t, y, platt=True)
        fitted = fit_profile_by_evidence(make, 1, None, (None, None))
        strengths, theta = fitted.result.strengths, fitted.result.solution.theta
        assert all(np.isfinite(s) and s > 0 for s in strengths)
        found = objective(make, fitted.log_rates, theta, strengths)
        assert found <= brute_force(make, strengths, RATES[::8]) + 1e-6 * len(y)

    def test_given_strengths_stay_as_given(self):
        z, t, y = simulate("rising")
        make = make_exponential(z, t, y, platt=True)
        assert fit_profile_by_evidence(make, 1, None, (3.0, 0.5)).result.strengths == (3.0, 0.5)
        mixed = fit_profile_by_evidence(make, 1, None, (3.0, None)).result.strengths
        assert mixed[0] == 3.0
        assert mixed[1] != 1.0
