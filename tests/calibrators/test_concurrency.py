"""The same bits from many threads and from forked processes."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tempocal as tc
from support.calibrators import ALL, simulate

every_kind = pytest.mark.parametrize("kind", ALL)
can_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
# Later Pythons warn of it, for processes that hold on to threads or locks.
may_fork = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

FEW = simulate(3, 300)
# Enough for the sums over rows to be shared among threads of their own.
MANY = simulate(2, 300_000)
THREADED = [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration]


def bits(kind, data):
    """Return all that a fit says of the data, as bytes."""
    z, y = data
    cal = kind().fit(z, y, groups=np.arange(len(y)) // 3)
    return cal.predict_proba(z).tobytes() + cal.decision_function(z).tobytes()


def bits_of_few(kind):
    return bits(kind, FEW)


def bits_of_many(kind):
    return bits(kind, MANY)


def in_forks(function, kinds):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map_async(function, kinds).get(timeout=600)


@every_kind
def test_eight_threads_fit_the_same_bits(kind):
    alone = bits_of_few(kind)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(bits_of_few, [kind] * 8)) == {alone}


@every_kind
def test_eight_threads_share_a_fitted_calibrator(kind):
    z, y = FEW
    cal = kind().fit(z, y)
    alone = cal.predict_proba(z).tobytes()
    with ThreadPoolExecutor(8) as pool:
        assert {p.tobytes() for p in pool.map(cal.predict_proba, [z] * 32)} == {alone}


@can_fork
@may_fork
def test_forked_processes_fit_the_same_bits():
    assert in_forks(bits_of_few, ALL * 2) == [bits_of_few(kind) for kind in ALL] * 2


@can_fork
@may_fork
def test_fits_that_have_threads_of_their_own_give_the_same_bits_in_threads_and_forks():
    alone = [bits_of_many(kind) for kind in THREADED]
    with ThreadPoolExecutor(len(THREADED)) as pool:
        assert list(pool.map(bits_of_many, THREADED)) == alone
    assert in_forks(bits_of_many, THREADED) == alone
