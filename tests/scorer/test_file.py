"""One file that works alone, on model files that are whole."""

import ast
import copy
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tempocal as tc
from support.calibrators import simulate
from support.documents import document_of, text_of
from support.matches import rows, table
from tempocal import scorer

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

SOURCE = Path(scorer.__file__)
WRONG = [None, 5, "x", [], {}, ["x"], [[]], {"kind": "x"}, True, -1.0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def test_it_imports_the_standard_library_alone():
    nodes = list(ast.walk(ast.parse(SOURCE.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_importing_it_loads_no_numpy():
    code = "import sys, tempocal; tempocal.scorer.load; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_copy_of_it_works_alone(tmp_path, path):
    z, y, time, groups = rows()
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    cal.fit(z, y, time=time, groups=groups).save(path)
    shutil.copy(SOURCE, tmp_path / "scorer.py")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import scorer;"
        f"print(scorer.load({str(path)!r})(0.7, 2.5));"
        "assert not {'numpy', 'tempocal', 'site'} & set(sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(run.stdout) == pytest.approx(cal.predict_proba([0.7], time=[2.5])[0, 1], rel=1e-12)


def test_what_auto_chose_is_scored(path):
    z, y, time, groups = rows()
    pair = (tc.TemperatureScaling(), tc.ExponentialDecay())
    auto = tc.AutoTemporalCalibrator([tc.TemperatureScaling(), pair], inputs="proba")
    auto.fit(1 / (1 + np.exp(-z)), y, time=time, groups=groups).save(path)
    one = scorer.load(str(path))
    assert one.inputs == "proba"
    assert one(0.3, 2) == pytest.approx(auto.predict_proba([0.3], time=[2])[0, 1], rel=1e-12)


def test_the_time_of_a_time_column_is_passed_apart(path):
    frame, y = table(3)
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.PerStep(), time_column="round")
    cal.fit(frame, y).save(path)
    one = scorer.load(path)
    row = frame.iloc[0]
    found = one(row.drop("round").tolist(), row["round"])
    assert found == pytest.approx(cal.predict_proba(frame.iloc[:1])[0].tolist(), rel=1e-12)


def test_labels_are_those_of_the_fit(path):
    z, y = simulate(2, 50)
    tc.TemperatureScaling(classes=["won", "lost"]).fit(z, np.array(["won", "lost"])[y]).save(path)
    assert scorer.load(path).classes == ("won", "lost")
    assert "'won'" in repr(scorer.load(path))


@pytest.fixture(scope="module")
def whole():
    return text_of(document_of(tc.PlattScaling().fit(*simulate(3, 100))._predictor()))


def test_text_is_read_as_well(whole):
    assert scorer.loads(whole.decode())([0.1, 0.2, 0.3]) == scorer.loads(whole)([0.1, 0.2, 0.3])


def test_what_is_no_text_is_refused():
    with pytest.raises(scorer.ModelError, match="must be str or bytes, not dict"):
        scorer.loads({})


def test_a_flipped_bit_is_always_found(whole):
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(scorer.ModelError):
            scorer.loads(bytes(flipped))


def test_a_cut_is_always_found(whole):
    for length in range(len(whole)):
        with pytest.raises(scorer.ModelError, match="the text is damaged"):
            scorer.loads(whole[:length])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\n1,2\n", r"model\.json is not a tempocal model"),
        (b'{"format": "tempocal-model"}', r"model\.json is damaged, or its layout"),
        (b'{\n  "format": "tempocal-model",\n  "schema": 999,\n', "by a later version of tempocal"),
    ],
)
def test_each_refusal_says_which(path, data, words):
    path.write_bytes(data)
    with pytest.raises(scorer.ModelError, match=words):
        scorer.load(path)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        scorer.load(tmp_path / "none.json")
    with pytest.raises(OSError, match="directory"):
        scorer.load(tmp_path)
    with pytest.raises(scorer.ModelError, match="not an ordinary file"):
        scorer.load("/dev/zero")


def places(content, path=()):
    """Every place in a document that scores depend on."""
    if path:
        yield path
    if isinstance(content, dict | list) and path[:1] not in (("written_by",), ("bands",)):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from places(content[key], (*path, key))


def with_value(content, path, value):
    forged = copy.deepcopy(content)
    inner = forged
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return forged


@cache
def document(calibrator, curve):
    z, y, time, _ = rows(3)
    cal = calibrator() if curve is None else tc.TemporalCalibrator(calibrator(), curve)
    return document_of(cal.fit(z, y, **({} if curve is None else {"time": time}))._predictor())


@pytest.mark.parametrize("wrong", WRONG, ids=str)
@pytest.mark.parametrize(
    ("calibrator", "curve"),
    [
        (tc.PlattScaling, tc.PerStep()),
        (tc.MatrixScaling, tc.Spline(intervals=1)),
        (tc.IsotonicCalibration, tc.PerStep(bins=2)),
        (tc.DirichletCalibration, None),
    ],
    ids=str,
)
def test_a_forged_file_never_crashes(calibrator, curve, wrong):
    """It may score nonsense, but it is read or refused in words."""
    content, refused = document(calibrator, curve), 0
    for place in places(content):
        try:
            one = scorer.loads(text_of(with_value(content, place, wrong)))
        except scorer.ModelError:
            refused += 1
            continue
        with suppress(ValueError):
            one([0.1, 0.2, 0.3] if one.columns == 3 else 0.5, 1.0 if one.time_kinds else None)
    assert refused > 5
