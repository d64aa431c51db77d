"""Systems of many blocks, against one pseudoinverse after the other."""

import numpy as np
import pytest

from tempocal.solve.linear_systems import solve_blocks


def random_blocks(n, *, rank, seed=0):
    roots = np.random.default_rng(seed).normal(size=(50, n, rank))
    return roots @ roots.swapaxes(1, 2) * 10.0 ** np.arange(-25, 25)[:, None, None]


def by_pseudoinverse(block, vector, free, damping):
    """Scale the free part to ones on its diagonal, and leave out its flat directions."""
    inner, solution = block[np.ix_(free, free)], np.zeros(len(vector))
    scale = np.sqrt(np.where(np.diag(inner) > 0.0, np.diag(inner), 1.0))
    values, vectors = np.linalg.eigh(inner / np.outer(scale, scale))
    turned = vectors.T @ (vector[free] / scale)
    usable = values > 1e-13 * max(values.max(initial=0.0), 0.0)
    turned = np.where(usable, turned / np.where(usable, values + damping, 1.0), 0.0)
    solution[free] = vectors @ turned / scale
    return solution


def compare(blocks, free, damping):
    vectors = np.random.default_rng(1).normal(size=blocks.shape[:2])
    # Only what the block can reach: of the rest there is no step to compare.
    vectors = np.einsum("tpq,tq->tp", blocks, vectors)
    found = solve_blocks(blocks, vectors, free, damping)
    expected = [
        by_pseudoinverse(*each) for each in zip(blocks, vectors, free, damping, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_blocks_are_solved_one_by_one(n, damping):
    blocks = random_blocks(n, rank=n + 1)
    compare(blocks, np.ones((50, n), dtype=bool), np.full(50, damping))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_what_is_held_stays(n):
    free = np.random.default_rng(2).random((50, n)) < 0.6
    compare(random_blocks(n, rank=n + 1), free, np.zeros(50))


@pytest.mark.parametrize("n", [2, 3])
def test_nothing_moves_in_flat_directions(n):
    compare(random_blocks(n, rank=1), np.ones((50, n), dtype=bool), np.zeros(50))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_coefficients_without_curvature_stay(n):
    blocks = random_blocks(n, rank=n + 1)
    blocks[:, 0] = blocks[:, :, 0] = 0.0
    compare(blocks, np.ones((50, n), dtype=bool), np.zeros(50))
