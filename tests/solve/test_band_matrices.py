"""Band matrices in blocks, against dense ones."""

import numpy as np
import pytest

from tempocal.solve.matrix_layout import MatrixLayout


def band_matrices(size, bandwidth, count=3, seed=0):
    """Positive definite matrices without entries beyond the band."""
    rng = np.random.default_rng(seed)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    factors = rng.normal(size=(count, size, size)) * (
        (distance <= bandwidth // 2) & (distance >= 0)
    )
    return factors @ factors.swapaxes(1, 2) + 0.5 * np.eye(size), distance <= bandwidth


@pytest.fixture(params=[(64, 5), (103, 16), (200, 21), (97, 1)])
def case(request):
    size, bandwidth = request.param
    matrices, within = band_matrices(size, bandwidth)
    layout = MatrixLayout.of(size, bandwidth)
    assert layout.is_band
    free = np.random.default_rng(1).random(size) < 0.9
    vectors = np.random.default_rng(2).normal(size=(len(matrices), size))
    return layout, matrices, within, free, vectors


def dense_inverses(matrices, free):
    inverses = np.zeros_like(matrices)
    kept = np.ix_(free, free)
    for inverse, matrix in zip(inverses, matrices, strict=True):
        inverse[kept] = np.linalg.inv(matrix[kept])
    return inverses


def test_products_and_log_determinants_are_those_of_the_free_part(case):
    layout, matrices, _, free, vectors = case
    stored = np.stack([layout.store(matrix) for matrix in matrices])
    found = layout.invert(stored, free, vectors)
    wanted = np.einsum("mpq,mq->mp", dense_inverses(matrices, free), vectors)
    np.testing.assert_allclose(found.products, wanted, atol=1e-10)
    logs = [np.linalg.slogdet(matrix[np.ix_(free, free)])[1] for matrix in matrices]
    np.testing.assert_allclose(found.log_determinants, logs, rtol=1e-12)


def test_traces_of_the_inverse_times_a_band_matrix(case):
    layout, matrices, within, free, vectors = case
    others = np.random.default_rng(3).normal(size=(2, *matrices[0].shape))
    others = (others + others.swapaxes(1, 2)) * within
    stored = np.stack([layout.store(matrix) for matrix in matrices])
    found = layout.invert(stored, free, vectors).traces(
        np.stack([layout.store(other) for other in others])
    )
    wanted = np.einsum("mpq,kqp->mk", dense_inverses(matrices, free), others)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_stored_matrix_times_vectors_is_the_dense_product(case):
    layout, matrices, _, _, vectors = case
    wanted = vectors @ matrices[0]
    np.testing.assert_allclose(layout.dot(layout.store(matrices[0]), vectors), wanted, atol=1e-11)


def test_a_diagonal_is_stored_as_its_matrix(case):
    layout, matrices, _, _, _ = case
    diagonal = np.diag(matrices[0])
    np.testing.assert_array_equal(layout.store(diagonal), layout.store(np.diag(diagonal)))


def test_a_band_that_is_not_positive_definite_has_no_determinant():
    matrices, _ = band_matrices(100, 5, count=1)
    layout = MatrixLayout.of(100, 5)
    indefinite = layout.store(matrices[0] - 3.0 * np.eye(100))
    found = layout.invert(indefinite[None], np.ones(100, dtype=bool), np.ones((1, 100)))
    assert found.log_determinants[0] == -np.inf


def test_small_and_wide_matrices_are_stored_whole():
    assert not MatrixLayout.of(30, 3).is_band
    assert not MatrixLayout.of(200, 100).is_band
