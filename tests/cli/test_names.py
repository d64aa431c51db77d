"""Ids and labels are told apart as they are written, and shown in characters that can be shown."""

import json

import numpy as np
import pandas as pd

import tempocal as tc
from tempocal.cli.terminal import printable, show_table

COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")
SCORES = ("--logits", "z", "--label", "won")
MODEL = ("--calibrator", "temperature", "--curve", "constant", "-o", "m.json")


def evaluated(run, file):
    return json.loads(run("evaluate", file, *COLUMNS, "--bins", "2", "--json").out)


def test_long_ids_are_told_apart(folder, run, frame):
    long = [f"1234567890123456{one:04d}" for one in frame["match"]]
    frame.assign(match=long).to_csv("a.csv", index=False)
    found, want = evaluated(run, "a.csv"), evaluated(run, "predictions.csv")
    assert found["sequences"] == 60
    assert found["predictions"] == want["predictions"]


def test_labels_of_two_spellings_are_two(folder, run, frame):
    frame.assign(won=np.array(["01", "1"])[frame["won"]]).to_csv("a.csv", index=False)
    run("fit", "a.csv", *COLUMNS, *MODEL)
    assert tc.load("m.json").classes_.tolist() == ["01", "1"]
    run("fit", "a.csv", *COLUMNS, "--classes", "1,01", *MODEL)
    assert tc.load("m.json").classes_.tolist() == ["1", "01"]


def test_whole_numbers_are_in_their_order(folder, run):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 3))
    y = np.array([2, 9, 10])[(z + rng.gumbel(size=z.shape)).argmax(axis=1)]
    pd.DataFrame(z, columns=["a", "b", "c"]).assign(y=y).to_csv("k.csv", index=False)
    words = ["--logits", "a,b,c", "--label", "y", "-o", "m.json"]
    run("fit", "k.csv", *words)
    assert tc.load("m.json").classes_.tolist() == [2, 9, 10]


def test_a_line_that_is_no_object(folder, refused):
    (folder / "a.jsonl").write_text('null\n{"z": 0.5, "won": 1}\n')
    said = refused("evaluate", "a.jsonl", *SCORES)
    assert said.startswith("a.jsonl cannot be read as JSON lines: each line must be an object")


def test_lists_are_no_ids(folder, refused, frame):
    frame.assign(match=[[one] for one in frame["match"]]).to_parquet("a.parquet")
    said = refused("evaluate", "a.parquet", *COLUMNS)
    assert said.startswith("--sequence: column 'match' must be ids: numbers, text or dates")


def test_times_that_would_lose_digits(folder, refused, frame):
    frame.assign(t=frame["t"] + 2**62).to_csv("a.csv", index=False)
    said = refused("evaluate", "a.csv", *COLUMNS)
    assert said.startswith("--time: column 't' has 46116860184273879")
    assert said.endswith("lose digits: subtract the first one")


def test_fractions_as_labels_name_the_flag(folder, refused, frame):
    frame.assign(won=0.5 + frame["won"]).to_parquet("a.parquet")
    for verb in ("evaluate", "fit"):
        words = [*COLUMNS, *(MODEL if verb == "fit" else ())]
        said = refused(verb, "a.parquet", *words)
        assert said.startswith("--label must be class labels, but it holds fractions such as ")


def test_infinite_times_name_the_flag(folder, refused, frame):
    times = frame["t"].astype(float)
    times[4] = np.inf
    frame.assign(t=times).to_csv("a.csv", index=False)
    said = refused("evaluate", "a.csv", *COLUMNS)
    assert said == "--time contains infinity (first at row 5): --time must be finite"


def test_classes_that_are_listed_twice_name_the_flag(folder, refused):
    words = ["--logits", "z,p,t", "--label", "won", "--classes", "0,1,1", "-o", "m.json"]
    said = refused("fit", "predictions.csv", *words)
    assert said == "--classes lists a class twice: [0, 1, 1]"


def test_what_a_terminal_would_obey_is_not_shown():
    odd = "".join(map(chr, [*range(32), *range(127, 160), 0xD800, 0xDFFF]))
    assert printable(odd).replace("\N{REPLACEMENT CHARACTER}", "") == "\t\n"
    assert printable("ünï 漢 😀\n") == "ünï 漢 😀\n"


def test_classes_and_files_are_shown_in_plain_characters(folder, run, refused, frame):
    odd = np.array(["a\x1b[31m", "b\x9b\x07"])[frame["won"]]
    frame.assign(won=odd).to_csv("x\x1b[2J.csv", index=False)
    said = run("evaluate", "x\x1b[2J.csv", *COLUMNS)
    assert "those of class b\ufffd\ufffd." in said.out
    assert "x\ufffd[2J.csv: " in said.out
    said = run("fit", "x\x1b[2J.csv", *COLUMNS, *MODEL)
    assert said.out == printable(said.out)
    assert refused("fit", "\x1b.csv", *COLUMNS, *MODEL) == "\ufffd.csv does not exist"
    said = refused("fit", "\udcff.csv", *COLUMNS, *MODEL)
    assert said.startswith("the name \ufffd.csv is not UTF-8")


def test_tables_are_shown_in_plain_characters(capsys):
    show_table("t\x1b", ["h\x9b", "n"], [["c\x00\ud800", "1"]])
    assert capsys.readouterr().out.split() == ["t�", "h�", "n", "─" * 9, "c��", "1"]
