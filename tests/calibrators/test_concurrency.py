"""The same bits from many threads and from forked processes."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.calibrators import ALL, simulate

every_kind = pytest.mark.parametrize("kind", ALL)
Z, Y = simulate(3, 300)
GROUPS = [row // 3 for row in range(300)]


def fitted_bits(kind):
    """Return all that a fit says of the data, as bytes."""
    cal = kind().fit(Z, Y, groups=GROUPS)
    return b"".join(f(Z).tobytes() for f in (cal.predict_proba, cal.decision_function))


@every_kind
def test_eight_threads_fit_the_same_bits(kind):
    alone = fitted_bits(kind)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fitted_bits, [kind] * 8)) == {alone}


@every_kind
def test_eight_threads_share_a_fitted_calibrator(kind):
    cal = kind().fit(Z, Y)
    alone = cal.predict_proba(Z).tobytes()
    with ThreadPoolExecutor(8) as pool:
        assert {p.tobytes() for p in pool.map(cal.predict_proba, [Z] * 32)} == {alone}


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_processes_fit_the_same_bits():
    alone = [fitted_bits(kind) for kind in ALL]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        forked = pool.map_async(fitted_bits, ALL * 2).get(timeout=120)
    assert forked == alone * 2
