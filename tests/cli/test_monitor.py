"""Forecasts in files, watched one after another."""

import json

import numpy as np
import pandas as pd
import pytest

from tempocal.live import Monitor

COLUMNS = ("--proba", "p", "--label", "won", "--time", "t", "--sequence", "match")
NEXT = (*COLUMNS, "--state", "monitor.json")


@pytest.fixture
def by_clock(frame):
    """Rows in the order of prediction: a match starts every round."""
    order = (frame["match"] + frame["t"]).sort_values(kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def found(run, *words):
    return json.loads(run("monitor", *words, "--json").out)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_is_watched_as_its_rows_are(folder, run, frame, ending):
    status = found(run, f"predictions.{ending}", *COLUMNS, "--edges", "3,6", "--alpha", "0.1")
    monitor = Monitor([3, 6], alpha=0.1).replay(
        frame["p"], frame["won"], time=frame["t"], sequence=frame["match"].astype(str)
    )
    assert status == json.loads(json.dumps(monitor.status().to_dict()))


def test_logits_are_watched_as_their_probabilities(folder, run):
    logits = found(run, "predictions.csv", "--logits", "z", *COLUMNS[2:])
    proba = found(run, "predictions.csv", *COLUMNS)
    assert logits["movement"]["e_value"] == pytest.approx(proba["movement"]["e_value"])
    assert logits["stretches"][0]["e_value"] == pytest.approx(proba["stretches"][0]["e_value"])


def test_the_table_says_what_the_status_says(folder, run):
    out = run("monitor", "predictions.csv", *COLUMNS, "--edges", "3", "--no-movement").out
    assert out.startswith("no alarm: anytime-valid p = ")
    assert "60 sequences finished, 0 under way" in out
    assert "before 3" in out
    assert "from 3 on" in out
    assert "movement" not in out


def test_an_alarm_is_an_exit_code_if_asked_for(folder, run, refused, frame):
    frame.assign(p=1.0 - frame["p"]).to_csv("wrong.csv", index=False)
    out = run("monitor", "wrong.csv", *COLUMNS).out
    assert out.startswith("ALARM: ")
    assert "ALARM at" in out.split("all times")[1]
    said = refused("monitor", "wrong.csv", *COLUMNS, "--fail", "--state", "m.json", code=4)
    assert said == "the forecasts are not right: there is an alarm"
    assert Monitor.load("m.json").status().alarm  # saved all the same
    run("monitor", "predictions.csv", *COLUMNS, "--fail", "--no-movement")


def test_files_one_after_another_are_one_file(folder, run, by_clock):
    """Labels come with later predictions, or alone, in rows without a probability."""
    by_clock.to_csv("all.csv", index=False)
    whole = found(run, "all.csv", *COLUMNS, "--edges", "3,6")
    half = len(by_clock) // 2
    over = by_clock["match"].isin(by_clock["match"][half:])
    first = by_clock[:half].assign(won=by_clock["won"][:half].where(~over[:half]).astype("Int64"))
    first.to_csv("first.csv", index=False)
    by_clock[half:].drop(columns="won").to_csv("second.csv", index=False)
    ends = by_clock[half:].drop_duplicates("match")[["match", "won"]]
    ends.assign(p=None, t=None).to_csv("ends.csv", index=False)

    run("monitor", "first.csv", *NEXT, "--edges", "3,6")
    under_way = found(run, "second.csv", *(word for word in NEXT if word not in ("--label", "won")))
    assert under_way["under_way"] == len(ends)
    assert under_way["movement"]["settled"] > 0
    assert found(run, "ends.csv", *NEXT) == whole


def test_ids_are_text_in_every_file(folder, run):
    rows = {"p": [0.5], "t": [0]}
    pd.DataFrame({**rows, "match": [7], "won": [None]}).to_csv("a.csv", index=False)
    pd.DataFrame({**rows, "match": [7], "won": [1]}).to_json(
        "b.jsonl", orient="records", lines=True
    )
    pd.DataFrame({**rows, "match": ["7"], "won": [1]}).to_parquet("c.parquet", index=False)
    for file in ("b.jsonl", "c.parquet"):
        (folder / "monitor.json").unlink(missing_ok=True)
        run("monitor", "a.csv", *NEXT, "--classes", "0,1")
        status = found(run, file, *NEXT)
        assert (status["finished"], status["under_way"]) == (1, 0)


def test_classes_may_be_words_before_there_is_a_label(folder, run):
    rows = pd.DataFrame({"match": [7], "t": [0], "a": [0.2], "b": [0.3], "c": [0.5], "won": [None]})
    rows.to_csv("a.csv", index=False)
    rows.assign(won="draw", a=None, b=None, c=None).to_csv("b.csv", index=False)
    words = ["--proba", "a,b,c", *NEXT[2:]]
    run("monitor", "a.csv", *words, "--classes", "home,draw,away")
    assert found(run, "b.csv", *words)["finished"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--edges", "3,x"], "--edges 3,x must be numbers, or dates, with commas between them"),
        (["--edges", "2026-05-01"], "time is number and was datetime before"),
        (["--edges", "6,3"], "--edges must increase"),
        (["--time", "note"], "--time: column 'note' must be numbers"),
        (["--sequence", "gone"], "--sequence: "),
        (["--proba", "z"], "--proba p,z: probabilities must lie in [0, 1]"),
        (["--logits", "z"], "either with --logits or with --proba"),
        (["--state", "no/m.json"], "the folder no is not there"),
        (["--label", "t"], "--time and --label both name the column 't'"),
    ],
)
def test_what_cannot_be_is_refused(folder, refused, words, said):
    code = 2 if words[0] == "--logits" else 1
    given = [word for word in COLUMNS if word not in ("--time", "t") or "--time" not in words]
    assert said in refused("monitor", "predictions.csv", *given, *words, code=code)


