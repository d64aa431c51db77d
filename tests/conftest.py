"""Settings that must be there before anything is imported, and what tests of two rooms share."""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# Without it scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Tests run side by side: threads of matrix products and of torch would be in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


import tempocal as tc
from tempocal.kernels import native, thread_pool
from tempocal.temporal import auto

# Examples may take as long as they take: the machine may be busy.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
# The same examples each time, for `make test` is to mean the same on every machine.
settings.register_profile("same", max_examples=50, derandomize=True, database=None, **_PATIENT)
# `make test-slow` looks for new examples at random, and for more of them. One that fails is printed
# with a line @reproduce_failure(...) to put above the test, and is tried first the next time.
settings.register_profile("explore", max_examples=500, **_PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
if settings().derandomize and hasattr(providers, "_get_local_constants"):
    # Hypothesis also tries the numbers in the source of whatever is imported by then, unless its
    # path has a part "tests": examples would depend on the clone and on which tests ran before.
    providers._get_local_constants = providers.Constants


def pytest_collection_modifyitems(items):
    """Let Spark come first: what is long must not begin when the other worker has nothing left."""
    items.sort(key=lambda item: not _is_on_spark(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one worker, whose fixtures and cached fits are made once, and so all of Spark.

    Spark takes seconds and much memory to start. Groups of xdist would do, but xdist 3.8 does not
    see them with pytest 9.2.
    """
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - loaded where it is used

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "spark" if _is_on_spark(nodeid) else super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # files with many tests are not those that take long
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


def _is_on_spark(nodeid):
    """Tell it by the name or the parameters, for xdist knows no more of a test."""
    return "spark" in nodeid


@pytest.fixture
def few_candidates(monkeypatch):
    """Let an assessment compare two ways to calibrate, where it does not matter which."""
    few = [(tc.TemperatureScaling(), tc.Constant()), (tc.TemperatureScaling(), tc.Spline())]
    monkeypatch.setattr(auto, "default_candidates", lambda n_classes: few)


@pytest.fixture(params=["none"] if native is None else native.available())
def loops(request):
    """Use the compiled loops of each instruction set that this processor has."""
    before = native.used()
    native.use(request.param)
    yield native
    native.use(before)


@pytest.fixture
def set_cores(monkeypatch):
    """Say how many cores there are."""

    def say(count):
        monkeypatch.setattr(thread_pool, "_available_cores", lambda: count)

    return say
