"""Each bad input is refused, and each odd one answered, alike at every door."""

from functools import cache

import numpy as np
import pytest

import tempocal as tc
from doors.cases import CASES, CSV, REFUSED, SAME
from doors.doors import DOORS
from support.lanes import usually
from tempocal.errors import InputError

OTHERS_WARNINGS = [
    # Other packages' own.
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::tempocal.errors.TempocalWarning"),
]
pytestmark = OTHERS_WARNINGS
ROLES = {
    "z": ("logits", "'z'"),
    "won": ("label", "'won'", "y ", "classes"),
    "t": ("time", "'t'"),
    "id": ("groups", "'id'", "/id", "sequence"),
    "w": ("weight", "'w'"),
}
# Doors that differ from others in what they may overlook, not in what they answer.
TWINS = {
    "ibis",
    "duckdb on parquet",
    "polars on parquet",
    "command on large parquet",
    "command on large csv",
}
# What engines raise for values that no column of theirs can hold.
UNBUILDABLE = (TypeError, OverflowError, ValueError)


def good_rows(n_matches=24):
    m = tc.datasets.simulate_match(n_matches, wins=4, seed=3)
    weights = np.random.default_rng(3).integers(1, 4, len(m.label)).astype(float)
    columns = {"z": m.logits, "won": m.label, "t": m.time.astype(float), "id": m.sequence}
    return {name: values.tolist() for name, values in {**columns, "w": weights}.items()}


GOOD = good_rows()


def answers(model):
    """Return the edges of a model's band: how it predicts, and how many groups it has seen."""
    time = {"datetime": np.datetime64("2026-05-01"), "timedelta": np.timedelta64(3, "s")}
    bands = model.interval_at([time.get(model.time_kinds_[0], 3.0)]).values()
    return np.array([edge[0] for band in bands for edge in (band.lower, band.upper)])


def wanted_of(case, door):
    """Return what a door must make of a case; None where another door shows it as well."""
    outcome = case.outcome
    if door in case.but:
        outcome = REFUSED if outcome == SAME else SAME
    return None if outcome == SAME and door in TWINS else outcome


PAIRS = [(case, door) for case in CASES for door in DOORS if wanted_of(case, door) is not None]
# Doors behind which the same engine waits as behind another: each time a third of the cases.
SAME_ENGINE = [*sorted(TWINS), "parquet path", "lazy polars"]


def is_usual(pair):
    case, door = pair
    return door not in SAME_ENGINE or (CASES.index(case) + SAME_ENGINE.index(door)) % 3 == 0


@pytest.mark.parametrize(("case", "door"), usually(PAIRS, is_usual), ids=str)
def test_every_door_gives_the_same(case, door, tmp_path):
    columns = case.columns(GOOD)
    if wanted_of(case, door) == REFUSED:
        refused(case, columns, door, tmp_path)
    else:
        found = answers(DOORS[door](columns, tmp_path))
        np.testing.assert_allclose(found, of_arrays(case, door in CSV), rtol=0, atol=1e-7)


@cache
def of_arrays(case, text):
    """Return what arrays answer, whose ids and labels are text as in a file without types."""
    columns = case.columns(GOOD)
    if text:
        columns |= {name: [str(one) for one in columns[name]] for name in ("id", "won")}
    return answers(DOORS["arrays"](columns, None))


def refused(case, columns, door, folder):
    with pytest.raises(UNBUILDABLE) as caught:
        DOORS[door](columns, folder)
    if isinstance(caught.value, InputError):
        said = str(caught.value)
        assert any(word in said for word in ROLES[case.column]), said
    else:
        # The engine, not tempocal, found no type for the values.
        assert not any("tempocal" in str(entry.path) for entry in caught.traceback[3:])
