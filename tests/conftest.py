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


from tempocal.kernels import native, thread_pool

# Examples may take as long as they take: the machine may be busy.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
# The same examples each time, for `make test` is to mean the same on every machine.
settings.register_profile("same", max_examples=100, derandomize=True, database=None, **_PATIENT)
# `make test-slow` looks for new examples at random, and for more of them. One that fails is printed
# with a line @reproduce_failure(...) to put above the test, and is tried first the next time.
settings.register_profile("explore", max_examples=500, **_PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
if settings().derandomize and hasattr(providers, "_get_local_constants"):
    # Hypothesis also tries the numbers in the source of whatever is imported by then, unless its
    # path has a part "tests": examples would depend on the clone and on which tests ran before.
    providers._get_local_constants = providers.Constants


# What takes seconds and much memory to start, and is started once: by one of the workers.
_STARTED_ONCE = ("spark", "postgres", "browser")


def pytest_collection_modifyitems(items):
    """Keep tests of one engine together, for ``--dist loadgroup``."""
    for item in items:
        used = {*getattr(item, "fixturenames", ()), *_texts(getattr(item, "callspec", None))}
        for engine in _STARTED_ONCE:
            if engine in used:
                item.add_marker(pytest.mark.xdist_group(engine))
                break


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one worker, so that its fixtures and cached fits are made once."""
    from xdist.scheduler import LoadGroupScheduling  # noqa: PLC0415 - loaded where it is used

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            group = super()._split_scope(nodeid)
            return group.partition("::")[0] if group == nodeid else group

    return ByFile(config, log) if config.getoption("dist") == "loadgroup" else None


def _texts(callspec):
    return () if callspec is None else (one for one in callspec.params.values() if type(one) is str)


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
