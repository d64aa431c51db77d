"""Sequential test of the calibration of forecasts, as forecasts and outcomes arrive."""

from __future__ import annotations

import math
from collections import Counter
from copy import deepcopy
from itertools import pairwise
from os import PathLike
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from tempocal.curves.grid import distinct, equal_mass_edges
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.inputs import (
    TimeKind,
    Times,
    as_array,
    check_classes,
    check_flag,
    check_positive_int,
    check_time,
    from_seconds,
    time_text,
)
from tempocal.links import Array
from tempocal.live.bet_queue import BetQueue, SequenceId
from tempocal.live.evalues import Alternatives
from tempocal.live.locks import lock_across_forks
from tempocal.live.monitor_input import (
    MonitorRows,
    check_alpha,
    check_edges,
    check_forecast,
    check_id,
    check_label,
    check_rows,
    time_bins_of,
)
from tempocal.live.open_bets import OpenBets
from tempocal.live.sequence_clock import SequenceClock
from tempocal.live.state import open_bets_to_dict, restore_open_bets, schema_of
from tempocal.live.status import Status, line_status
from tempocal.modelfile import read_document, write_document
from tempocal.modelfile.labels import labels_from_dict, labels_to_dict
from tempocal.modelfile.limits import MAX_STATE_BYTES

_KIND = "monitor"


