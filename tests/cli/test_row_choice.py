"""Rows that a command takes: --where, --unlabelled, and times since the start: --elapsed."""

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from cli.conftest import COLUMNS, FORMATS, save

FIT = ("--calibrator", "platt", "--curve", "spline", "-o")


@pytest.fixture
def split(folder, frame):
    """The frame with a split of its matches, moments, and matches that have no label yet."""
    table = frame.assign(
        split=np.where(frame["match"] % 3 == 0, "test", "cal"),
        made=pd.Timestamp("2026-05-01")
        + pd.to_timedelta(1000 * frame["match"] + 60 * frame["t"], unit="s"),
        late=frame["won"].where(frame["match"] < 50).astype("Int64"),
    )
    for ending in FORMATS:
        written = table.assign(made=table["made"].astype(str)) if ending == "jsonl" else table
        late = written["late"].astype(object).where(written["late"].notna(), None)
        save(written.assign(late=late) if ending == "jsonl" else written, folder / f"s.{ending}")
    return table


def model_of(path):
    return tc.load(path).parameters_at([0, 3, 9])["inverse_temperature"]


@pytest.mark.parametrize("ending", FORMATS)
def test_rows_of_a_condition_are_those_of_a_file_with_only_these(split, folder, run, ending):
    save(split[split["split"] == "cal"], folder / f"cal.{ending}") if ending != "jsonl" else None
    file = "cal.csv" if ending == "jsonl" else f"cal.{ending}"
    if ending == "jsonl":
        save(split[split["split"] == "cal"], folder / "cal.csv")
    run("fit", file, *COLUMNS, *FIT, "only.json")
    told = run("fit", f"s.{ending}", *COLUMNS, "--where", "split = 'cal'", *FIT, "m.json")
    np.testing.assert_allclose(
        tc.load("m.json").predict_proba([0.3, -1.0], time=[0, 9]),
        tc.load("only.json").predict_proba([0.3, -1.0], time=[0, 9]),
        rtol=1e-9,
    )
    n = int((split["split"] == "cal").sum())
    assert f"{n:,} of {len(split):,} rows are as --where says" in told.err
    assert f"Fitted to {n:,} rows of 40 sequences" in told.out


def test_apply_writes_the_rows_of_a_condition(split, run, model):
    words = ("apply", model, "s.csv", "--logits", "z", "--time", "t", "-o", "out.csv")
    run(*words, "--where", "split = 'test' and t >= 2")
    out = pd.read_csv("out.csv")
    assert len(out) == int(((split["split"] == "test") & (split["t"] >= 2)).sum())
    assert out["calibrated"].notna().all()


@pytest.mark.parametrize("verb", ["evaluate", "compare", "monitor"])
def test_every_command_that_reads_predictions_takes_a_condition(split, run, verb):
    words = ("--proba", "p", *COLUMNS[2:]) if verb == "monitor" else COLUMNS
    more = ("--calibrator", "temperature", "--curve", "constant") if verb == "compare" else ()
    said = run(verb, "s.csv", *words, *more, "--where", "match < 45")
    assert f"of {len(split):,} rows are as --where says" in said.err


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("split = cal", "cannot be read at 'cal', where a number, text in single quotes"),
        ("splits = 'cal'", "--where: s.csv has no column 'splits': did you mean 'split'?"),
        ("split = 3", "the column 'split' holds 'test', which cannot be compared with 3, a number"),
        ("t > 1 t", "cannot be read at 't', where and, or, or the end must be"),
        ("t > 'a' or", "cannot be read at its end, where the name of a column must be"),
        ("(t > 1", "cannot be read at its end, where ) must be"),
        ("t ~ 1", "cannot be read at '~ 1'"),
        ("not " * 60 + "t = 1", "more than 50 conditions within each other"),
        ("t > 1000", "leaves none of its"),
    ],
)
def test_conditions_that_cannot_be_are_refused(split, refused, condition, said):
    assert said in refused("evaluate", "s.csv", *COLUMNS, "--where", condition)


def test_rows_without_a_label_have_ways_out(split, run, refused):
    words = ("s.csv", "--logits", "z", "--label", "late", *COLUMNS[4:])
    said = refused("evaluate", *words)
    assert said.startswith("--label: column 'late' has no value in row ")
    assert "--unlabelled drop" in said
    assert "--where" in said
    assert "`tempocal monitor`" in said
    dropped = run("evaluate", *words, "--unlabelled", "drop")
    by_hand = run("evaluate", *words, "--where", "late is not null")
    assert dropped.out == by_hand.out
    missing = int(split["late"].isna().sum())
    assert f"left out {missing:,} rows without a label" in dropped.err


