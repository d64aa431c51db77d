"""A calibrator that learns from each sequence as it finishes, with a crash-safe log.

Predictions and labels are appended to a log before they take effect. On a restart the log is
replayed on top of the last saved model.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from os import PathLike
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np

from tempocal.calibrators.online_state import mark_for_saving, require_online_state
from tempocal.errors import (
    InputError,
    LogError,
    NotLearnedWarning,
    NotSavedWarning,
    TempocalError,
    TempocalWarning,
    warn_user,
)
from tempocal.inputs import check_time, from_seconds, require_same_kind
from tempocal.links import Array
from tempocal.live.bet_queue import SequenceId
from tempocal.live.monitor_input import check_id, check_label
from tempocal.live.record_log import RecordLog
from tempocal.live.replay import ABANDON, FAIL, FINISH, OBSERVE, SAVE, LoggedSequence, LogReplay
from tempocal.modelfile.paths import path_name
from tempocal.temporal.loading import load

_MODEL, _NEW, _LOG = "model.json", ".model.json.new", "sequences.log"


class SequenceTracker:
    """Store the predictions of running sequences, and learn from each sequence when it ends.

    Everything is written to an append-only log before it takes effect. A process that is killed at
    any moment can be started again: no finished sequence is lost, and none is learned twice.

    Parameters
    ----------
    folder : path-like
        Folder of the log and the model; created if it does not exist.
    calibrator : calibrator, default=None
        A fitted calibrator with a ``partial_fit``, for a new folder. Leave it out to resume the
        tracker of an existing one.
    save_every : int, default=100
        The model file is replaced after so many finished sequences; `tempocal serve` can watch it.
        It is not stored: pass it again when you open the folder again.

    Notes
    -----
    ``tracker.calibrator`` is the calibrator with all updates so far.

    `observe` hands its record to the operating system, so that it survives a kill of the process;
    `finish` waits until its record and all before it are on the disk. If a call of `finish` does
    not return, it may have counted or not: call it again after the restart, and an `InputError`
    says that the sequence is finished.

    A tracker belongs to the process that opened it. In a fork of that process its calls raise an
    `InputError`: the model of the parent would never learn what the fork logs. If the log ends
    within a record, as a kill can leave it, that record is truncated with a `LogCutWarning`; a
    record that was altered after it was written raises a `LogError`.

    An interruption, such as Ctrl-C, may close the tracker, and so does an error from outside the
    package while it learns: open the folder again, and it resumes from the log. A sequence that
    still cannot be learned from is left out, with a `NotLearnedWarning` that names it.

    A calibrator that learned from forecasts (``td_horizon``) learns each finished sequence with the
    same horizon. That, and the rate of an exponential, stay as the calibrator had them; see
    ``partial_fit``. To choose them anew, fit a calibrator to your data and `history`, and use
    another folder. The log grows without limit, and so do the ids of finished sequences in memory.
    Their rows are not kept in memory; at a start only those that the model file has not learned
    from are read. `history` reads all.

    Examples
    --------
    >>> import tempfile
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(300)
    >>> cal = tc.TemporalCalibrator().fit(m.logits, m.label, time=m.time, groups=m.sequence)
    >>> folder = tempfile.mkdtemp()
    >>> with tc.live.SequenceTracker(folder, cal) as tracker:
    ...     p = tracker.observe("match 1", 1.5, time=3)
    ...     p = tracker.observe("match 1", 2.0, time=4)
    >>> with tc.live.SequenceTracker(folder) as tracker:  # after a restart
    ...     tracker.finish("match 1", 1)
    ...     tracker.n_finished, tracker.under_way
    (1, [])
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        calibrator: Any = None,
        *,
        save_every: int = 100,
    ) -> None:
        if type(save_every) is not int or save_every < 1:
            raise InputError(f"save_every must be a whole number above 0, but it is {save_every!r}")
        self.folder = Path(path_name(folder, "folder"))
        if not os.fspath(folder):
            raise InputError("folder is empty: name a folder, or say '.' for the current one")
        self._save_every = save_every
        self._lock = RLock()
        self.calibrator: Any = None
        self._sequences: dict[SequenceId, LoggedSequence] = {}
        self._finished: set[SequenceId] = set()
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"folder is {self.folder}, which is a file: name a folder")
        if calibrator is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        elif not (self.folder / _LOG).exists():
            raise InputError(f"{self.folder} has no tracker: pass a fitted calibrator to begin one")
        self._log = RecordLog(self.folder / _LOG)
        try:
            self._start(calibrator)
        except BaseException:
            self._log.close()
            raise

    def observe(self, sequence_id: Any, logit: Any, time: Any = None) -> Array:
        """Add a prediction and calibrate it.

        Parameters
        ----------
        sequence_id : str or int
            The sequence; a new one begins with its first prediction.
        logit : float, or sequence of K floats
            Output of the classifier, in the form that the calibrator takes.
        time : number, datetime or timedelta, or a pair of them
            Time within the sequence; not before its last prediction. None for a calibrator that
            does not depend on time.

        Returns
        -------
        ndarray of shape (K,)
            Calibrated probability of each class, by the calibrator as learned so far.
        """
        with self._locked():
            name = check_id(sequence_id)
            self._refuse_finished(name)
            proba = self._predict(logit, time)
            seconds = self._seconds(time)
            known = self._sequences.get(name)
            if known is not None and seconds is not None and _is_before(seconds, known.times[-1]):
                raise InputError(
                    f"time of the sequence {name!r} runs backwards, to {time!r}: a prediction must "
                    "not come before the one before it"
                )
            # A single logit may be given as a number, or as a list of one.
            values = np.asarray(logit, dtype=np.float64).reshape(-1).tolist()
            logged = values[0] if len(values) == 1 else values
            with self._close_log_on_error():
                self._log.append([OBSERVE, name, logged, seconds])
                self._sequences.setdefault(name, LoggedSequence()).add(logged, seconds)
            return proba

    def finish(self, sequence_id: Any, label: Any) -> None:
        """Set the label of a sequence, and learn from it.

        Parameters
        ----------
        sequence_id : str or int
            A sequence under way.
        label : object
            Its class.
        """
        with self._locked():
            name, code = check_id(sequence_id), check_label(label, self._codes)
            self._require_under_way(name)
            with self._close_log_on_error():
                self._log.append([FINISH, name, code], sync=True)
                self._finished.add(name)
                self._learn(name, self._sequences.pop(name), code)
            if len(self._finished) % self._save_every == 0:
                self._try_to_save()

    def abandon(self, sequence_id: Any) -> None:
        """Drop a sequence that will have no label; nothing is learned from it.

        Whether a sequence is abandoned must not depend on what its label would have been.
        """
        with self._locked():
            name = check_id(sequence_id)
            self._require_under_way(name)
            with self._close_log_on_error():
                self._log.append([ABANDON, name])
                del self._sequences[name]

    @property
    def under_way(self) -> list[SequenceId]:
        """Sequences that have not ended, in the order in which they began."""
        self._log.require_own_process()
        return list(self._sequences)

    def n_observed(self, sequence_id: Any) -> int:
        """Return the number of predictions of a sequence under way; 0 for one that is not."""
        self._log.require_own_process()
        sequence = self._sequences.get(check_id(sequence_id))
        return 0 if sequence is None else len(sequence.logits)

    @property
    def n_finished(self) -> int:
        """Number of finished sequences."""
        self._log.require_own_process()
        return len(self._finished)

    def history(self) -> dict[str, Any]:
        """Return the rows of all finished sequences, as the arguments of a ``fit``."""
        with self._locked():
            if not self._finished:
                raise InputError("no sequence has ended: there is no history yet")
            replay = LogReplay.of(self._log.read(), self._log.path)
            return self._rows(list(replay.not_in_model.values()))

    def save(self) -> None:
        """Replace the model file by the calibrator as learned so far."""
        with self._locked():
            self._log.require_open()
            new = self.folder / _NEW
            self.calibrator.save(new)
            # Logged first: a model file must never be newer than the log.
            self._log.append([SAVE, _checksum(new)], sync=True)
            os.replace(new, self.folder / _MODEL)

    def close(self) -> None:
        """Save the model and release the folder.

        Does nothing in a fork of the process that opened it.
        """
        if not self._log.is_open:
            return
        with self._lock:
            try:
                if self._log.is_open:
                    self.save()
            finally:
                self._log.close()

    def __repr__(self) -> str:
        counts = f"{len(self._finished):,} sequences finished, {len(self._sequences):,} under way"
        return f"<SequenceTracker of {self.folder}: {counts}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be copied or pickled: a tracker belongs to the process that opened "
            "its folder. Send that process the predictions, or copy tracker.calibrator"
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock between threads; refuse in a fork.

        The process is checked first: in a fork the lock may be held by a thread that is not there.
        """
        self._log.require_own_process()
        with self._lock:
            yield

    def _start(self, calibrator: Any) -> None:
        saves = [record[-1] for record in self._log.read(SAVE)]
        if self._log.is_empty == (calibrator is None):
            raise InputError(
                f"{self.folder} has no tracker: pass a fitted calibrator to begin one"
                if self._log.is_empty
                else f"{self.folder} has a tracker: leave calibrator out to go on with it, or "
                "begin in another folder"
            )
        if self._log.is_empty:
            self._begin(calibrator)
        else:
            n_saves = self._saves_until_model(saves)
            self._resume(LogReplay.of(self._log.read(), self._log.path, saves=n_saves))

    def _begin(self, calibrator: Any) -> None:
        self._set_calibrator(_updatable_copy(calibrator))
        self.save()

    def _resume(self, replay: LogReplay) -> None:
        """Load the model file and learn from the sequences that finished after it was saved."""
        calibrator = load(self.folder / _MODEL)
        require_online_state(calibrator._online_state)
        self._set_calibrator(calibrator)
        to_learn = {n: one for n, one in replay.not_in_model.items() if n not in replay.failed}
        self._sequences = replay.under_way
        self._finished = replay.in_model.union(replay.not_in_model)
        failed = [name for name, one in to_learn.items() if not self._learn_from_log(name, *one)]
        if to_learn:
            self.save()
        if failed:
            warn_user(
                f"{self.folder} goes on without {len(failed):,} finished sequences that it could "
                f"not learn from: {', '.join(map(repr, failed)):.1000}",
                NotLearnedWarning,
            )

    def _learn_from_log(self, name: SequenceId, sequence: LoggedSequence, code: int) -> bool:
        """Learn from a sequence of the log; return whether that succeeded.

        What fails here would fail at every start, so it is marked as failed whatever the error.
        """
        before = copy(self.calibrator)
        try:
            self.calibrator.partial_fit(**self._rows([(sequence, code)]))
        except MemoryError:
            raise  # not caused by the sequence
        except Exception:
            self.calibrator = before
            self._log.append([FAIL, name], sync=True)
            return False
        return True

    def _saves_until_model(self, saves: list[str]) -> int:
        """Return the number of the save that wrote the model file."""
        model, new = self.folder / _MODEL, self.folder / _NEW
        # Killed before the new file replaced the old one.
        if new.exists() and saves and _checksum(new) == saves[-1]:
            os.replace(new, model)
        if not model.exists():
            raise LogError(
                f"{model} is gone: the log does not have what the calibrator knew when it began. "
                "Put it back from a copy of the folder, or begin in another one"
            )
        checksum = _checksum(model)
        if checksum not in saves:
            raise LogError(
                f"{model} is not a model that this tracker saved: put its own back, or begin with "
                "this one in another folder"
            )
        # The same model may have been saved twice: the last save counts.
        return len(saves) - saves[::-1].index(checksum)

    def _set_calibrator(self, calibrator: Any) -> None:
        # Observed logits have no column names, which scikit-learn would warn about.
        vars(calibrator).pop("feature_names_in_", None)
        self.calibrator = calibrator
        self._kinds = tuple(getattr(calibrator, "time_kinds_", ()))
        self._codes = {label: code for code, label in enumerate(calibrator.classes_.tolist())}

    def _learn(self, name: SequenceId, sequence: LoggedSequence, code: int) -> None:
        """Learn from a finished sequence; if that fails, log the failure."""
        try:
            self.calibrator.partial_fit(**self._rows([(sequence, code)]))
        except (TempocalError, TempocalWarning):
            self._mark_failed(name)
            raise
        except OSError:
            # Not caused by the log: the sequence is learned when the folder is opened again.
            self._log.close()
            raise

    def _mark_failed(self, name: SequenceId) -> None:
        try:
            self._log.append([FAIL, name], sync=True)
        except OSError:
            self._log.close()
            raise

    @contextmanager
    def _close_log_on_error(self) -> Iterator[None]:
        """Close the log after an error that may leave it ahead of the state in memory.

        Opened again, the log decides. Errors of the package leave both in step (nothing changed, or
        the failure is in the log), and so does a record that could not be written.
        """
        try:
            yield
        except (TempocalError, TempocalWarning, OSError):
            raise
        except BaseException:
            self._log.close()
            raise

    def _try_to_save(self) -> None:
        """Save, and only warn if it fails: everything is in the log."""
        try:
            self.save()
        except OSError as error:
            warn_user(f"{error}: it will be tried again", NotSavedWarning)

    def _rows(self, finished: list[tuple[LoggedSequence, int]]) -> dict[str, Any]:
        """Return finished sequences as the arguments of a fit."""
        sequences = [sequence for sequence, _ in finished]
        lengths = [len(sequence.logits) for sequence in sequences]
        codes = np.repeat([code for _, code in finished], lengths)
        rows = {
            "logits": np.array([row for one in sequences for row in one.logits], dtype=np.float64),
            "y": self.calibrator.classes_[codes],
            "groups": np.repeat(np.arange(len(finished)), lengths),
        }
        if self._kinds:
            rows["time"] = self._times([time for one in sequences for time in one.times])
        if getattr(self.calibrator, "td_horizon_", np.inf) < np.inf:
            # They were observed in order; their times may be equal.
            rows["sequence"], rows["order"] = rows["groups"], np.arange(len(codes))
        return rows

    def _predict(self, logit: Any, time: Any) -> Array:
        if not self._kinds and time is not None:
            raise InputError("the calibrator does not change along time: leave time out")
        given = {"time": [time]} if self._kinds else {}
        return np.asarray(self.calibrator.predict_proba([logit], **given)[0])

    def _seconds(self, time: Any) -> Any:
        """Return a time as the log stores it: a number, a list of two, or None."""
        if not self._kinds:
            return None
        times = check_time([time], 1, clocks=len(self._kinds))
        require_same_kind(times, self._kinds)
        return times.values[0].tolist()

    def _times(self, seconds: list[Any]) -> Any:
        values = np.array(seconds, dtype=np.float64)
        if len(self._kinds) == 1:
            return from_seconds(values, self._kinds[0])
        return tuple(from_seconds(v, kind) for v, kind in zip(values.T, self._kinds, strict=True))

    def _refuse_finished(self, name: SequenceId) -> None:
        if name in self._finished:
            raise InputError(f"the sequence {name!r} is finished: it can have no more predictions")

    def _require_under_way(self, name: SequenceId) -> None:
        if name in self._finished:
            raise InputError(f"the sequence {name!r} is finished already, which counts once")
        if name not in self._sequences:
            raise InputError(f"the sequence {name!r} is not known: no prediction of it was taken")


def _updatable_copy(calibrator: Any) -> Any:
    """Return a copy of a fitted calibrator with the state that ``partial_fit`` needs."""
    if not hasattr(calibrator, "partial_fit") or not hasattr(calibrator, "classes_"):
        raise InputError(
            "calibrator must be fitted and have a partial_fit (that of an AutoTemporalCalibrator "
            f"is its best_), but it is {calibrator!r:.80}"
        )
    if calibrator.summary().n_groups is None:
        raise InputError(
            "calibrator was fitted without groups: a tracker learns from whole sequences, so fit "
            "it with groups= as well"
        )
    if getattr(calibrator, "time_column", None) is not None:
        raise InputError(
            "calibrator has a time_column, but a tracker takes the time of each prediction: set it "
            "to None"
        )
    own = deepcopy(calibrator)
    own._online_state = mark_for_saving(require_online_state(own._online_state))
    return own


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _is_before(time: Any, other: Any) -> bool:
    """Return whether a time is before another on any clock."""
    return bool(np.any(np.less(time, other)))
