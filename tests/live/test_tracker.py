"""Sequences as they come: what is held, learned, refused and found again after a restart."""

import errno
import os
import warnings
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tempocal as tc
from tempocal.errors import InputError, LogCutWarning, LogError, NotLearnedWarning, NotSavedWarning

M = tc.datasets.simulate_match(340, seed=2)
FIRST = M.sequence < 300


def rows(which):
    return {
        "logits": M.logits[which],
        "y": M.label[which],
        "time": M.time[which],
        "groups": M.sequence[which],
    }


CAL = tc.TemporalCalibrator(shrinkage=1.0).fit(**rows(FIRST))


@pytest.fixture
def tracker(tmp_path):
    with tc.live.SequenceTracker(tmp_path / "live", CAL) as tracker:
        yield tracker


def play(tracker, k):
    """Take a whole match."""
    own = np.flatnonzero(M.sequence == k)
    for row in own:
        tracker.observe(int(k), M.logits[row], time=M.time[row])
    tracker.finish(int(k), M.label[own[0]])


def test_it_learns_what_partial_fit_would(tracker):
    wanted = clone(CAL).fit(**rows(FIRST))
    for k in range(300, 310):
        play(tracker, k)
        wanted.partial_fit(**rows(M.sequence == k))
    np.testing.assert_array_equal(
        tracker.calibrator.decision_function(M.logits, time=M.time),
        wanted.decision_function(M.logits, time=M.time),
    )
    assert tracker.calibrator.summary().n_groups == 310
    # The one that was passed is as it was.
    assert CAL.summary().n_groups == 300


def test_it_says_how_far_it_is(tmp_path, tracker):
    tracker.observe("a", 1.0, time=1)
    tracker.observe("b", 1.0, time=1)
    tracker.finish("b", 1)
    assert repr(tracker).startswith("<SequenceTracker of ")
    assert repr(tracker).endswith(": 1 sequences finished, 1 under way>")


def test_it_calibrates_as_it_goes(tracker):
    found = tracker.observe("a", 1.5, time=3)
    np.testing.assert_array_equal(found, CAL.predict_proba([1.5], time=[3])[0])


def test_it_goes_on_after_a_restart(tmp_path, tracker):
    for k in range(300, 305):
        play(tracker, k)
    tracker.observe("a", 1.5, time=3)
    tracker.observe("b", -0.5, time=1)
    tracker.abandon("b")
    tracker.close()
    with tc.live.SequenceTracker(tmp_path / "live") as again:
        assert again.under_way == ["a"]
        assert (again.n_observed("a"), again.n_observed("b"), again.n_finished) == (1, 0, 5)
        again.finish("a", 0)
        history = again.history()
    assert history["groups"].max() == 5
    assert history["logits"][-1] == 1.5
    own = np.isin(M.sequence, range(300, 305))
    for name, values in rows(own).items():
        if name != "groups":
            np.testing.assert_array_equal(history[name][:-1], values)


@pytest.mark.parametrize(
    "rest", [b"1234", b'0bad0bad*["finish","a",1]', b"\0" * 40, b"\0" * 40 + b"\n" + b"x\n"]
)
def test_a_line_that_was_being_written_is_cut_off_and_told(tmp_path, tracker, rest):
    tracker.observe("a", 1.5, time=3)
    tracker.close()
    log = tmp_path / "live" / "sequences.log"
    whole = log.read_bytes()
    log.write_bytes(whole + rest)
    said = rf"sequences.log ended within a record.*line 4 and what followed, {len(rest)} bytes"
    with (
        pytest.warns(LogCutWarning, match=said),
        tc.live.SequenceTracker(tmp_path / "live") as again,
    ):
        assert again.n_observed("a") == 1
    assert log.read_bytes().startswith(whole)
    assert rest not in log.read_bytes()
    tc.live.SequenceTracker(tmp_path / "live").close()  # told once