@pytest.mark.parametrize("ending", FORMATS)
def test_elapsed_is_the_time_since_the_first_row(split, folder, run, ending):
    since = split.assign(since=60.0 * split["t"])
    save(since.drop(columns=["made", "late"]), folder / "since.csv")
    rows = ("--logits", "z", "--label", "won", "--sequence", "match")
    run("fit", "since.csv", *rows, "--time", "since", *FIT, "by_hand.json")
    # The first row of a match counts, though it is left out.
    run("fit", f"s.{ending}", *rows, "--elapsed", "made", *FIT, "m.json")
    at = {"time": [0.0, 540.0]}
    np.testing.assert_allclose(
        tc.load("m.json").predict_proba([0.3, -1.0], **at),
        tc.load("by_hand.json").predict_proba([0.3, -1.0], **at),
        rtol=1e-9,
    )
    words = ("--logits", "z", "--elapsed", "made", "--sequence", "match", "-o", "out.csv")
    run("apply", "m.json", f"s.{ending}", *words, "--where", "t >= 3")
    out = pd.read_csv("out.csv")
    assert "made since the start" not in out.columns
    expected = tc.load("m.json").predict_proba(out["z"], time=60.0 * out["t"])[:, 1]
    np.testing.assert_allclose(out["calibrated"], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--elapsed", "made", "--time", "t"), 2, "--elapsed takes the place of --time"),
        (("--elapsed", "note"), 1, "--elapsed: column 'note' must be numbers, or dates"),
        (("--elapsed", "gone"), 1, "--elapsed: s.csv has no column 'gone'"),
    ],
)
def test_elapsed_that_cannot_be_is_refused(split, refused, words, code, said):
    rows = ("--logits", "z", "--label", "won", "--sequence", "match")
    assert said in refused("evaluate", "s.csv", *rows, *words, code=code)


def test_elapsed_needs_sequences_and_one_file(split, refused):
    rows = ("s.csv", "--proba", "p", "--label", "won", "--elapsed", "made")
    assert "with --sequence" in refused("evaluate", *rows, code=2)
    words = ("--sequence", "match", "--state", "m.json")
    said = refused("monitor", *rows, *words, code=2)
    assert "a sequence may have begun in an earlier one" in said


def test_large_files_are_chosen_from_alike(split, both):
    small, large = both("evaluate", "s.parquet", *COLUMNS, "--where", "split = 'cal'")
    assert small.out.splitlines()[:6] == large.out.splitlines()[:6]


@pytest.fixture
def numbers(folder, frame):
    """The frame with ids that doubles do not tell apart."""
    table = frame.assign(big=2**53 + frame["match"] % 4, half=frame["t"] + 0.5)
    for ending in FORMATS:
        save(table, folder / f"n.{ending}")
    return table


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("big = 9007199254740993", lambda f: f["big"] == 2**53 + 1),
        ("big > 9007199254740993.0", lambda f: f["big"] > 2**53 + 1),
        ("big in (9007199254740992, 9007199254740995)", lambda f: f["match"] % 4 % 3 == 0),
        ("big < 99999999999999999999 and match < 45", lambda f: f["match"] < 45),
        ("half >= 3", lambda f: f["t"] >= 3),
        ("t >= 2.5", lambda f: f["t"] >= 3),
        ("won = true or match < 30", lambda f: (f["won"] == 1) | (f["match"] < 30)),
    ],
)
def test_numbers_are_compared_alike_in_all_formats(numbers, run, ending, condition, kept):
    words = ("--logits", "z", "--label", "won", "--sequence", "match", "--where", condition)
    said = run("evaluate", f"n.{ending}", *words).err
    assert f"{int(kept(numbers).sum()):,} of {len(numbers):,} rows are as --where says" in said


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("t >= '10'", "compared with '10', text in single quotes: write numbers without quotes"),
        ("match = true", "the column 'match' holds "),
        ("t > 1e999", "the number 1e999 is too large to be compared"),
        ("t > 1e99999999999999999999", "is too large to be compared"),
        ("t > 9007199254740992.5", "has more digits than can be compared"),
    ],
)
def test_what_is_no_comparison_of_numbers_is_refused(numbers, refused, ending, condition, said):
    assert said in refused("evaluate", f"n.{ending}", *COLUMNS, "--where", condition)


def test_numbers_that_doubles_do_not_tell_apart_are_refused(numbers, folder, refused):
    save(numbers.assign(big=numbers["big"].astype(float)), folder / "n.parquet")
    condition = "big = 9007199254740993"
    said = refused("evaluate", "n.parquet", *COLUMNS, "--where", condition)
    assert "cannot be told from neighbors of 9007199254740993" in said


def test_elapsed_counts_rows_from_one(split, folder, refused):
    rows = ("--logits", "z", "--label", "won", "--sequence", "match")
    said = refused("evaluate", "s.csv", *rows, "--elapsed", "note")
    assert said == refused("evaluate", "s.csv", *rows, "--time", "note").replace("time", "elapsed")
    assert "row 1 has" in said
    made = split["made"].astype(str)
    save(split.assign(made=made.mask(split.index == 4)), folder / "gap.csv")
    said = refused("evaluate", "gap.csv", *rows, "--elapsed", "made")
    assert said.startswith("--elapsed: column 'made' has no value in row 5")
