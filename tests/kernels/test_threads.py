"""The loops on the thread pool: the same bits on any number of cores, in threads, after a fork."""

import os
import threading
import warnings

import numpy as np
import pytest

from tempocal.kernels import native
from tempocal.kernels.min_max import min_max, min_max_sum
from tempocal.rows import BinaryRows

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=200_000), RNG.integers(0, 2, 200_000)


def sums():
    rows = BinaryRows(np.stack([X, X**2]), Y)
    found = rows.sums(np.array([[0.7, 0.1]]))
    return found.loss.tobytes() + found.gradient.tobytes() + found.hessian.tobytes()


def test_any_number_of_cores_gives_the_same_bits(set_cores):
    found = set()
    for count in (1, 2, 3, 8, 64, 1000):
        set_cores(count)
        found |= {sums() for _ in range(20)}
    assert len(found) == 1


def test_threads_that_find_the_others_at_work_do_it_alone(set_cores):
    set_cores(3)
    wanted, wrong = sums(), []

    def work():
        wrong.extend(1 for _ in range(30) if sums() != wanted)

    callers = [threading.Thread(target=work) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_has_threads_of_its_own(set_cores):
    set_cores(3)
    wanted = sums()
    for _ in range(10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os._exit(0 if all(sums() == wanted for _ in range(5)) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert sums() == wanted


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.float16])
def test_extremes_are_those_of_numpy(dtype):
    for n in (1, 5, 8191, 8192, 50_000):
        for x in ((100 * X[:n]).astype(dtype), (100 * X[: 2 * n]).astype(dtype)[::2]):
            assert min_max(x) == min_max_sum(x)[:2] == (x.min(), x.max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint64])
def test_labels_are_summed_exactly(dtype):
    for n in (2, 5, 8191, 8192, 50_000):
        for x in ((X[:n] > 0).astype(dtype), (X[: 2 * n] > 0).astype(dtype)[::2]):
            assert min_max_sum(x)[2] == np.count_nonzero(x)


def test_a_sum_of_integers_that_overflows_wraps_around_as_numpys_does():
    x = np.full(50_000, 2**62 + 1)
    assert min_max_sum(x) == (2**62 + 1, 2**62 + 1, x.sum())


def test_extremes_of_a_table():
    table = X[:3000].reshape(-1, 3)
    assert min_max(table) == (table.min(), table.max())
    assert min_max(table.T) == (table.min(), table.max())