@pytest.mark.parametrize("place", range(30))
def test_a_last_record_that_was_altered_is_told(tmp_path, tracker, place):
    """Any byte of the last ``finish``: it is refused or told, or it is read as it was."""
    tracker.observe("a", 1.5, time=3)
    tracker.finish("a", 1)
    tracker._log.close()
    log = tmp_path / "live" / "sequences.log"
    data = bytearray(log.read_bytes())
    start = data.rindex(b"\n", 0, -1) + 1
    if start + place >= len(data):
        return
    data[start + place] ^= 1
    log.write_bytes(data)
    with pytest.raises((LogError, LogCutWarning), match=r"in line 3|line 3 and what"):
        tc.live.SequenceTracker(tmp_path / "live")


def test_an_altered_record_names_the_way_out(tmp_path, tracker):
    tracker.observe("a", 1.5, time=3)
    tracker.finish("a", 1)
    tracker._log.close()
    log = tmp_path / "live" / "sequences.log"
    data = log.read_bytes()
    log.write_bytes(data.replace(b'"finish","a",1', b'"finish","a",0'))
    with pytest.raises(LogError, match=r"it reads .*finish.*cut the file to its first") as caught:
        tc.live.SequenceTracker(tmp_path / "live")
    size = int(str(caught.value).split("first ")[1].split()[0].replace(",", ""))
    os.truncate(log, size)
    with tc.live.SequenceTracker(tmp_path / "live") as again:
        assert again.under_way == ["a"]


@pytest.mark.parametrize("text", [b"somebody's notes\n", b"x" * 1000])
def test_a_file_of_somebody_else_is_left_as_it_is(tmp_path, text):
    (tmp_path / "sequences.log").write_bytes(text)
    with pytest.raises(LogError, match=r"damaged in line 1|is not the log of a tracker"):
        tc.live.SequenceTracker(tmp_path, CAL)
    assert (tmp_path / "sequences.log").read_bytes() == text


def test_damage_before_the_end_is_an_error(tmp_path, tracker):
    for time in (3, 4, 5):
        tracker.observe("a", 1.5, time=time)
    tracker.finish("a", 1)
    tracker.close()
    log = tmp_path / "live" / "sequences.log"
    log.write_bytes(log.read_bytes().replace(b"1.5,4.0", b"1.6,4.0"))
    with pytest.raises(LogError, match="damaged in line 3"):
        tc.live.SequenceTracker(tmp_path / "live")


@pytest.mark.parametrize("record", [["save"], ["dance", "a"], [1, 2]])
def test_a_log_of_somebody_else_is_an_error(tmp_path, tracker, record):
    tracker._log.append(record)
    tracker._log.close()
    with pytest.raises(LogError, match="is not the log of a tracker"):
        tc.live.SequenceTracker(tmp_path / "live")


@pytest.mark.parametrize("other", [b"{}", None])
def test_a_model_of_somebody_else_is_an_error(tmp_path, tracker, other):
    play(tracker, 300)
    tracker.close()
    model = tmp_path / "live" / "model.json"
    if other is None:
        clone(CAL).partial_fit(**rows(~FIRST)).save(model)
    else:
        model.write_bytes(other)
    with pytest.raises(LogError, match="is not a model that this tracker saved"):
        tc.live.SequenceTracker(tmp_path / "live")
    model.unlink()
    with pytest.raises(LogError, match="is gone"):
        tc.live.SequenceTracker(tmp_path / "live")


def test_an_older_model_of_its_own_will_do(tmp_path, tracker):
    older = (tmp_path / "live" / "model.json").read_bytes()
    for k in (300, 301):
        play(tracker, k)
    tracker.close()
    newest = (tmp_path / "live" / "model.json").read_bytes()
    (tmp_path / "live" / "model.json").write_bytes(older)
    tc.live.SequenceTracker(tmp_path / "live").close()
    assert (tmp_path / "live" / "model.json").read_bytes() == newest


def test_a_kill_before_the_new_model_takes_the_place_of_the_old(tmp_path, tracker):
    play(tracker, 300)
    tracker.close()
    (tmp_path / "live" / "model.json").rename(tmp_path / "live" / ".model.json.new")
    with tc.live.SequenceTracker(tmp_path / "live") as again:
        assert again.calibrator.summary().n_groups == 301


