"""A tracker that is interrupted, at any line: nothing is lost, and nothing counts twice."""

import sys

import numpy as np
import pytest

import tempocal as tc
from tempocal.live.record_log import RecordLog

M = tc.datasets.simulate_match(60)
CAL = tc.TemperatureScaling(shrinkage=1.0).fit(M.logits, M.label, groups=M.sequence)
TRACKER = tc.live.SequenceTracker
FUNCTIONS = [
    TRACKER.observe,
    TRACKER.finish,
    TRACKER.abandon,
    TRACKER.save,
    TRACKER._learn,
    TRACKER._close_log_on_error.__wrapped__,
    RecordLog.append,
]


class Interrupting:
    """Interrupts at the n-th line of a function that is run, once."""

    def __init__(self, code, line):
        self.code, self.left, self.done = code, line, False

    def __call__(self, frame, event, arg):
        return self.local if frame.f_code is self.code else None

    def local(self, frame, event, arg):
        if event == "line" and not self.done:
            self.left -= 1
            if self.left < 0:
                self.done = True
                raise KeyboardInterrupt
        return self.local


class Stubborn:
    """Does a thing until it is done, whatever comes between: opens the folder again, and looks."""

    def __init__(self, folder, trace):
        self.folder, self.trace = folder, trace
        self.tracker = TRACKER(folder, CAL, save_every=1)

    def do(self, is_done, call):
        while not is_done(self.tracker):
            sys.settrace(self.trace)
            try:
                call(self.tracker)
            except KeyboardInterrupt:
                sys.settrace(None)
                if not self.tracker._log.is_open:
                    self.tracker = TRACKER(self.folder, save_every=1)
            finally:
                sys.settrace(None)

    def observe(self, name, logits):
        for k, logit in enumerate(logits):
            self.do(lambda t, k=k: t.n_observed(name) > k, lambda t, z=logit: t.observe(name, z))

    def finish(self, name, label):
        self.do(lambda t: name not in t.under_way, lambda t: t.finish(name, label))

    def abandon(self, name):
        self.do(lambda t: name not in t.under_way, lambda t: t.abandon(name))


def play(folder, trace):
    """Let two sequences end, and give one up."""
    caller = Stubborn(folder, trace)
    caller.observe("a", [1.0, 1.5])
    caller.observe("b", [0.5])
    caller.finish("a", 1)
    caller.abandon("b")
    caller.observe("c", [-1.0])
    caller.finish("c", 1)
    caller.tracker.close()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_at_any_line(tmp_path, function):
    line, reached = 0, True
    while reached:
        trace = Interrupting(function.__code__, line)
        play(tmp_path / str(line), trace)
        with TRACKER(tmp_path / str(line)) as again:
            assert (again.n_finished, again.under_way) == (2, []), line
            learned, history = again.calibrator.summary(), again.history()
        assert learned.n_groups == CAL.summary().n_groups + 2, line
        assert learned.n_rows == CAL.summary().n_rows + 3, line
        np.testing.assert_array_equal(history["logits"], [1.0, 1.5, -1.0])
        line, reached = line + 1, trace.done
    assert line > 3