def test_a_refused_file_leaves_the_state_as_it_was(folder, run, refused, frame):
    run("monitor", "predictions.csv", *NEXT)
    before = (folder / "monitor.json").read_bytes()
    frame = frame.assign(match=frame["match"] + 1000)
    frame[frame["match"] == 1001].iloc[::-1].to_csv("backwards.csv", index=False)
    assert "time runs backwards in the sequence '1001'" in refused(
        "monitor", "backwards.csv", *NEXT
    )
    frame.assign(won=frame["won"] + 1).to_csv("strange.csv", index=False)
    assert "is not among the classes" in refused("monitor", "strange.csv", *NEXT)
    assert (folder / "monitor.json").read_bytes() == before


def test_edges_may_be_dates(folder, run, frame):
    dates = pd.Timestamp("2026-05-01") + pd.to_timedelta(frame["t"], unit="D")
    frame.assign(t=dates).to_csv("dates.csv", index=False)
    numbers = found(run, "predictions.csv", *COLUMNS, "--edges", "3,6")
    status = found(run, "dates.csv", *COLUMNS, "--edges", "2026-05-04, 2026-05-07T00:00")
    assert status["stretches"][0]["name"] == "before 2026-05-04"
    for one, other in zip(status["stretches"], numbers["stretches"], strict=True):
        assert {**one, "name": ""} == {**other, "name": ""}


def test_a_state_that_another_run_saved_is_not_overwritten(folder, run, refused, monkeypatch):
    replay = Monitor.replay

    def slow(self, *values, **named):
        Monitor(alpha=0.01).save("monitor.json")  # what another run does at this moment
        return replay(self, *values, **named)

    monkeypatch.setattr(Monitor, "replay", slow)
    said = refused("monitor", "predictions.csv", *NEXT)
    assert "another run saved monitor.json meanwhile: nothing of predictions.csv was saved" in said
    assert Monitor.load("monitor.json").status().alpha == 0.01


def test_a_run_that_another_one_is_at_is_refused_at_once(folder, run, refused, frame, monkeypatch):
    """Also where the other one would save only after all checks of this one."""
    first, second = frame[frame["match"] < 30], frame[frame["match"] >= 30]
    first.to_csv("first.csv", index=False)
    second.to_csv("second.csv", index=False)
    save, said = Monitor.save, []

    def slow(self, path):
        monkeypatch.setattr(Monitor, "save", save)
        said.append(refused("monitor", "second.csv", *NEXT))
        save(self, path)

    monkeypatch.setattr(Monitor, "save", slow)
    run("monitor", "first.csv", *NEXT)
    assert said == [
        "another run is using monitor.json: nothing of second.csv was saved, so run this "
        "again, one at a time"
    ]
    assert found(run, "second.csv", *NEXT)["finished"] == 60


def test_a_run_that_fails_lets_go_of_the_state(folder, run, refused):
    refused("monitor", "predictions.csv", *NEXT, "--edges", "6,3")
    assert found(run, "predictions.csv", *NEXT)["finished"] == 60


