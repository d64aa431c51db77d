"""What is no path is said to be none, by whatever takes one."""

import io
from pathlib import Path

import pytest

import tempocal as tc
from tempocal import scorer
from tempocal.modelfile.paths import path_name
from tempocal.predictor import read_model

CAL = tc.PlattScaling(shrinkage=1.0).fit([-1.0, 2.0, 0.5, 0.1], [0, 1, 0, 1])
ALONG = tc.TemporalCalibrator(tc.PlattScaling(shrinkage=1.0), tc.Constant()).fit(
    [-1.0, 2.0, 0.5, 0.1], [0, 1, 0, 1], time=[0, 1, 2, 3], groups=[0, 1, 2, 3]
)
TAKERS = {
    "save": CAL.save,
    "save along time": ALONG.save,
    "load": tc.load,
    "scorer": scorer.load,
    "read_model": read_model,
    "save a monitor": lambda path: tc.live.Monitor().save(path),
    "load a monitor": tc.live.Monitor.load,
    "tracker": tc.live.SequenceTracker,
    "begin a tracker": lambda path: tc.live.SequenceTracker(path, ALONG),
}
NO_PATHS = {
    "None": (None, "is None"),
    "a number": (3, "is 3"),
    "a flag": (True, "is True"),
    "a list": (["model.json"], r"is \['model.json'\]"),
    "an open file": (io.BytesIO(), "is "),
    "NUL": ("model\0.json", "NUL character"),
    "NUL in bytes": (b"model\0.json", "NUL character"),
    "NUL in a path": (Path("model\0.json"), "NUL character"),
    "half a pair": ("model\ud800.json", "which is not text: surrogates not allowed"),
}


@pytest.mark.parametrize("what", NO_PATHS)
@pytest.mark.parametrize("taker", TAKERS)
def test_no_path(taker, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, said = NO_PATHS[what]
    with pytest.raises(ValueError, match=rf"(path|folder) .*{said}"):
        TAKERS[taker](path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [str, Path, lambda path: str(path).encode()])
def test_paths_of_any_kind(tmp_path, kind):
    path = kind(tmp_path / "model.json")
    CAL.save(path)
    assert tc.load(path).predict_proba([1.0]).tolist() == CAL.predict_proba([1.0]).tolist()
    assert scorer.load(path)(1.0) == pytest.approx(CAL.predict_proba([1.0])[0, 1])
    assert path_name(path) == str(tmp_path / "model.json")


def test_a_name_that_is_no_unicode(tmp_path):
    """A file may have any bytes for a name."""
    path = bytes(tmp_path) + b"/model\xff.json"
    try:
        CAL.save(path)
    except OSError:
        pytest.skip("not on this file system")
    assert tc.load(path).predict_proba([1.0]).tolist() == CAL.predict_proba([1.0]).tolist()


@pytest.mark.parametrize("begin", [False, True])
def test_a_folder_of_a_tracker(tmp_path, begin, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("somebody's")
    given = (ALONG,) if begin else ()
    for folder, said in (("", "folder is empty"), ("file", "which is a file")):
        with pytest.raises(tc.errors.InputError, match=said):
            tc.live.SequenceTracker(folder, *given)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
