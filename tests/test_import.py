"""What importing costs, and what the door shows."""

import subprocess
import sys

import pytest

import tempocal as tc


def modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in run.stdout.split()}


@pytest.mark.parametrize("statement", ["import tempocal", "import tempocal; dir(tempocal)"])
def test_importing_loads_neither_scipy_nor_scikit_learn(statement):
    assert modules_after(statement).isdisjoint({"sklearn", "scipy", "pandas", "torch"})


def test_metrics_load_neither_scipy_nor_scikit_learn():
    loaded = modules_after("import tempocal; tempocal.metrics.nll([0, 1], [0.2, 0.7])")
    assert loaded.isdisjoint({"sklearn", "scipy"})


def test_a_monitor_loads_neither_scipy_nor_scikit_learn():
    loaded = modules_after("import tempocal; tempocal.live.Monitor().predict('a', 0.5, 0)")
    assert loaded.isdisjoint({"sklearn", "scipy"})


def test_a_calibrator_loads_scikit_learn():
    """So that the two tests above can fail."""
    assert "sklearn" in modules_after("import tempocal; tempocal.TemperatureScaling")


@pytest.mark.parametrize("name", tc.__all__)
def test_every_public_name_is_there(name):
    assert getattr(tc, name) is getattr(tc, name)
    assert name in dir(tc)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Temperature'"):
        _ = tc.Temperature


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version  # noqa: PLC0415

    assert tc.__version__ == version("tempocal")