def test_evidence_that_is_infinite_is_null_in_json(folder, run, frame):
    wrong = frame.assign(p=frame["won"].map({0: 1 - 1e-12, 1: 1e-12}))
    many = pd.concat([wrong.assign(match=wrong["match"] + 100 * k) for k in range(10)])
    many.to_csv("wrong.csv", index=False)
    out = run("monitor", "wrong.csv", *COLUMNS, "--json").out
    line = json.loads(out, parse_constant=pytest.fail)["stretches"][0]
    assert line["e_value"] is None
    assert line["log_e_value"] > 709


def test_settings_are_those_of_the_state(folder, run, refused):
    run("monitor", "predictions.csv", *NEXT)
    for words in (["--edges", "3"], ["--alpha", "0.1"], ["--no-movement"], ["--classes", "0,1"]):
        said = refused("monitor", "new.csv", *NEXT, *words, code=2)
        assert said.startswith(f"{words[0]} was fixed when monitor.json was created")


def test_a_damaged_state_and_a_first_file_without_labels(folder, run, refused, frame):
    (folder / "monitor.json").write_text("{}")
    refused("monitor", "predictions.csv", *NEXT, code=3)
    (folder / "monitor.json").unlink()
    frame.assign(won=None).to_csv("open.csv", index=False)
    said = refused("monitor", "open.csv", *COLUMNS)
    assert said == "no label is there yet: say what the classes are with --classes"


def test_a_file_that_comes_again_is_refused(folder, run, refused, frame):
    run("monitor", "predictions.csv", *NEXT)
    before = (folder / "monitor.json").read_bytes()
    n = len(frame)
    assert refused("monitor", "predictions.csv", *NEXT) == (
        f"{n} of the {n} rows are of sequences that are finished already (60, the first of them "
        "'0') and would count twice: leave them out with --skip-finished"
    )
    ends = pd.DataFrame({"match": [3, 3, 4], "t": None, "p": None, "won": [0, 0, 1]})
    ends.to_csv("ends.csv", index=False)
    assert refused("monitor", "ends.csv", *NEXT).startswith("3 of the 3 rows are of sequences")
    assert (folder / "monitor.json").read_bytes() == before


def test_of_a_file_that_grows_only_what_is_new_counts(folder, run, frame):
    whole = found(run, "predictions.csv", *COLUMNS)
    old = frame[frame["match"] < 40]
    old.to_csv("old.csv", index=False)
    first = run("monitor", "old.csv", *NEXT, "--skip-finished")
    assert "left out 0 rows of sequences that are finished already" in first.err
    for _ in range(2):
        again = run("monitor", "predictions.csv", *NEXT, "--skip-finished", "--json")
        assert json.loads(again.out)["finished"] == whole["finished"]
        assert json.loads(again.out)["movement"]["settled"] == whole["movement"]["settled"]
    assert f"left out {len(frame)} rows of sequences that are finished" in again.err
    ends = old.drop_duplicates("match").assign(p=None, t=None)
    ends.to_csv("ends.csv", index=False)
    said = run("monitor", "ends.csv", *NEXT, "--skip-finished").err
    assert "left out 40 rows of sequences that are finished already" in said


@pytest.fixture
def accounts(folder):
    """Four hundred accounts of which every fourth never ends, the first one of them."""
    k = pd.Series(range(400))
    table = pd.DataFrame(
        {
            "match": "a" + k.astype(str),
            "t": 0,
            "p": [0.3, 0.6, 0.5, 0.4] * 100,
            "won": [None, 1, 0, 1, None, 0, 1, 0] * 50,
            "row": k,
            "made": pd.to_datetime("2026-05-01") + pd.to_timedelta(k, unit="h"),
        }
    )
    table.to_csv("accounts.csv", index=False)
    return table


def test_what_is_held_up_is_said_and_is_an_exit_code(accounts, run, refused):
    said = refused("monitor", "accounts.csv", *COLUMNS, code=5)
    assert said.startswith("too little was seen to judge: all times: 300 bets have their outcome")
    assert "behind sequence a0, which is still open" in said
    result = run("monitor", "accounts.csv", *COLUMNS, code=5)
    assert result.out.startswith("too little to judge: anytime-valid p = 1")
    assert "300 held up by sequence a0" in result.out
    told = run("monitor", "accounts.csv", *COLUMNS, "--json", code=5).out
    assert json.loads(told)["verdict"] == "too little"