def test_a_sequence_that_cannot_be_learned_is_told_once_and_does_no_harm(tmp_path, tracker):
    play(tracker, 300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tc.TemporalCalibrator, "partial_fit", refuse)
        with pytest.raises(InputError, match="not today"):
            play(tracker, 301)
    play(tracker, 302)
    wanted = tracker.calibrator.predict_proba([1.5], time=[3])
    tracker.close()
    with tc.live.SequenceTracker(tmp_path / "live") as again:
        np.testing.assert_array_equal(again.calibrator.predict_proba([1.5], time=[3]), wanted)
        assert again.n_finished == 3
        assert again.calibrator.summary().n_groups == 302
        with pytest.raises(InputError, match="is finished already"):
            again.finish(301, 1)


def interrupt(*args, **keywords):
    raise KeyboardInterrupt


def refuse(*args, **keywords):
    raise InputError("not today")


class TestInterrupted:
    """What was not told as done is not there; what was is learned once, in its turn."""

    def learned(self, tmp_path, ids):
        with tc.live.SequenceTracker(tmp_path / "wanted", CAL) as wanted:
            for k in ids:
                play(wanted, k)
            return wanted.calibrator.predict_proba([1.5], time=[3])

    @pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
    def test_while_it_learns(self, tmp_path, tracker, error):
        def fail(self, *args, **keywords):
            raise error

        play(tracker, 300)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tc.TemporalCalibrator, "partial_fit", fail)
            with pytest.raises(error):
                play(tracker, 301)
        # It must not go on as if 301 had been learned.
        with pytest.raises(InputError, match="is closed"):
            play(tracker, 302)
        with tc.live.SequenceTracker(tmp_path / "live") as again:
            play(again, 302)
            found = again.calibrator.predict_proba([1.5], time=[3])
        np.testing.assert_array_equal(found, self.learned(tmp_path, [300, 301, 302]))

    def test_while_it_waits_for_the_disk(self, tmp_path, tracker):
        def fail(file):
            raise KeyboardInterrupt

        tracker.observe("a", 1.5, time=3)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(KeyboardInterrupt):
                tracker.finish("a", 1)
        with pytest.raises(InputError, match="is closed"):
            tracker.finish("a", 1)
        # It was written, so that it counts.
        with tc.live.SequenceTracker(tmp_path / "live") as again:
            assert again.n_finished == 1
            assert again.calibrator.summary().n_groups == 301

    def test_by_a_disk_that_is_full(self, tmp_path, tracker):
        def fail(file):
            raise OSError(errno.ENOSPC, "No space left on device")

        tracker.observe("a", 1.5, time=3)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space"):
                tracker.finish("a", 1)
        tracker.finish("a", 1)
        tracker.close()
        with tc.live.SequenceTracker(tmp_path / "live") as again:
            assert again.n_finished == 1
            assert again.calibrator.summary().n_groups == 301

    @pytest.mark.parametrize("error", [np.linalg.LinAlgError, FloatingPointError, InputError])
    def test_for_ever_by_one_sequence(self, tmp_path, tracker, error):
        """It is told once, and left out."""

        def fail(self, *args, **keywords):
            self.map_ = None
            raise error

        play(tracker, 300)
        tracker.save()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tc.TemporalCalibrator, "partial_fit", fail)
            patch.setattr(tracker, "_mark_failed", interrupt)  # killed at this moment
            with pytest.raises((error, KeyboardInterrupt)):
                play(tracker, 301)
            with pytest.warns(NotLearnedWarning, match="without 1 finished .*: 301$"):
                tc.live.SequenceTracker(tmp_path / "live").close()
        with tc.live.SequenceTracker(tmp_path / "live") as again:
            play(again, 302)
            assert again.n_finished == 3
            found = again.calibrator.predict_proba([1.5], time=[3])
        np.testing.assert_array_equal(found, self.learned(tmp_path, [300, 302]))

    def test_for_want_of_memory_only_until_there_is_some(self, tmp_path, tracker):
        def fail(self, *args, **keywords):
            raise MemoryError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tc.TemporalCalibrator, "partial_fit", fail)
            with pytest.raises(MemoryError):
                play(tracker, 300)
            with pytest.raises(MemoryError):
                tc.live.SequenceTracker(tmp_path / "live")
        with tc.live.SequenceTracker(tmp_path / "live") as again:
            assert again.calibrator.summary().n_groups == 301

    def test_while_it_saves(self, tmp_path, tracker):
        tracker._save_every = 1
        (tmp_path / "live" / "model.json").unlink()
        (tmp_path / "live" / "model.json").mkdir()
        with pytest.warns(NotSavedWarning, match="tried again"):
            play(tracker, 300)
        (tmp_path / "live" / "model.json").rmdir()
        play(tracker, 301)
        assert tc.load(tmp_path / "live" / "model.json").summary().n_groups == 302


