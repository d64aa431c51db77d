"""Settings that must be there before anything is imported, and what tests of two rooms share."""

import os

import pytest

# Without it scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Tests run side by side: threads of matrix products would be in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


from tempocal.kernels import cores, native


@pytest.fixture(params=["none"] if native is None else native.available())
def loops(request):
    """Use the compiled loops of each instruction set that this processor has."""
    before = native.used()
    native.use(request.param)
    yield native
    native.use(before)


@pytest.fixture
def set_cores(monkeypatch):
    """Say how many cores there are, to Python and to the compiled loops."""

    def say(count):
        monkeypatch.setattr(cores, "_available_cores", lambda: count)
        cores.use_all_cores()

    yield say
    monkeypatch.undo()
    cores.use_all_cores()
