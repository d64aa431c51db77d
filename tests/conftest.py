"""Settings that must be there before anything is imported, and what tests of two rooms share."""

import os

import pytest

# Without it scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Tests run side by side: threads of matrix products would be in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(params=["plain", "avx2"])
def loops(request):
    """Use the compiled loops of each instruction set."""
    from tempocal.kernels import native  # noqa: PLC0415 - after the settings

    before = native.used()
    try:
        native.use(request.param)
    except ValueError:
        pytest.skip(f"this processor has no {request.param}")
    yield native
    native.use(before)