def test_one_number_may_come_as_a_list_of_one(tracker):
    tracker.observe("a", 1.5, time=3)
    tracker.observe("a", np.array(1.5), time=4)
    tracker.observe("a", np.array([1.5]), time=5)
    tracker.finish("a", 1)
    assert tracker.history()["logits"].tolist() == [1.5, 1.5, 1.5]


class TestRefusals:
    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (lambda t: t.finish("z", 1), "'z' is not known"),
            (lambda t: t.abandon("z"), "'z' is not known"),
            (lambda t: t.finish("a", 7), "label is 7"),
            (lambda t: t.finish("done", 1), "'done' is finished already"),
            (lambda t: t.observe("done", 1.0, time=5), "'done' is finished"),
            (lambda t: t.observe("a", 1.0, time=2), "runs backwards"),
            (lambda t: t.observe("a", float("nan"), time=5), "NaN"),
            (lambda t: t.observe("a", "much", time=5), "logits"),
            (lambda t: t.observe("a", [1.0, 2.0], time=5), "logits"),
            (lambda t: t.observe("a", 1.0), "time"),
            (lambda t: t.observe("a", 1.0, time=float("inf")), "time"),
            (lambda t: t.observe("a", 1.0, time=datetime(2026, 1, 1, tzinfo=UTC)), "time was"),
            (lambda t: t.observe(1.5, 1.0, time=5), "sequence must be text"),
            (lambda t: t.observe(None, 1.0, time=5), "sequence must be text"),
            (lambda t: t.observe("a\ud800", 1.0, time=5), "half of a surrogate pair"),
        ],
    )
    def test_change_nothing(self, tracker, call, said):
        tracker.observe("a", 1.5, time=3)
        tracker.observe("done", 1.5, time=3)
        tracker.finish("done", 1)
        size = (tracker.folder / "sequences.log").stat().st_size
        before = tracker.calibrator.summary()
        with pytest.raises(ValueError, match=said):
            call(tracker)
        assert (tracker.folder / "sequences.log").stat().st_size == size
        assert tracker.calibrator.summary() == before
        assert tracker.under_way == ["a"]

    def test_of_two_trackers_in_one_folder(self, tracker):
        with pytest.raises(InputError, match="in use by another tracker"):
            tc.live.SequenceTracker(tracker.folder)

    def test_to_begin_twice(self, tracker):
        tracker.close()
        with pytest.raises(InputError, match="has a tracker: leave calibrator out"):
            tc.live.SequenceTracker(tracker.folder, CAL)

    def test_to_go_on_from_nothing(self, tmp_path):
        with pytest.raises(InputError, match="has no tracker: pass a fitted calibrator"):
            tc.live.SequenceTracker(tmp_path / "nowhere")
        assert not (tmp_path / "nowhere").exists()

    @pytest.mark.parametrize(
        "call", [lambda t: t.observe("a", 1.0, time=3), tc.live.SequenceTracker.save]
    )
    def test_once_closed(self, tracker, call):
        tracker.close()
        before = {file: file.stat().st_mtime_ns for file in tracker.folder.iterdir()}
        with pytest.raises(InputError, match="is closed"):
            call(tracker)
        assert {file: file.stat().st_mtime_ns for file in tracker.folder.iterdir()} == before

    @pytest.mark.parametrize(
        ("cal", "said"),
        [
            (tc.TemporalCalibrator(), "must be fitted"),
            (tc.IsotonicCalibration().fit(M.logits, M.label, groups=M.sequence), "partial_fit"),
            (tc.TemperatureScaling().fit(M.logits, M.label), "without groups"),
            (
                tc.TemporalCalibrator(time_column=1).fit(
                    np.stack([M.logits, M.time], axis=1), M.label, groups=M.sequence
                ),
                "time_column",
            ),
        ],
    )
    def test_of_calibrators_that_cannot_learn(self, tmp_path, cal, said):
        with pytest.raises(InputError, match=said):
            tc.live.SequenceTracker(tmp_path / "live", cal)

    def test_of_a_senseless_interval_of_saving(self, tmp_path):
        with pytest.raises(InputError, match="save_every"):
            tc.live.SequenceTracker(tmp_path / "live", CAL, save_every=0)


