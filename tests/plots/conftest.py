"""Pictures that nobody sees: drawn in memory, closed after each test, settings left alone."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    before = dict(mpl.rcParams)
    plt.close("all")
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
