"""Files of monitors that were altered, with a right checksum: refused, or their evidence is one."""

import random
import warnings

import pytest

import tempocal as tc
from support.documents import text_of
from support.forging import alterations
from tempocal.errors import ModelFileError, TempocalError
from tempocal.modelfile import read_document

EACH = 300


def monitor_of(n_classes):
    classes = "abc"[:n_classes]
    monitor = tc.live.Monitor(edges=[3, 6], classes=list(classes))
    for k in range(12):
        for time in (0, 2, 4, 7):
            monitor.predict(k, forecast(0.3 + 0.02 * k, n_classes), time)
        if k < 8 and k != 3:
            monitor.finish(k, classes[k % n_classes])
    monitor.abandon(10)
    return monitor


def forecast(share, n_classes):
    return share if n_classes == 2 else [share, *[(1.0 - share) / 2] * 2]


def use(monitor, n_classes):
    """Let it see more, of which some may be refused in words."""
    for call in (
        lambda: monitor.predict("new", forecast(0.4, n_classes), 1),
        lambda: monitor.predict(11, forecast(0.4, n_classes), 9),
        *(lambda k=k: monitor.finish(k, "a") for k in (11, "new", 3, 8, 9)),
    ):
        try:
            call()
        except TempocalError:
            continue


def require_evidence(monitor, what):
    status = monitor.status()
    assert str(status), what
    assert 0.0 <= status.p_value <= 1.0, what
    for line in status.lines:
        assert line.e_value >= 0.0, what
        assert line.highest >= 1.0, what


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_loads_gives_evidence(tmp_path, n_classes):
    path = tmp_path / "monitor.json"
    monitor_of(n_classes).save(path)
    content = read_document(path)
    loaded = 0
    for alteration in random.Random(0).sample(list(alterations(content)), EACH):
        path.write_bytes(text_of(alteration.of(content)))
        what = str(alteration)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                monitor = tc.live.Monitor.load(path)
            except ModelFileError:
                continue
            loaded += 1
            require_evidence(monitor, what)
            use(monitor, n_classes)
            require_evidence(monitor, what)
            monitor.save(path)
    assert 0 < loaded < EACH
