"""Eigenvalues that penalties share: determinants and traces as those of the matrices."""

import numpy as np
import pytest

from support.evidence_problems import CURVES
from tempocal.solve.prior_spectrum import prior_spectrum

WIDTH = 4


def matrices_along(name, *, scale=1.0):
    """Penalties of two pooled slopes and two biases along a curve."""
    shape = CURVES[name].track(np.arange(12.0), None).shape(())
    smooth, level = scale * shape.smooth[0], np.eye(len(shape.smooth[0]))
    slopes, biases = np.diag([1.0, 1.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, 1.0])
    mean = np.zeros((WIDTH, WIDTH))
    mean[:2, :2] = 0.5
    pairs = [(level, biases), (level, mean), (level, slopes - mean), (smooth, slopes)]
    return [np.kron(*pair) for pair in [*pairs, (smooth, biases)]]


@pytest.mark.parametrize("name", CURVES)
def test_determinant_and_traces_at_any_strengths(name):
    matrices = matrices_along(name)
    spectrum = prior_spectrum(matrices, WIDTH)
    logs = []
    for strengths in ([1.0, 2.0, 3.0, 4.0, 5.0], [1e4, 0.1, 7.0, 1e-2, 300.0]):
        total = np.tensordot(strengths, matrices, axes=1)
        values = strengths @ spectrum
        wanted = [np.trace(np.linalg.solve(total, one)) for one in matrices]
        np.testing.assert_allclose((spectrum / values).sum(axis=1), wanted, rtol=1e-9)
        logs.append(np.log(values).sum() - np.linalg.slogdet(total)[1])
    # The determinants are those of the matrices up to a factor.
    assert logs[0] == pytest.approx(logs[1], abs=1e-9)


def test_diagonals_and_blocks_are_as_their_matrices():
    level = np.array([1.0, 2.0, 5.0])
    within = np.array([[2.0, 1.0], [1.0, 2.0]])
    blocks, other = level[:, None, None] * within, np.tile(1.0, 6)
    found = prior_spectrum([blocks, other], 2)
    wanted = prior_spectrum([np.kron(np.diag(level), within), np.eye(6)], 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_no_common_basis_is_none():
    """Matrices that do not commute, one that is no product, and steps that nearly coincide."""
    turned = np.array([[1.0, 0.3], [0.3, 2.0]])
    assert (
        prior_spectrum([np.kron(np.eye(3), one) for one in (turned, np.diag([1.0, 4.0]))], 2)
        is None
    )
    no_product = np.diag([1.0, 2.0, 2.0, 1.0])
    assert prior_spectrum([no_product, np.eye(4)], 2) is None
    gaps = np.array([1e-12, 1.0])
    steps = np.diff(np.eye(3), axis=0)
    near = steps.T @ (steps / gaps[:, None])
    near[0, 0] = near[2, 2] = 1e-3
    assert prior_spectrum([near, np.eye(3)], 1) is None
