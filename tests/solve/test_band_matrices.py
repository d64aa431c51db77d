"""Band matrices in blocks, against dense ones."""

import numpy as np
import pytest

from tempocal.solve.band_matrices import Bands

ONES = np.ones(200)


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
    layout = Bands.of(size, bandwidth)
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
    stored = np.stack([layout.store(matrix, ONES[: layout.size]) for matrix in matrices])
    found = layout.invert(stored, free, vectors)
    wanted = np.einsum("mpq,mq->mp", dense_inverses(matrices, free), vectors)
    np.testing.assert_allclose(found.products, wanted, atol=1e-10)
    logs = [np.linalg.slogdet(matrix[np.ix_(free, free)])[1] for matrix in matrices]
    np.testing.assert_allclose(found.log_determinants, logs, rtol=1e-12)


def test_traces_of_the_inverse_times_a_band_matrix(case):
    layout, matrices, within, free, vectors = case
    others = np.random.default_rng(3).normal(size=(2, *matrices[0].shape))
    others = (others + others.swapaxes(1, 2)) * within
    stored = np.stack([layout.store(matrix, ONES[: layout.size]) for matrix in matrices])
    found = layout.invert(stored, free, vectors).traces(
        np.stack([layout.store(other, ONES[: layout.size]) for other in others])
    )
    wanted = np.einsum("mpq,kqp->mk", dense_inverses(matrices, free), others)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_stored_matrix_times_vectors_is_the_dense_product(case):
    layout, matrices, _, _, vectors = case
    stored = np.stack([layout.store(matrix, ONES[: layout.size]) for matrix in matrices])
    wanted = np.stack([vectors @ matrix for matrix in matrices])
    found = layout.dot(stored, np.stack([vectors] * len(stored)))
    np.testing.assert_allclose(found, wanted, atol=1e-11)


def test_a_matrix_is_stored_in_units_of_the_scale(case):
    layout, matrices, _, _, vectors = case
    scale = 1.0 + np.random.default_rng(4).random(layout.size)
    found = layout.dot(layout.store(matrices[0], scale)[None], vectors[None])
    wanted = vectors @ (matrices[0] / np.outer(scale, scale))
    np.testing.assert_allclose(found[0], wanted, atol=1e-11)


def test_a_diagonal_is_stored_as_its_matrix(case):
    layout, matrices, _, _, _ = case
    diagonal = np.diag(matrices[0])
    scale = 1.0 + np.arange(layout.size)
    found = layout.store(diagonal, scale)
    np.testing.assert_allclose(found, layout.store(np.diag(diagonal), scale), rtol=1e-15)


def test_a_band_that_is_not_positive_definite_has_no_determinant():
    matrices, _ = band_matrices(100, 5, count=1)
    layout = Bands.of(100, 5)
    indefinite = layout.store(matrices[0] - 3.0 * np.eye(100), ONES[:100])
    found = layout.invert(indefinite[None], np.ones(100, dtype=bool), np.ones((1, 100)))
    assert found.log_determinants[0] == -np.inf
