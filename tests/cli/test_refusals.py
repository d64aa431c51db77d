"""Everything that is wrong with a file or a command is one sentence with the flag to try."""

import numpy as np
import pandas as pd
import pytest

import tempocal as tc

COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")


@pytest.fixture
def fit(refused):
    """Fit to a file, which is refused."""

    def fits(file, *words, **keywords):
        return refused("fit", file, *words, "-o", "model.json", **keywords)

    return fits


def changed(frame, row=3, **values):
    """Return the rows with some values in one of them, counted from 1."""
    frame = frame.astype(dict.fromkeys(values, object))
    for name, value in values.items():
        frame.loc[row - 1, name] = value
    return frame


def test_a_file_that_is_not_there(folder, fit):
    assert fit("gone.csv", *COLUMNS) == "gone.csv does not exist"


def test_a_column_that_is_not_there(folder, fit):
    said = fit("predictions.csv", "--logits", "z", "--label", "wonn")
    assert said == (
        "--label: predictions.csv has no column 'wonn': did you mean 'won'? "
        "Its columns are: match, series, t, z, p, won, note"
    )


def test_an_empty_file(folder, fit):
    (folder / "empty.csv").write_text("")
    assert fit("empty.csv", *COLUMNS) == "empty.csv has no rows: there is nothing to do"
    (folder / "empty.csv").write_text("z,won\n")
    assert fit("empty.csv", "--logits", "z", "--label", "won").startswith("empty.csv has no rows")
    said = fit("-", *COLUMNS, stdin=b"")
    assert said == "standard input has no rows: there is nothing to do"


def test_an_unknown_ending(folder, fit):
    (folder / "a.dat").write_text("z\n1\n")
    assert "or say --format" in fit("a.dat", *COLUMNS)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"z": "abc"}, "--logits: column 'z' must be numbers, but row 3 has 'abc'"),
        ({"z": None}, "--logits: column 'z' has no value in row 3"),
        ({"z": "nan"}, "--logits: column 'z' holds NaN in row 3"),
        ({"won": None}, "--label: column 'won' has no value in row 3"),
        ({"match": None}, "--sequence: column 'match' has no value in row 3"),
        ({"t": "soon"}, "--time: column 't' must be numbers, or dates such as 2026-05-01 or "),
        ({"t": None}, "--time: column 't' has no value in row 3"),
    ],
    ids=str,
)
def test_values_that_cannot_be(folder, fit, frame, values, words):
    changed(frame, **values).to_csv("a.csv", index=False)
    assert fit("a.csv", *COLUMNS).startswith(words)


def test_probabilities_that_were_named_logits(folder, fit):
    said = fit("predictions.csv", "--logits", "p", "--label", "won")
    assert said == (
        "--logits p: all values lie in [0, 1], as probabilities do. If that is what they are, say "
        "--proba p; if not, say --really-logits"
    )


def test_logits_can_be_told_to_be_logits(folder, run):
    words = ["--logits", "p", "--label", "won", "--really-logits", "-o", "m.json"]
    assert "Warning: all" in run("fit", "predictions.csv", *words).err


def test_logits_that_were_named_probabilities(folder, fit, frame):
    row = int(np.argmax((frame["z"] < 0) | (frame["z"] > 1)))
    said = fit("predictions.csv", "--proba", "z", "--label", "won")
    assert said.startswith("--proba z: probabilities must lie in [0, 1], but row")
    assert f"row {row + 1} has {frame['z'][row]:g}" in said
    assert "say --logits z" in said


def test_one_class_only(folder, fit, frame):
    frame.assign(won=1).to_csv("a.csv", index=False)
    assert fit("a.csv", *COLUMNS).startswith("--label won holds one class only, 1:")


def test_more_classes_than_columns(folder, fit, frame):
    frame.assign(won=np.arange(len(frame)) % 3).to_csv("a.csv", index=False)
    said = fit("a.csv", "--logits", "z", "--label", "won")
    assert "holds 3 classes (0, 1, 2), but 1 column of predictions stand for 2" in said


def test_fewer_classes_than_columns(folder, fit):
    said = fit("predictions.csv", "--logits", "z,p,t", "--label", "won")
    assert said.endswith("say which class each stands for with --classes")


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ("0,1,2", "--classes 0,1,2 lists 3, but 1 column of predictions stand for 2 classes"),
        ("no,yes", "--classes no,yes: the labels are numbers, such as"),
        ("0,2", "--label won holds 1, which --classes does not list"),
    ],
)
def test_classes_that_are_not_those_of_the_labels(folder, fit, classes, words):
    said = fit("predictions.csv", "--logits", "z", "--label", "won", "--classes", classes)
    assert said.startswith(words)