@pytest.mark.parametrize(
    "words", [("--abandon-after", "30"), ("--abandon-after", "30h", "--clock", "made")]
)
def test_what_is_open_for_too_long_is_abandoned(accounts, run, words):
    result = run("monitor", "accounts.csv", *COLUMNS, *words, "--fail", "--state", "m.json")
    # The last of them began at the 396th row: 92 are older than 30 hours, or rows.
    assert "abandoned 93 sequences that were still open, the first of them 'a0'" in result.err
    assert "were settled at their lowest factor" in result.err
    status = Monitor.load("m.json").status()
    assert (status.abandoned, status.verdict) == (93, "no alarm")
    accounts.iloc[[8]].to_csv("later.csv", index=False)
    run("monitor", "later.csv", *NEXT[:8], "--state", "m.json", "--skip-finished", *words[2:])


def test_sequences_are_abandoned_by_name(accounts, run, refused):
    words = ("monitor", "accounts.csv", *COLUMNS, "--abandon", "a0", "--json")
    (lowest,) = json.loads(run(*words, code=5).out)["stretches"]
    (left_out,) = json.loads(run(*words, "--unrelated-to-outcome", code=5).out)["stretches"]
    assert (lowest["settled"], left_out["settled"]) == (4, 3)
    assert "'gone' is not known" in refused(*words[:-2], "gone")
    said = refused("monitor", "accounts.csv", *COLUMNS, "--unrelated-to-outcome", code=2)
    assert said.startswith("--unrelated-to-outcome is about sequences that --abandon names")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--abandon-after", "soon"), 2, "neither a number above 0 nor a duration such as 30d"),
        (("--abandon-after", "0"), 2, "neither a number above 0 nor a duration such as 30d"),
        (("--abandon-after", "0d"), 2, "'0d' is no time at all"),
        (("--abandon-after", "99999999999999d"), 2, "is longer than any duration can be"),
        (("--abandon-after", "30d"), 2, "a duration needs --clock"),
        (("--abandon-after", "3.5"), 1, "--abandon-after must be a whole number"),
        (("--abandon-after", "3", "--clock", "made"), 1, "give a duration, such as 3d"),
        (("--abandon-after", "3d", "--clock", "row"), 1, "--clock row holds numbers: give a numb"),
        (("--clock", "made", "--clock", "row"), 2, "--clock was given 2 times, and monitor takes"),
        (("--clock", "nowhere"), 1, "--clock: "),
    ],
)
def test_ages_and_clocks_that_cannot_be_are_refused(accounts, refused, words, code, said):
    assert said in refused("monitor", "accounts.csv", *COLUMNS, *words, code=code)


def test_a_new_monitor_fails_only_if_asked_to(folder, run, refused, frame):
    frame[frame["match"] < 5].to_csv("first.csv", index=False)
    assert run("monitor", "first.csv", *COLUMNS, "--no-movement").out.startswith("too little")
    said = refused("monitor", "first.csv", *COLUMNS, "--no-movement", "--fail", code=5)
    assert "no line has 20 settled bets yet" in said


def test_one_sequence_is_abandoned_in_the_singular(accounts, run):
    accounts.iloc[:31].to_csv("few.csv", index=False)
    said = run("monitor", "few.csv", *COLUMNS, "--abandon-after", "30", code=5).err
    assert "abandoned 1 sequence that was still open, 'a0'" in said


def test_what_is_held_up_is_an_exit_code_beside_an_alarm_too(folder, run, refused):
    """Forecasts that jump, of sequences behind one that stays open."""
    rows = pd.DataFrame({"match": np.repeat(np.arange(100), 8), "t": np.tile(np.arange(8), 100)})
    rows["p"] = np.where(rows["t"] % 2, 0.95, 0.05)
    rows["won"] = (rows["match"] % 2).where(rows["match"] > 0).astype("Int64")
    rows.to_csv("jumps.csv", index=False)
    words = ("monitor", "jumps.csv", *COLUMNS, "--edges", "6")
    said = refused(*words, code=5)
    assert "before 6: 99 bets have their outcome and are not judged, for they wait behind" in said
    assert json.loads(run(*words, "--json", code=5).out)["verdict"] == "alarm"
    assert refused(*words, "--fail", code=4).endswith("there is an alarm")