class Monitor:
    """Raise an alarm when forecasts along sequences are no longer calibrated.

    Each time bin has its own line, a sequential test in which every sequence bets once, on its
    first forecast there; one more line tests how forecasts move within sequences, for which no
    labels are needed. While the forecasts are calibrated, the probability that any line ever raises
    an alarm is at most ``alpha``, however long the monitor runs and whenever `status` is read.

    Parameters
    ----------
    edges : array-like of shape (S - 1,), default=()
        Inner edges of the S time bins, each edge in the later bin: numbers, datetimes or
        timedeltas. No edges make one bin. Choose them before the monitor runs.
    classes : array-like of shape (K,), default=(0, 1)
        The classes, in the order of the probabilities.
    alpha : float, default=0.05
        Bound on the probability of a false alarm, in all lines together and at any time.
    movement : bool, default=True
        Whether to test how forecasts move.
    movement_until : number, datetime or timedelta, optional
        A step is tested if it begins before this time. By default the last edge, and without edges
        the end of each sequence. Movement needs the label only of sequences that end before it.
    max_waiting : int, default=100_000
        Maximum number of bets that wait for outcomes: a bound on memory.

    Notes
    -----
    *Forecasts are calibrated* here if each is so given all that was known when it was made: the
    probability of class k is p_k, whatever came before. The alternatives are fixed in advance: from
    some moment on forecasts are too sure, too timid, or too high or too low for a class.

    *The order of settling.* Number the bets of a line j = 1, 2, ... in the order of the calls of
    `predict`. Let G_j be all that is known when the forecast p_j has been made, and y_j its
    outcome. The assumptions are ::

        E[y_j | G_j] = p_j                        the forecast is calibrated
        E[y_j | G_j, y_1, ..., y_{j-1}] = p_j     and outcomes still open tell nothing more

    The factor f_j of a bet depends on p_j and y_j and has mean 1 given (G_j, y_1, ..., y_{j-1}). So
    the e-values after bets 1, 2, ... are a nonnegative martingale that starts at 1, and by Ville's
    inequality the probability that they ever reach c is at most 1/c. What `status` shows at any
    moment is one of these values, for a bet is settled only when all bets before it are. Nothing is
    assumed about when outcomes arrive: durations may depend on them. Were bets settled as sequences
    finish, the next factor would be that of an outcome that arrives early, whose mean is not 1:
    fast wins would raise an alarm.

    *The second assumption* holds if sequences are independent, or follow one another. It fails if
    two of them run at once and their outcomes are dependent in a way that the forecasts do not
    know, such as two questions about one match. Then there is no guarantee; monitor one of them. In
    movement y_j is the next forecast, and a model that is replaced while sequences run moves all of
    their forecasts at once.

    *Abandoned sequences* are settled at the lowest factor that any outcome would give. So the
    e-values are never above those of the martingale with the outcomes known, and the guarantee
    stands, whatever decides which sequences are abandoned, their age included. To settle those that
    are open at some age at 1 instead, that is to leave them out, is not valid if durations depend
    on outcomes: with wins that come early and losses that come late, all wins count and few losses
    do, and the mean of a factor above 1 for a win is above 1.

    *Across lines* an alarm needs the e-value ``lines / alpha``, so that the guarantee holds for all
    lines together, and for those with calibrated forecasts whatever the others are.

    *The e-value at a given clock time* need not have mean 1 if durations depend on the outcomes:
    until the slow sequences finish, only the fast ones count. The guarantee is about its highest
    value: the alarm and `Status.p_value`.

    *A sequence counts once.* The ids of finished sequences are kept, as digests of 8 bytes, and
    later rows of them are refused: rows that count twice are no new evidence. So memory grows by
    about 100 bytes with each sequence, and the file of `save` by 16. A file may have 1 GiB, some 67
    million sequences; beyond that `save` refuses and `load` does not read.

    *Threads.* A monitor may be called from several threads; calls are serialized by a lock, and
    forecasts count in the order in which they arrive. A fork has a consistent copy of its own, of
    which the original knows nothing: to count all forecasts, send them to one process.

    References
    ----------
    Ville (1939). Etude critique de la notion de collectif.
    Shafer (2021). Testing by betting. Journal of the Royal Statistical Society A.
    Arnold, Henzi and Ziegel (2023). Sequentially valid tests for forecast calibration.
    Shin, Ramdas and Rinaldo (2024). E-detectors: a nonparametric framework for sequential change
    detection.

    Examples
    --------
    >>> import tempocal as tc
    >>> monitor = tc.live.Monitor(edges=[10], movement=False)
    >>> monitor.predict("match 1", 0.7, time=0)
    >>> monitor.predict("match 2", 0.4, time=0)
    >>> monitor.predict("match 1", 0.8, time=12)
    >>> monitor.finish("match 2", 0)  # waits for match 1
    >>> monitor.finish("match 1", 1)
    >>> print(monitor.status())
    too little to judge: anytime-valid p = 1, alarm at 0.05 (evidence of 40 in a line)
    2 sequences finished, 0 under way
    before 10: evidence 0.991, highest 1; 2 settled, 0 waiting
    from 10 on: evidence 0.995, highest 1; 1 settled, 0 waiting
    Note: no line has 20 settled bets yet: no alarm says nothing so far
    """

    def __init__(
        self,
        edges: ArrayLike = (),
        *,
        classes: ArrayLike = (0, 1),
        alpha: float = 0.05,
        movement: bool = True,
        movement_until: Any = None,
        max_waiting: int = 100_000,
    ) -> None:
        self._edges, self._time_kind = check_edges(edges)
        self._classes = check_classes(classes, as_array(classes, "classes").size)
        if len(self._classes) < 2:
            raise InputError(f"classes must be two or more, but they are {classes!r}")
        self._codes = {value: code for code, value in enumerate(self._classes.tolist())}
        self._alpha = check_alpha(alpha)
        self._clock = SequenceClock()
        self._lock = lock_across_forks()
        self._open_bets = self._new_open_bets(
            check_flag(movement, "movement"),
            self._check_until(movement_until),
            check_positive_int(max_waiting, "max_waiting"),
        )

    def __repr__(self) -> str:
        verdict, counts, *_ = str(self.status()).splitlines()
        return f"<Monitor: {verdict.partition(':')[0]}, {counts}>"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock: copies and pickles have their own."""
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name != "_lock"}
            return {**state, "_open_bets": deepcopy(self._open_bets)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=lock_across_forks())

    @classmethod
    def for_times(cls, times: ArrayLike, stretches: int = 5, **settings: Any) -> Self:
        """Make a monitor whose time bins hold about equally many of some past times.

        Parameters
        ----------
        times : array-like of shape (n,)
            Times of past predictions.
        stretches : int
            Number of time bins; fewer where times are equal.
        **settings
            As for `Monitor`.

        Examples
        --------
        >>> import tempocal as tc
        >>> tc.live.Monitor.for_times([0, 1, 2, 3, 4, 5], stretches=3).edges.tolist()
        [2.0, 4.0]
        """
        checked = check_time(times, as_array(times, "times").size, name="times")
        edges = equal_mass_edges(
            distinct(checked.values, None), check_positive_int(stretches, "stretches")
        )
        return cls(from_seconds(edges, checked.kinds[0]), **settings)

    @property
    def edges(self) -> Any:
        """Inner edges of the time bins."""
        return from_seconds(self._edges, self._time_kind or "number")

    def predict(
        self, sequence: str | int, proba: ArrayLike, time: Any, *, clock: Any = None
    ) -> None:
        """Add a forecast; call it in the order in which forecasts are made.

        Parameters
        ----------
        sequence : str or int
            Id of the sequence.
        proba : float or array-like of shape (K,)
            Probabilities of the classes; with two classes a number is that of the second.
        time : number, datetime or timedelta
            Time within the sequence; it must not decrease.
        clock : number or datetime, optional
            When the forecast was made, by a clock that all sequences share: for `abandon_after`.
        """
        name = check_id(sequence)
        forecast = check_forecast(proba, len(self._classes))
        with self._lock:
            times = self._check_time([time], 1, "time")
            made, kind = self._clock.read(None if clock is None else [clock], 1)
            time_bin = int(time_bins_of(times.values, self._edges)[0])
            now = None if made is None else float(made[0])
            self._open_bets.predict(name, forecast, float(times.values[0]), time_bin, now)
            self._time_kind, self._clock.kind = times.kinds[0], kind
            self._open_bets.settle()

    def finish(self, sequence: str | int, label: Any) -> None:
        """Set the label of a sequence; its bets are settled when all bets before them are.

        Parameters
        ----------
        sequence : str or int
            Id of the sequence.
        label : one of the classes
            What came true.
        """
        name, code = check_id(sequence), check_label(label, self._codes)
        with self._lock:
            self._open_bets.finish(name, self._outcome(code))
            self._open_bets.settle()

    def abandon(self, sequence: str | int, *, unrelated_to_outcome: bool = False) -> None:
        """Abandon a sequence whose label will never be known, so that it holds up no other.

        Its open bets are settled at the lowest factor that any label would give. So the guarantee
        holds whatever the reason is, at the price of evidence.

        Parameters
        ----------
        sequence : str or int
            Id of the sequence.
        unrelated_to_outcome : bool
            Leave its open bets out instead. The guarantee then holds only if it would have been
            left out whatever its label is and had it been known already, as where the record of a
            sequence was lost. That it is still open is no such reason, at a date fixed in advance
            neither, unless durations have nothing to do with labels.
        """
        name = check_id(sequence)
        leave_out = check_flag(unrelated_to_outcome, "unrelated_to_outcome")
        with self._lock:
            if leave_out:
                self._open_bets.leave_out(name)
            else:
                self._open_bets.abandon(name)
            self._open_bets.settle()

    def abandon_after(self, age: Any) -> list[str | int]:
        """Abandon all sequences that have been open so long; return their ids.

        As `abandon` does: the guarantee holds, though slow sequences may be those that lose. Call
        it now and then. If a large share is abandoned, hardly anything can be detected: then
        forecast "class k within this age" instead, with "open at this age" as a class of its own,
        and call `finish` with it.

        Parameters
        ----------
        age : int, number or timedelta
            The time from the first forecast of a sequence to the latest of all, by the ``clock`` of
            `predict`. Without a clock, the number of sequences that have begun since.

        Examples
        --------
        >>> import tempocal as tc
        >>> monitor = tc.live.Monitor(movement=False)
        >>> monitor.predict("slow", 0.7, time=0)
        >>> for match in range(30):
        ...     monitor.predict(match, 0.5, time=0)
        ...     monitor.finish(match, match % 2)
        >>> monitor.status().stretches[0].settled
        0
        >>> monitor.abandon_after(20)
        ['slow']
        >>> monitor.status().stretches[0].settled
        31
        """
        with self._lock:
            names = self._open_bets.open_for(self._clock.read_age(age))
            for name in names:
                self._open_bets.abandon(name)
            self._open_bets.settle()
        return names

    def is_finished(self, sequence: str | int) -> bool:
        """Return whether a sequence has its label or was abandoned, and takes no more rows.

        Parameters
        ----------
        sequence : str or int
            Id of the sequence.
        """
        name = check_id(sequence)
        with self._lock:
            return self._open_bets.is_finished(name)

    def replay(
        self,
        proba: ArrayLike,
        y: ArrayLike | None,
        *,
        time: ArrayLike,
        sequence: ArrayLike,
        clock: ArrayLike | None = None,
    ) -> Self:
        """Add many forecasts at once, and the labels of their sequences.

        The same as `predict` for each row and then `finish` for each sequence with a label. If one
        row is refused, none is added; rows of sequences that are finished already are refused, for
        they would count twice. `is_finished` tells which they are.

        Parameters
        ----------
        proba : array-like of shape (n,), (n, 1) or (n, K)
            Probabilities, rows in the order in which the forecasts were made.
        y : array-like of shape (n,) or None
            Label of the sequence of each row; None or NaN while it is unknown.
        time, sequence : array-like of shape (n,)
            Time and sequence of each row.
        clock : array-like of shape (n,), optional
            When each forecast was made, as for `predict`.

        Examples
        --------
        >>> import tempocal as tc
        >>> m = tc.datasets.simulate_match(500)
        >>> p = 1 / (1 + 2.718281828 ** -m.logits)  # far too sure early
        >>> monitor = tc.live.Monitor(edges=[6, 12, 18])
        >>> monitor.replay(p, m.label, time=m.time, sequence=m.sequence).status().alarm
        True
        """
        rows = check_rows(proba, y, sequence, self._codes)
        with self._lock:
            times = self._check_time(time, len(rows.proba), "time")
            made, kind = self._clock.read(clock, len(rows.proba))
            self._open_bets = self._open_bets_after(rows, times, made)
            self._time_kind, self._clock.kind = times.kinds[0], kind
        return self

    def status(self) -> Status:
        """Return the evidence so far."""
        with self._lock:
            return self._status(self._open_bets)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the state to a JSON file, which is replaced in one step or not at all.

        Parameters
        ----------
        path : path-like
            The file to write.

        Raises
        ------
        InputError
            If it takes more than 1 GiB, as with some 67 million sequences.
        """
        with self._lock:
            schema = schema_of(self._open_bets, self._clock.kind)
            content = self._content(self._open_bets)
            write_document(path, content, limit=MAX_STATE_BYTES, schema=schema)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a monitor that continues exactly where the saved one stopped.

        A file may have 1 GiB. A malicious file may take some tens of times as much memory before it
        is refused, so load only files that you trust.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote.

        Raises
        ------
        ModelFileError
            If the file is damaged, of another kind, or written by a later version.
        """
        content = read_document(path, _KIND, limit=MAX_STATE_BYTES)
        try:
            return cls._from_content(content["settings"], content["book"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DamagedModelFileError(f"{path} is damaged: {error!r}") from error

    def _status(self, open_bets: OpenBets) -> Status:
        classes = self._classes.tolist()
        named = zip(self._names(), open_bets.label_queues, strict=True)
        steps = open_bets.movement
        return Status(
            alpha=self._alpha,
            threshold=len(open_bets.queues) / self._alpha,
            stretches=tuple(line_status(*pair, classes, moves=False) for pair in named),
            movement=None if steps is None else line_status("movement", steps, classes, moves=True),
            finished=open_bets.finished,
            abandoned=open_bets.abandoned,
            under_way=open_bets.under_way,
            settled_at_lowest=sum(queue.lost for queue in open_bets.label_queues),
        )

    def _content(self, open_bets: OpenBets) -> dict[str, Any]:
        until = open_bets.movement_until
        settings = {
            "edges": self._edges.tolist(),
            "time_kind": self._time_kind,
            "clock_kind": self._clock.kind,
            "classes": labels_to_dict(self._classes),
            "alpha": self._alpha,
            "movement": open_bets.movement is not None,
            "movement_until": until if math.isfinite(until) else None,
            "max_waiting": open_bets.max_waiting,
        }
        return {"kind": _KIND, "settings": settings, "book": open_bets_to_dict(open_bets)}

    @classmethod
    def _from_content(cls, settings: dict[str, Any], open_bets: dict[str, Any]) -> Self:
        monitor = cls(
            np.array(settings["edges"], dtype=np.float64),
            classes=labels_from_dict(settings["classes"]),
            alpha=settings["alpha"],
            movement=settings["movement"],
            movement_until=settings["movement_until"],
            max_waiting=settings["max_waiting"],
        )
        if settings["time_kind"] not in (None, *get_args(TimeKind)):
            raise ValueError(f"time_kind is {settings['time_kind']!r:.80}")
        clock_kind = settings.get("clock_kind", "count")  # a file of 0.1 has none
        if clock_kind not in (None, "count", *get_args(TimeKind)):
            raise ValueError(f"clock_kind is {clock_kind!r:.80}")
        monitor._clock.kind = clock_kind
        monitor._time_kind = settings["time_kind"]  # the times are in seconds already
        restore_open_bets(monitor._open_bets, open_bets)
        return monitor

    def _new_open_bets(self, movement: bool, until: float, max_waiting: int) -> OpenBets:
        alternatives = Alternatives(len(self._classes))
        n_bins = len(self._edges) + 1
        log_threshold = math.log((n_bins + movement) / self._alpha)
        queues = [BetQueue(alternatives, log_threshold) for _ in range(n_bins + movement)]
        return OpenBets(queues[:n_bins], queues[-1] if movement else None, until, max_waiting)

    def _open_bets_after(self, rows: MonitorRows, times: Times, made: Array | None) -> OpenBets:
        """Return a copy of the open bets with the rows added."""
        open_bets, rows_left = deepcopy(self._open_bets), Counter(rows.sequence)
        _refuse_finished(open_bets, rows_left)
        time_bins = time_bins_of(times.values, self._edges).tolist()
        clock = [None] * len(rows.proba) if made is None else made.tolist()
        columns = (rows.sequence, rows.proba, times.values.tolist(), time_bins, clock)
        for name, *forecast in zip(*columns, strict=True):
            open_bets.predict(name, *forecast)
            rows_left[name] -= 1
            if not rows_left[name] and name in rows.outcome:
                open_bets.finish(name, self._outcome(rows.outcome[name]))
        open_bets.settle()
        return open_bets

    def _check_until(self, movement_until: Any) -> float:
        if movement_until is None:
            return float(self._edges[-1]) if len(self._edges) else math.inf
        times = self._check_time([movement_until], 1, "movement_until")
        self._time_kind = times.kinds[0]
        return float(times.values[0])

    def _check_time(self, time: Any, n_rows: int, name: str) -> Times:
        times = check_time(time, n_rows, name=name)
        if self._time_kind not in (None, times.kinds[0]):
            raise InputError(
                f"{name} is {times.kinds[0]} and was {self._time_kind} before: all times of a "
                "monitor are of one kind"
            )
        return times

    def _outcome(self, code: int) -> Array:
        return np.asarray(np.eye(len(self._classes))[code])

    def _names(self) -> list[str]:
        edges = [time_text(edge) for edge in self.edges]
        if not edges:
            return ["all times"]
        between = [f"from {start} to {stop}" for start, stop in pairwise(edges)]
        return [f"before {edges[0]}", *between, f"from {edges[-1]} on"]


def _refuse_finished(open_bets: OpenBets, row_counts: Counter[SequenceId]) -> None:
    finished = [name for name in row_counts if open_bets.is_finished(name)]
    if finished:
        n_rows = sum(row_counts[name] for name in finished)
        raise InputError(
            f"{n_rows:,} of the rows are of sequences that are finished already "
            f"({len(finished):,}, the first of them {finished[0]!r}) and would count twice: leave "
            "them out"
        )