def test_a_label_that_changes_within_a_sequence(folder, fit, run, frame):
    wrong = changed(frame, row=5, won=1 - frame["won"][4])
    wrong.assign(match="m" + frame["match"].astype(str)).to_csv("a.csv", index=False)
    said = fit("a.csv", *COLUMNS)
    assert said == (
        "the label 'won' changes within sequence m0, in row 5. If that is meant, say --label-varies"
    )
    run("fit", "a.csv", *COLUMNS, "--label-varies", "--curve", "constant", "-o", "m.json")


def test_a_group_holds_whole_sequences(folder, fit, run, frame):
    changed(frame, row=5, series=99).to_csv("a.csv", index=False)
    said = fit("a.csv", *COLUMNS, "--group", "series")
    assert said.startswith("the group 'series' changes within sequence 0, in row 5")
    words = ["--calibrator", "temperature", "--curve", "constant", "-o", "m.json"]
    said = run("fit", "predictions.csv", *COLUMNS, "--group", "series", *words).out
    assert f"rows of {frame['series'].nunique()} groups" in said


HORIZON = ("--calibrator", "platt", "--curve", "spline", "--td-horizon", 0.1)


def test_rows_of_a_sequence_at_the_same_time_have_no_order(folder, fit, frame):
    frame.assign(t=frame["t"] // 2).to_csv("a.csv", index=False)
    said = fit("a.csv", *COLUMNS, *HORIZON)
    assert said == (
        "--time must differ between the rows of a sequence, but two rows of the sequence 0 have "
        "the same (one is row 2): name a column that puts them in order with --order"
    )
    said = fit("predictions.csv", *COLUMNS, *HORIZON, "--order", "series")
    assert said.startswith("--order must differ between the rows of a sequence, but two rows")


def test_rows_that_all_lie_in_reverse_may_count_down(folder, fit, frame):
    frame.iloc[::-1].to_csv("a.csv", index=False)
    said = fit("a.csv", *COLUMNS, *HORIZON)
    assert said.startswith("--time must grow along a sequence, but all rows lie in the reverse")
    assert said.endswith("Name a column that grows with --order, or sort the file")


def test_an_order_that_is_no_number(folder, fit):
    said = fit("predictions.csv", *COLUMNS, "--order", "note")
    assert said.startswith("--order: column 'note' must be numbers, or dates")
    said = fit("predictions.csv", *COLUMNS, "--order", "gone")
    assert "gone" in said


@pytest.mark.parametrize("verb", ["fit", "compare", "report"])
def test_an_order_without_a_sequence(folder, refused, verb):
    output = [] if verb == "compare" else ["-o", "m.html"]
    words = [verb, "predictions.csv", *COLUMNS[:6], "--order", "t", *output]
    said = refused(*words, code=2)
    assert said.startswith("--order puts the rows of a sequence in order: name the column of")
    words = [verb, "predictions.csv", *COLUMNS[:4], *COLUMNS[6:], "--order", "t", *output]
    assert refused(*words, code=2).endswith("name the column of times with --time")


def test_learning_from_forecasts_without_sequences_or_with_a_choice(folder, fit):
    said = fit("predictions.csv", *COLUMNS[:6], *HORIZON, code=2)
    assert said == "--td-horizon 0.1 needs a sequence: name its column with --sequence"
    said = fit("predictions.csv", *COLUMNS[:4], *COLUMNS[6:], *HORIZON[4:], code=2)
    assert said == "--td-horizon 0.1 needs a time: name its column with --time"
    for horizon in ("auto", "0.2"):
        words = ["--combine", "choose", "--td-horizon", horizon]
        said = fit("predictions.csv", *COLUMNS, *words, code=2)
        assert said.startswith(f"--td-horizon {horizon} needs candidates that are averaged")


@pytest.mark.parametrize("value", ["", "0", "-0.1", "nan", "-inf", "1e400", "often", "\0"])
def test_horizons(folder, fit, value):
    said = fit("predictions.csv", *COLUMNS, *HORIZON[:4], f"--td-horizon={value}", code=2)
    assert said.startswith("Invalid value for '--td-horizon': ")
    assert said.endswith("nor a share of a sequence above 0, such as 0.1.")


def test_sequences_of_large_files_without_an_order(folder, fit, refused, frame, as_large):
    as_large(True)
    frame.assign(t=frame["t"] // 2).to_csv("a.csv", index=False)
    said = fit("a.csv", *COLUMNS, *HORIZON)
    assert said == (
        "--time must differ between the rows of a sequence, but two rows of the sequence 0 have "
        "the same: name a column that puts them in order with --order"
    )
    said = fit("predictions.csv", *COLUMNS, *HORIZON, "--order", "series")
    assert said.startswith("--order must differ between the rows of a sequence, but two rows")
    said = fit("predictions.csv", *COLUMNS, "--order", "note")
    assert said.startswith("--order: column 'note' must be numbers, or dates")
    words = ("report", "predictions.csv", *COLUMNS, "-o", "m.html")
    said = refused(*words, "--order", "series")
    assert said.startswith("--order must differ between the rows of a sequence, but two rows")


def test_one_column_for_two_things(folder, fit):
    said = fit("predictions.csv", "--logits", "z", "--label", "z")
    assert said == "--label and --logits both name the column 'z': they must differ"


def test_what_the_library_refuses_is_said_in_flags(folder, fit, frame):
    frame.assign(w=[1.0] * 6 + [-1.0] + [1.0] * (len(frame) - 7)).to_csv("a.csv", index=False)
    said = fit("a.csv", *COLUMNS, "--weight", "w")
    assert said == "--weight must not be negative, but row 7 has -1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--label", "won"], "either with --logits or with --proba"),
        (["--logits", "z", "--proba", "p", "--label", "won"], "either with --logits or with"),
        (["--logits", "z"], "Missing option '--label'"),
        (["--logits", "z", "--label", "won", "--curve", "spline"], "name its column with --time"),
        (["--logits", "z", "--label", "won", "--calibrator", "magic"], "'magic' is not one of"),
    ],
)
def test_a_command_that_is_not_understood_ends_with_2(folder, refused, words, said):
    assert said in refused("fit", "predictions.csv", *words, "-o", "model.json", code=2)


