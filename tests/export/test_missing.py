"""A package that is not there is one sentence."""

import sys

import pytest

import tempocal as tc
from support.calibrators import simulate


@pytest.mark.parametrize("package", ["onnx", "torch"])
def test_the_sentence_names_the_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"tempocal.export.{package}", raising=False)
    z, y = simulate(2, 100)
    cal = tc.TemperatureScaling().fit(z, y)
    with pytest.raises(ImportError, match=rf'not installed: pip install "tempocal\[{package}\]"'):
        getattr(cal, f"to_{package}")()


def test_names_of_torch_wait_for_it(monkeypatch):
    assert dir(tc.export) == sorted(tc.export.__all__)
    with pytest.raises(AttributeError, match="no attribute 'to_excel'"):
        _ = tc.export.to_excel
