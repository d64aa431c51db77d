"""The quadratic at the keys is compared with one problem after the other."""

import numpy as np
import pytest

from tempocal.rows import BinaryRows, Sums
from tempocal.solve.linear_systems import bounded_steps
from tempocal.solve.profile import _local_minima
from tempocal.solve.rate_search import Bracket, KeyQuadratic, shifted_sums

KEYS, RATES = 20, 9
WIDTHS = pytest.mark.parametrize("width", [1, 2, 3])


def make_quadratic(width, count, lower):
    rng = np.random.default_rng(width)
    roots = rng.normal(size=(KEYS, width, width + 2))
    n = count * width
    return KeyQuadratic(
        center=rng.normal(size=(KEYS, width)),
        loss=7.0,
        sums=Sums(
            np.full(KEYS, 7.0 / KEYS), rng.normal(size=(KEYS, width)), roots @ roots.swapaxes(1, 2)
        ),
        identity=np.ones(n),
        lower=np.full(n, lower),
        weight=100.0,
    )


def make_bases(count):
    return np.random.default_rng(count).dirichlet(np.ones(count), size=(RATES, KEYS))


def written_out(quadratic, basis, penalty_matrix, theta):
    """Return the value, the gradient and the Hessian in the coefficients, key by key."""
    width = quadratic.center.shape[1]
    offset = theta - quadratic.identity
    value = quadratic.loss + 0.5 * offset @ penalty_matrix @ offset
    gradient, hessian = penalty_matrix @ offset, penalty_matrix.copy()
    for t in range(KEYS):
        spread = np.kron(basis[t], np.eye(width))
        displacement = spread @ theta - quadratic.center[t]
        slope = quadratic.sums.gradient[t] + quadratic.sums.hessian[t] @ displacement
        value += 0.5 * displacement @ (quadratic.sums.gradient[t] + slope)
        gradient = gradient + spread.T @ slope
        hessian = hessian + spread.T @ quadratic.sums.hessian[t] @ spread
    return value, gradient, hessian


@WIDTHS
@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("lower", [-np.inf, 0.2], ids=["free", "bounded"])
@pytest.mark.parametrize("shared", [False, True], ids=["own penalties", "one penalty"])
def test_the_minimum_is_where_the_gradient_vanishes_or_a_bound_holds(width, count, lower, shared):
    quadratic, bases = make_quadratic(width, count, lower), make_bases(count)
    n = count * width
    penalty_matrices = np.eye(n) if shared else np.arange(1.0, RATES + 1)[:, None, None] * np.eye(n)
    thetas, values = quadratic.minimize(bases, penalty_matrices, np.full(n, 0.5))
    for r in range(RATES):
        penalty_matrix = penalty_matrices if shared else penalty_matrices[r]
        value, gradient, hessian = written_out(quadratic, bases[r], penalty_matrix, thetas[r])
        assert values[r] == pytest.approx(value, rel=1e-12)
        again = bounded_steps(
            thetas[r][None], gradient[None], hessian[None], quadratic.lower, np.zeros(1)
        )
        np.testing.assert_allclose(again, 0.0, atol=1e-9)
        assert (thetas[r] >= lower).all()
        free = thetas[r] > lower
        np.testing.assert_allclose(gradient[free], 0.0, atol=1e-9)


@WIDTHS
def test_sums_a_tiny_step_away_are_those_of_a_pass(width):
    rng = np.random.default_rng(0)
    rows = BinaryRows(
        rng.normal(size=(width, 500)),
        (rng.random(500) < 0.4).astype(float),
        keys=rng.integers(0, 5, 500),
        n_keys=5,
    )
    here, step = rng.normal(size=(5, width)), 1e-7 * rng.normal(size=(5, width))
    found, expected = shifted_sums(rows.sums(here), step), rows.sums(here + step)
    np.testing.assert_allclose(found.loss, expected.loss, rtol=1e-14)
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-11)
    np.testing.assert_allclose(found.hessian, expected.hessian, rtol=1e-5)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([3.0, 1.0, 2.0, 2.0 + 1e-14, 2.0], [1]),  # a plateau at the end that is higher
        ([1.0, 3.0, 2.0, 2.0 + 1e-14, 2.0 - 1e-14], [0, 2]),  # one that is a local minimum
        ([2.0, 2.0, 2.0 + 1e-14, 3.0, 1.0], [0, 4]),
        ([3.0, 2.0, 2.0, 3.0, 1.0, 4.0], [1, 4]),
        ([1.0, 1.0, 1.0], [0]),
    ],
)
def test_a_plateau_is_one_local_minimum(values, wanted):
    assert _local_minima(np.array(values), 1e-12).tolist() == wanted


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e160, 1e293])
def test_a_parabola_of_any_height_has_its_vertex(size):
    """Where rows are all but separated, what lies ahead is guessed to be that far down."""
    points = np.array([1.0, 2.0, 4.0])
    found = Bracket.around(1, points, size * np.array([-0.5, -0.75, 0.25]))
    # Through these goes (x - 2)^2 / 4 - 3 / 4, but for its height.
    assert found.vertex == pytest.approx(2.0, abs=1e-9)
    assert found.predicted == pytest.approx(0.0, abs=1e-12 * size)
    off = Bracket.around(1, points, size * np.array([-0.5, -0.75, -0.5]))
    assert 2.0 < off.vertex < 4.0
    assert 0.0 < off.predicted < size


def test_heights_beyond_all_numbers_have_no_vertex():
    with np.errstate(over="ignore"):
        found = Bracket.around(1, np.array([1.0, 2.0, 4.0]), np.array([1e308, -1e308, 1e308]))
    assert (found.vertex, found.predicted) == (2.0, 0.0)