def test_bare_curves_do_not_follow_curves(folder, fit):
    said = fit("predictions.csv", *COLUMNS, "--calibrator", "isotonic", "--curve", "spline")
    assert "PerStep" in said


def test_a_folder_that_is_not_there(folder, refused):
    words = ["--logits", "z", "--label", "won", "-o", "no/model.json"]
    said = refused("fit", "predictions.csv", *words)
    assert said == "the folder no is not there: make it first"


def test_a_model_and_a_page_need_a_name(folder, refused):
    words = ["predictions.csv", "--logits", "z", "--label", "won", "-o", "-"]
    assert "give it a name" in refused("fit", *words, code=2)
    assert "give it a name" in refused("report", *words, code=2)


def test_another_separator_is_seen(folder, refused):
    (folder / "a.csv").write_text("z;won\n0.5;1\n")
    said = refused("fit", "a.csv", "--logits", "z", "--label", "won", "-o", "m.json")
    assert "separated by commas, but these by ';'" in said


def test_predictions_of_the_other_class_are_asked_about(folder, run):
    words = ["predictions.csv", "--logits", "z", "--label", "won"]
    assert "taken as those of class 1" in run("evaluate", *words).out
    said = run("evaluate", *words, "--classes", "1,0")
    assert "they fit class 1 better" in said.err


def test_few_sequences_get_a_note(folder, run, frame):
    frame[frame["match"] < 3].to_csv("few.csv", index=False)
    words = ["few.csv", "--logits", "z", "--label", "won", "--sequence", "match"]
    assert "with only 3 independent sequences" in run("evaluate", *words).err


def test_dates_of_the_calendar_get_a_note(folder, run, frame):
    start = pd.Timestamp("2026-01-01")
    days, hours = pd.to_timedelta(frame["match"], "D"), pd.to_timedelta(frame["t"], "h")
    frame.assign(at=start + 3 * days + hours, own=start + hours).to_parquet("dates.parquet")
    words = ["dates.parquet", "--logits", "z", "--label", "won", "--sequence", "match"]
    assert "time is the calendar here" in run("evaluate", *words, "--time", "at").err
    assert "calendar" not in run("evaluate", *words, "--time", "own").err


def test_text_where_labels_belong_is_a_label(folder, run, frame):
    text = pd.Series(["lost", "won"])[frame["won"]].to_numpy()
    frame.assign(won=text).to_csv("a.csv", index=False)
    run("fit", "a.csv", "--logits", "z", "--label", "won", "-o", "m.json")
    assert tc.load("m.json").classes_.tolist() == ["lost", "won"]
    words = ["--logits", "z", "--label", "won", "--classes", "won,lost", "-o", "m.json"]
    run("fit", "a.csv", *words)
    assert tc.load("m.json").classes_.tolist() == ["won", "lost"]
    frame.assign(won=frame["won"] == 1).to_csv("b.csv", index=False)
    words = ["--logits", "z", "--label", "won", "--classes", "false,true", "-o", "m.json"]
    run("fit", "b.csv", *words)
    assert tc.load("m.json").classes_.tolist() == [False, True]


def test_what_should_not_happen_is_a_sentence_too(folder, fit, run, monkeypatch):
    def broken(options, source, classes):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("tempocal.cli.read_predictions.read_predictions", broken)
    said = fit("predictions.csv", *COLUMNS)
    assert said.startswith("this should not have happened: ZeroDivisionError: division by zero")


def test_a_traceback_can_be_asked_for(folder):
    from click.testing import CliRunner  # noqa: PLC0415

    from tempocal.cli.group import tempocal  # noqa: PLC0415

    words = ["--traceback", "fit", "gone.csv", *COLUMNS, "-o", "m.json"]
    result = CliRunner().invoke(tempocal, words)
    assert isinstance(result.exception, FileNotFoundError)
