"""A saved monitor goes on as if nothing had happened; what is not one is refused."""

import json
from datetime import datetime, timedelta

import numpy as np
import pytest

import tempocal as tc
from tempocal.live import Monitor
from tempocal.live import monitor as monitors
from tempocal.modelfile import read_document, write_document
from tempocal.modelfile.limits import MAX_BYTES


def events(n_classes, seed):
    """Make predictions of sequences that overlap, ends and some that are given up."""
    random = np.random.default_rng(seed)
    running = {}
    for k in range(60):
        name = f"s{k}" if k % 2 else k
        running[name] = 0
        for one in list(running):
            running[one] += 1
            yield "predict", (one, random.dirichlet(np.ones(n_classes)), running[one])
            if random.random() < 0.2:
                del running[one]
                if random.random() < 0.1:
                    yield "abandon", (one,)
                else:
                    yield "finish", (one, int(random.integers(n_classes)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("stop", [0, 1, 40, 150])
def test_it_goes_on_to_the_bit(tmp_path, n_classes, stop):
    path, classes = tmp_path / "monitor.json", list(range(n_classes))
    plain, saved = (Monitor([3, 6], classes=classes, alpha=0.1) for _ in range(2))
    for k, (name, values) in enumerate(events(n_classes, stop)):
        if k == stop:
            saved.save(path)
            saved = Monitor.load(path)
        getattr(plain, name)(*values)
        getattr(saved, name)(*values)
    assert saved.status() == plain.status()
    plain.save(tmp_path / "plain.json")
    saved.save(path)
    assert path.read_bytes() == (tmp_path / "plain.json").read_bytes()
    assert plain.status().stretches[0].settled > 20


def test_settings_come_back(tmp_path):
    path = tmp_path / "monitor.json"
    start = datetime(2026, 5, 1, 12, 0, 0, 1)
    monitor = Monitor(
        [start, start + timedelta(hours=1)],
        classes=["no", "yes"],
        alpha=0.01,
        movement_until=start + timedelta(days=1),
        max_waiting=2,
    )
    monitor.save(path)
    loaded = Monitor.load(path)
    assert loaded.edges.tolist() == monitor.edges.tolist()
    assert loaded.status() == monitor.status()
    loaded.predict("a", 0.5, start)
    with pytest.raises(tc.errors.InputError, match="max_waiting is 2"):
        loaded.predict("b", 0.5, start)
    with pytest.raises(tc.errors.InputError, match="not among the classes"):
        loaded.finish("a", 1)
    with pytest.raises(tc.errors.InputError, match="one kind"):
        loaded.predict("a", 0.5, 3)


@pytest.mark.parametrize("settings", [{"movement": False}, {}, {"edges": [2], "movement_until": 1}])
def test_movement_comes_back(tmp_path, settings):
    monitor = Monitor(**settings)
    monitor.predict("a", 0.5, 1)
    monitor.save(tmp_path / "m.json")
    assert Monitor.load(tmp_path / "m.json").status() == monitor.status()


def test_a_file_is_small_once_all_is_settled(tmp_path):
    m = tc.datasets.simulate_match(100)
    monitor = Monitor([6, 12, 18])
    monitor.replay(m.true_probability, m.label, time=m.time, sequence=m.sequence)
    monitor.save(tmp_path / "m.json")
    assert (tmp_path / "m.json").stat().st_size < 4000 + 16 * 100  # and the ids


def test_the_file_grows_little_with_sequences_that_are_over(tmp_path):
    sizes = []
    for n in (0, 1000):
        names = [f"{name:0>500}" for name in range(n)]
        monitor = Monitor(movement=False)
        if n:
            monitor.replay(np.full(n, 0.5), np.zeros(n), time=np.zeros(n), sequence=names)
        monitor.save(tmp_path / "m.json")
        sizes.append((tmp_path / "m.json").stat().st_size)
    assert 16 * 1000 <= sizes[1] - sizes[0] < 17 * 1000


def test_files_have_a_limit_of_their_own(tmp_path, monkeypatch):
    """Beyond that of a model, which 4 million sequences would reach; kept by `save` and `load`."""
    assert monitors.MAX_STATE_BYTES >= 16 * MAX_BYTES
    path, monitor = tmp_path / "m.json", Monitor([6])
    monitor.save(path)
    size = path.stat().st_size
    monkeypatch.setattr(monitors, "MAX_STATE_BYTES", size)
    monitor.save(path)
    Monitor.load(path)
    monkeypatch.setattr(monitors, "MAX_STATE_BYTES", size - 1)
    with pytest.raises(tc.errors.InputError, match=f"takes {size} bytes"):
        monitor.save(path)
    with pytest.raises(tc.errors.NotAModelFileError, match=f"larger than {size - 1} bytes"):
        Monitor.load(path)


def test_every_change_of_the_file_is_noticed(tmp_path):
    path = tmp_path / "m.json"
    Monitor([6]).save(path)
    data = path.read_bytes()
    for k in range(0, len(data), 37):
        path.write_bytes(data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :])
        with pytest.raises(tc.errors.ModelFileError):
            Monitor.load(path)


def test_a_model_is_no_monitor_and_a_monitor_no_model(tmp_path):
    path = tmp_path / "m.json"
    tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0]).save(path)
    with pytest.raises(tc.errors.NotAModelFileError, match="holds a model, not a monitor"):
        Monitor.load(path)
    Monitor().save(path)
    with pytest.raises(tc.errors.NotAModelFileError, match="holds a monitor, not a model"):
        tc.load(path)
    with pytest.raises(tc.scorer.ModelError, match="holds a monitor, not a model"):
        tc.scorer.load(path)


def spoiled(content, place, value):
    *path, last = place
    for key in path:
        content = content[key]
    content[last] = value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("settings",), 1),
        (("settings", "alpha"), 7),
        (("settings", "edges"), "text"),
        (("book", "lines"), []),
        (("book", "lines", 0, "waiting", "sequence"), ["stranger"]),
        (("book", "lines", 0, "waiting", "proba"), [[0.1, 0.2, 0.7]]),
        (("book", "lines", 0, "log_running"), [1.0]),
        (("book", "sequences"), {}),
        (("book", "ended"), "12345"),
        (("book", "ended"), "1234"),
        (("book", "ended"), [1]),
    ],
)
def test_content_that_cannot_be_is_damage(tmp_path, place, value):
    path = tmp_path / "m.json"
    monitor = Monitor([6])
    monitor.predict("a", 0.5, 1)
    monitor.save(path)
    content = json.loads(json.dumps(read_document(path)))
    spoiled(content, place, value)
    write_document(path, content)
    with pytest.raises(tc.errors.DamagedModelFileError, match=r"m\.json is damaged"):
        Monitor.load(path)