def test_the_model_file_follows(tmp_path):
    with tc.live.SequenceTracker(tmp_path, CAL, save_every=2) as tracker:
        for k in (300, 301, 302):
            play(tracker, k)
        assert tc.load(tmp_path / "model.json").summary().n_groups == 302
    assert tc.load(tmp_path / "model.json").summary().n_groups == 303
    assert tc.scorer.load(tmp_path / "model.json").classes == (0, 1)


def test_without_time_and_with_certain_predictions(tmp_path):
    cal = tc.PlattScaling(shrinkage=1.0).fit(M.logits, M.label, groups=M.sequence)
    with tc.live.SequenceTracker(tmp_path, cal) as tracker:
        tracker.observe(1, np.inf)
        tracker.observe(1, np.float32(0.5))
        with pytest.raises(InputError, match="leave time out"):
            tracker.observe(1, 0.5, time=3)
    with tc.live.SequenceTracker(tmp_path) as tracker:
        tracker.finish(1, True)
        assert tracker.history()["logits"].tolist() == [np.inf, 0.5]


@pytest.mark.parametrize("restart", [False, True])
def test_columns_with_names_are_not_asked_for(tmp_path, restart):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    cal = tc.VectorScaling(shrinkage=1.0).fit(table, np.arange(300) % 3, groups=np.arange(300))
    tracker = tc.live.SequenceTracker(tmp_path, cal)
    if restart:
        tracker.close()
        tracker = tc.live.SequenceTracker(tmp_path)
    with tracker, warnings.catch_warnings():
        warnings.simplefilter("error")
        tracker.observe("x", [0.1, 0.2, 0.3])
        tracker.finish("x", 1)
    assert list(cal.feature_names_in_) == ["a", "b", "c"]


def test_moments_and_three_classes(tmp_path):
    start = datetime(2026, 11, 1, tzinfo=UTC)
    rng = np.random.default_rng(0)
    z = rng.normal(size=(600, 3))
    y = np.array(["a", "b", "c"])[(z + rng.gumbel(size=z.shape)).argmax(axis=1)]
    moments = [start + timedelta(seconds=int(s)) for s in rng.integers(0, 900, size=600)]
    cal = tc.TemporalCalibrator(tc.VectorScaling(), tc.Spline(intervals=3))
    cal.fit(z, y, time=moments, groups=np.arange(600))
    with tc.live.SequenceTracker(tmp_path, cal) as tracker:
        for second in (5, 9):
            tracker.observe("x", [0.1, 0.2, -0.4], time=start + timedelta(seconds=second))
        tracker.finish("x", "b")
        wanted = clone(cal).fit(z, y, time=moments, groups=np.arange(600))
        own = [start + timedelta(seconds=second) for second in (5, 9)]
        wanted.partial_fit([[0.1, 0.2, -0.4]] * 2, ["b", "b"], time=own, groups=[0, 0])
        np.testing.assert_array_equal(
            tracker.calibrator.predict_proba(z, time=moments), wanted.predict_proba(z, time=moments)
        )
        assert tracker.history()["y"].tolist() == ["b", "b"]
