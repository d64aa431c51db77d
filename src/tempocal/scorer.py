"""One calibrated prediction at a time, from a model file, with the standard library alone.

This file imports nothing but Python (3.11 or later): use it as ``tempocal.scorer``, or copy it
next to a ``model.json`` where there is no NumPy. A model becomes a few nested functions when it is
loaded. The sections are: the scorer, the model file, input, curves along time, maps of logits.

>>> import pathlib, tempfile
>>> import tempocal as tc
>>> m = tc.datasets.simulate_match(100)
>>> cal = tc.TemporalCalibrator().fit(m.logits, m.label, time=m.time, groups=m.sequence)
>>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
>>> cal.save(path)
>>> scorer = load(path)
>>> round(scorer(1.5, 3), 12) == round(float(cal.predict_proba([1.5], time=[3])[0, 1]), 12)
True
"""

import hashlib
import json
import os
import re
import stat
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from math import ceil, copysign, exp, expm1, inf, isinf, isnan, log, log1p, nan
from numbers import Integral, Number
from operator import add, mul
from typing import Any

__all__ = ["ModelError", "Scorer", "load", "loads"]

Row = Sequence[float]
Curve = Callable[[Any], Row]  # from a time, or a pair of them, to coefficients
Shares = Callable[[Any], tuple[int, Row]]  # to the functions of time that are not 0
Map = Callable[[Any, Any], Any]  # from log-odds, or a row of logits, and a time to calibrated ones


class ModelError(ValueError):
    """A file is not a model, is damaged, or was written by a later version of tempocal."""


@dataclass(frozen=True)
class Scorer:
    """A fitted model, to be called with one prediction after the other.

    Attributes
    ----------
    name : str
        Calibrator and curve.
    classes : tuple
        The classes, in the order of the probabilities.
    inputs : {"logits", "proba"}
        What the predictions to be calibrated must be.
    columns : int
        How many numbers a prediction has: 1, or one for each class.
    time_kinds : tuple of {"number", "datetime", "timedelta"}
        The kind of each clock, none for a model that does not change along time.
    score : callable
        ``score(logit, time)`` is the same as calling the scorer, a little faster.
    log_odds : callable
        ``log_odds(logit, time)`` gives the calibrated logits of ``decision_function``: one for
        two classes, else a tuple. They tell apart what has been rounded to a probability of 1.
    """

    name: str
    classes: tuple[Any, ...]
    inputs: str
    columns: int
    time_kinds: tuple[str, ...]
    score: Callable[..., Any] = field(repr=False, compare=False)
    log_odds: Callable[..., Any] = field(repr=False, compare=False)

    def __call__(self, logit: Any, time: Any = None) -> Any:
        """Calibrate one prediction.

        Parameters
        ----------
        logit : float, or sequence of ``columns`` floats
            What the classifier gave: logits, or probabilities if ``inputs`` says so.
        time : float, datetime, date or timedelta, or a pair of them
            How far the sequence has come, of the kind that the fit had; a pair for two clocks.
            Leave it out where ``time_kinds`` is empty.

        Returns
        -------
        float, or tuple of float
            For a single number, the probability of ``classes[1]``; else that of each class.

        Raises
        ------
        ValueError
            For what ``predict_proba`` refuses, such as NaN, text or a time of another kind.
        """
        return self.score(logit, time)


def load(path: str | os.PathLike[str]) -> Scorer:
    """Read a model file that ``save`` wrote, of any calibrator.

    Raises
    ------
    ModelError
        If a bit of it is not as it was written, if it is another kind of file, or from a later
        version of tempocal.
    OSError
        If it cannot be opened.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise ModelError(f"path must be the name of a model file, but it is {path!r:.80}")
    name = os.fsdecode(path)
    try:
        if b"\0" in os.fsencode(name):
            raise ModelError(f"path is {name!r:.200}, with a NUL character, which no file can have")
    except UnicodeEncodeError as error:
        raise ModelError(f"path is {name!a:.200}, which is not text: {error.reason}") from error
    try:
        return _scorer_of(_bytes_of(name))
    except ModelError as error:
        raise ModelError(f"{name} {error}") from error.__cause__


def loads(text: str | bytes) -> Scorer:
    """Read a model from the text of its file, as `load` does."""
    if not isinstance(text, str | bytes):
        raise ModelError(f"the text of a model must be str or bytes, not {type(text).__name__}")
    try:
        return _scorer_of(text.encode() if isinstance(text, str) else text)
    except ModelError as error:
        raise ModelError(f"the text {error}") from error.__cause__


def _scorer_of(data: bytes) -> Scorer:
    content = _content_of(data)
    if "kind" in content:
        raise ModelError(f"holds a {content['kind']!s:.20}, not a model")
    try:
        return _scorer_from(content.get("best", content))
    except ModelError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as e:
        raise ModelError(f"is damaged: its parts do not go together ({e!r:.80})") from e


def _scorer_from(content: Mapping[str, Any]) -> Scorer:
    kinds, parameters = tuple(content.get("time_kinds", ())), content["parameters"]
    columns, where = content["columns"], parameters.get("time_column")
    if where is not None:
        columns -= len(set(where)) if isinstance(where, list) else 1
        columns -= parameters.get("sequence_column") is not None
    inner = parameters["calibrator"] if kinds else {"parameters": parameters}
    # No calibrator is temperature scaling of logits.
    inputs = "logits" if inner is None else inner["parameters"]["inputs"]
    classes, name = tuple(content["classes"]["values"]), content["summary"]["calibrator"]
    _require(type(content["columns"]) is int, "columns")
    _require(
        columns == len(classes) > 1 or (columns, len(classes)) == (1, 2), "columns and classes"
    )
    _require(inputs in _CHECKS and all(kind in _KINDS for kind in kinds), "inputs and time")
    score, log_odds = _functions(content["map"], inputs, columns, len(classes), kinds)
    return Scorer(name, classes, inputs, columns, kinds, score, log_odds)


def _functions(
    fitted: Mapping[str, Any], inputs: str, columns: int, n_classes: int, kinds: tuple[str, ...]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return ``score`` and ``log_odds``."""
    check_one, check_row = _CHECKS[inputs]
    check_time = _time_check(kinds)
    # Floats within these limits need no check; there are none within a negative limit.
    limit = _LARGEST_LOGIT if inputs == "logits" else -1.0
    latest = _LARGEST_TIME if kinds == ("number",) else -1.0
    calibrate = _map(fitted, columns, n_classes)
    with suppress(ValueError):  # at a time that is no step of the fit
        calibrate([0.0] * columns if columns > 1 else 0.0, (None, 0.0, (0.0, 0.0))[len(kinds)])

    if columns == 1:

        def log_odds(logit: Any, time: Any = None) -> Any:
            if type(logit) is not float or not -limit <= logit <= limit:
                logit = check_one(logit)
            if type(time) is not float or not -latest <= time <= latest:
                time = check_time(time)
            return calibrate(logit, time)

        def score(logit: Any, time: Any = None) -> float:
            odds = log_odds(logit, time)
            if odds >= 0.0:
                return 1.0 / (1.0 + exp(-odds))
            odds = exp(odds)
            return odds / (1.0 + odds)

        return score, log_odds

    def score_row(logit: Any, time: Any = None) -> tuple[float, ...]:
        row = calibrate(check_row(logit, columns), check_time(time))
        top = max(row)
        shares = [exp(each - top) for each in row]
        total = sum(shares)
        return tuple([share / total for share in shares])

    def log_odds_row(logit: Any, time: Any = None) -> float | tuple[float, ...]:
        row = calibrate(check_row(logit, columns), check_time(time))
        return row[1] - row[0] if n_classes == 2 else tuple(row)

    return score_row, log_odds_row


# The model file, which tempocal.modelfile writes.

_SCHEMA = 2
_MAX_BYTES = 64 * 2**20
_FIRST = b'{\n  "format": "tempocal-model",\n'
_SECOND = re.compile(rb'  "schema": ([1-9][0-9]{0,8}),\n')
_OTHERS = re.compile(rb'  "sha256": "([0-9a-f]{64})",\n  "content": (\{.*\})\n\}\n', re.DOTALL)


def _bytes_of(path: str) -> bytes:
    # A named pipe that nobody writes to would hold us in open() forever.
    with open(path, "rb", opener=lambda p, f: os.open(p, f | getattr(os, "O_NONBLOCK", 0))) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelError("is not a tempocal model: not an ordinary file")
        return file.read(_MAX_BYTES + 1)


def _content_of(data: bytes) -> dict[str, Any]:
    schema = _SECOND.match(data, len(_FIRST)) if data.startswith(_FIRST) else None
    if not schema:
        was_one = _FIRST.startswith(data) or b'"tempocal-model"' in data[:200]
        what = "damaged, or its layout or line endings were changed"
        raise ModelError(f"is {what}" if was_one else "is not a tempocal model")
    if int(schema[1]) > _SCHEMA:
        raise ModelError(
            f"was written by a later version of tempocal (schema {int(schema[1])}; this version "
            f"knows up to {_SCHEMA}): upgrade tempocal, or the copy of scorer.py, to read it"
        )
    others = _OTHERS.fullmatch(data, schema.end()) if len(data) <= _MAX_BYTES else None
    if not others or hashlib.sha256(others[2]).hexdigest().encode() != others[1]:
        raise ModelError("is damaged: incomplete, or altered since it was saved")
    try:
        content: dict[str, Any] = json.loads(others[2].decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"is damaged: {error}") from error
    return content


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ModelError(f"is damaged: its {what} are not what they must be")


def _floats(values: Any, what: str = "numbers", least: float = -inf, most: float = inf) -> Row:
    """Return finite numbers of a model as a tuple."""
    plain = all(type(value) in (int, float) and -inf < value < inf for value in values)
    _require(plain and all(least <= value <= most for value in values), what)
    return tuple(map(float, values))


def _times(values: Any, what: str = "times") -> Row:
    """Return ascending times, of which differences are finite."""
    times = _floats(values, what, -_LARGEST_KNOWN, _LARGEST_KNOWN)
    _require(all(one < other for one, other in pairwise(times)), what)
    return times


# No logit makes a product with a coefficient overflow, nor a time a difference with a known one.
_LARGEST_COEFFICIENT = 1e200
_LARGEST_KNOWN = 8.9e307

# Input. A certain prediction is read as the most that a double can say: odds of 2**53 to 1.

_LARGEST_LOGIT = 2.0**53
_LARGEST_TIME = 8e307
_SMALLEST = 2.0**-53
_CERTAIN = log1p(-_SMALLEST) - log(_SMALLEST)
_EPOCH = datetime(1970, 1, 1)
_KINDS = ("number", "datetime", "timedelta")


def _is_number(value: Any) -> bool:
    # NumPy's bool is no Number, but its timedelta64 is.
    return isinstance(value, float) or (
        isinstance(value, Number) and type(value).__name__ not in ("bool", "timedelta64")
    )


def _number(value: Any, name: str) -> float:
    if not _is_number(value):
        raise ValueError(f"{name} must be numbers, but it contains {value!r:.80}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers that a double can hold ({error})") from error
    if isnan(number):
        raise ValueError(f"{name} contains NaN; it must be numbers")
    return number


def _items(values: Any, count: int, name: str) -> list[Any]:
    if not isinstance(values, list | tuple):
        ordered = hasattr(values, "__getitem__") and not isinstance(values, str | bytes | Mapping)
        if not ordered or getattr(values, "shape", True) == ():
            raise ValueError(f"{name} must be a sequence of {count}, but it is {values!r:.80}")
    items = list(values)
    if len(items) != count:
        raise ValueError(f"{name} must have {count} columns as in the fit, but has {len(items)}")
    return items


def _logit(value: Any) -> float:
    logit = _number(value, "logits")
    if abs(logit) <= _LARGEST_LOGIT:
        return logit
    if isinf(logit):
        return copysign(_CERTAIN, logit)
    raise ValueError(
        f"logits must lie within 2**53 of zero, but it has {logit:g}: for a class that is certain "
        "or impossible pass inf or -inf"
    )


def _logits(values: Any, count: int) -> Row:
    row = _items(values, count, "logits")
    for value in row:
        if type(value) is not float or not -_LARGEST_LOGIT <= value <= _LARGEST_LOGIT:
            break
    else:
        return row
    row = [_number(value, "logits") for value in row]
    if row.count(inf) > 1 or row.count(-inf) == count:
        raise ValueError(
            f"logits is {row}: infinity can mean one certain class or some impossible ones, not "
            "several certain ones or none possible"
        )
    finite = [_logit(value) for value in row if not isinf(value)]
    rest = _log_sum(finite) if finite else 0.0
    return [rest + _logit(value) if isinf(value) else value for value in row]


def _share(value: Any) -> float:
    share = _number(value, "proba")
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"proba must lie in [0, 1], but it has {share!r}")
    return min(max(share, _SMALLEST), 1.0 - _SMALLEST)


def _proba(value: Any) -> float:
    share = _share(value)
    return log(share) - log1p(-share)


def _probas(values: Any, count: int) -> Row:
    shares = [_share(value) for value in _items(values, count, "proba")]
    if abs(sum(shares) - 1.0) > 1e-3:
        raise ValueError(f"proba must sum to 1, but it sums to {sum(shares):g}")
    return [log(share) for share in shares]


_CHECKS = {"logits": (_logit, _logits), "proba": (_proba, _probas)}


def _time_check(kinds: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return what turns the time that a user gives into a number, a pair of them, or None."""
    if len(kinds) == 1:
        return lambda time: _seconds(time, kinds[0])

    def check(time: Any) -> tuple[float, ...] | None:
        if not kinds and time is not None:
            raise ValueError("the model does not change along time: leave time out")
        if kinds and time is None:
            raise ValueError("time is missing: the model changes along time")
        return tuple(map(_seconds, _items(time, 2, "time"), kinds)) if kinds else None

    return check


def _seconds(time: Any, wanted: str) -> float:
    """Return a number as it is, a duration in seconds, and a moment in seconds since 1970 UTC."""
    plain = isinstance(time, float) or type(time) is int
    if plain and wanted == "number" and -(2.0**53) < time < 2.0**53:
        return float(time)
    if time is None or (isinstance(time, date | timedelta) and str(time) == "NaT"):
        raise ValueError("time is missing: the model changes along time")
    if isinstance(time, date | timedelta):
        kind = "datetime" if isinstance(time, date) else "timedelta"
    elif _is_number(time):
        kind = "number"
    else:
        hint = "; .item() makes it one" if hasattr(time, "item") else ""
        raise ValueError(
            f"time must be a number, datetime, date or timedelta, not {time!r:.80}{hint}"
        )
    if kind != wanted:
        raise ValueError(f"time was {wanted} in the fit and is {kind} now: pass the same kind")
    number = _number(time, "time") if kind == "number" else _elapsed(time)
    if abs(number) > _LARGEST_TIME:
        raise ValueError(f"time must lie within {_LARGEST_TIME:g} of zero, but it is {number:g}")
    if isinstance(time, Integral) and abs(number) >= 2.0**53:
        raise ValueError(f"time is {time}, but whole numbers beyond 2**53 lose digits")
    return number


def _elapsed(moment: Any) -> float:
    if isinstance(moment, date):
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        moment -= _EPOCH if moment.utcoffset() is None else _EPOCH.replace(tzinfo=UTC)
    ticks = 10**9 * (86_400 * moment.days + moment.seconds) + 1000 * moment.microseconds
    ticks += getattr(moment, "nanoseconds", 0)  # pandas counts them, Python does not
    whole, rest = divmod(abs(ticks), 10**9)
    return copysign(whole + rest / 10**9, ticks)


# Curves along time. At any time all functions of a basis are 0 but for 1, 2 or 4 neighbors, whose
# values, their shares, sum to 1.


def _basis(content: Mapping[str, Any]) -> tuple[int, int, Shares]:  # noqa: PLR0911
    """How many functions there are, how many at a time, and which is the first with what shares."""
    match content:
        case {"kind": "ConstantBasis"}:
            return 1, 1, lambda time: (0, (1.0,))
        case {"kind": "ExponentialBasis", "rate": rate, "first": first}:
            return 2, 2, _decay(*_floats([rate], "rates", 5e-324), *_times([first]))
        case {"kind": "SplineBasis", "first": first, "last": last, "unit": unit, "intervals": n}:
            ends = _times([first, last], "knots")
            return int(n) + 3, 4, _spline(*ends, *_floats([unit, n], "knots", 0.0))
        case {"kind": "BinBasis", "edges": edges}:
            edges = _times(edges, "edges")
            return len(edges) + 1, 1, lambda time: (bisect_right(edges, time), (1.0,))
        case {"kind": "StepBasis", "times": times, "unseen": unseen}:
            times = _times(times, "steps")
            _require(unseen in ("nearest", "interpolate", "error"), "steps")
            if unseen == "interpolate" and len(times) > 1:
                return len(times), 2, _between(times)
            return len(times), 1, _nearest(times, unseen)
        case {"kind": "ExpressionBasis", "first": first, "last": last, "functions": functions}:
            return len(functions), len(functions), _given(first, last, functions)
        case {"kind": str(kind)} if ":" in kind:
            raise ModelError(f"has a curve of its own, {kind:.80}, which the scorer does not know")
    raise ModelError(f"is damaged: {content!r:.80} is no curve")


def _given(first: float, last: float, functions: Sequence[Any]) -> Shares:
    first, last = _floats([first, last], "times", -_LARGEST_KNOWN, _LARGEST_KNOWN)
    _require(first <= last and 0 < len(functions) <= _MOST_FORMULAS, "formulas")
    programs = [_program(each, "time") for each in functions]

    def shares(time: float) -> tuple[int, Row]:
        inside = first if time < first else last if time > last else time
        return 0, [program(inside) for program in programs]

    return shares


def _decay(rate: float, first: float) -> Shares:
    def shares(time: float) -> tuple[int, Row]:
        fall = -rate * (time - first) if time > first else 0.0
        return 0, (-expm1(fall), exp(fall))

    return shares


def _spline(first: float, last: float, unit: float, n: float) -> Shares:
    whole, final = log1p((last - first) / unit) if unit > 0.0 else last - first, int(n) - 1
    _require(0.0 < whole < inf and n == final + 1 >= 1, "knots")

    def shares(time: float) -> tuple[int, Row]:
        inside = (first if time < first else last if time > last else time) - first
        position = (log1p(inside / unit) if unit > 0.0 else inside) / whole * n
        left = int(position)
        if left > final:
            left, position = final, n
        x = position - left
        y = 1.0 - x
        start, stop = y * y * y / 6.0, x * x * x / 6.0
        middle = 2.0 / 3.0 - x * x * (1.0 - 0.5 * x)
        return left, (start, middle, 1.0 - start - stop - middle, stop)

    return shares


def _between(times: Row) -> Shares:
    last = len(times) - 1

    def shares(time: float) -> tuple[int, Row]:
        after = min(max(bisect_left(times, time), 1), last)
        share = (time - times[after - 1]) / (times[after] - times[after - 1])
        share = min(max(share, 0.0), 1.0)
        return after - 1, (1.0 - share, share)

    return shares


def _nearest(times: Row, unseen: str) -> Shares:
    seen = {time: (step, (1.0,)) for step, time in enumerate(times)}
    last, middle = len(times) - 1, times[0] + 0.5
    whole = times[0].is_integer() and abs(times[0]) < 2**40
    whole = whole and all(other - one == 1.0 for one, other in pairwise(times))

    def shares(time: float) -> tuple[int, Row]:
        if time in seen:
            return seen[time]
        if unseen == "error":
            raise ValueError(f"time is {time:.12g}, a step that the fit had not seen")
        if whole:  # half way between two, the earlier one
            return min(max(ceil(time - middle), 0), last), (1.0,)
        after = min(bisect_left(times, time), last)
        before = max(after - 1, 0)
        return before if time - times[before] <= times[after] - time else after, (1.0,)

    return shares


def _curve(basis: Mapping[str, Any], table: Sequence[Row], width: int) -> Curve:
    """Return the combination of the rows of a table, which are of some width, at any time."""
    most = _LARGEST_COEFFICIENT
    rows = [_floats(row, "coefficients", -most, most) for row in table]
    _require(all(len(row) == width for row in rows), "coefficients")
    if basis["kind"] == "ProductBasis":
        return _surface(basis, rows)
    size, order, shares = _basis(basis)
    _require(len(rows) == size, "coefficients")
    if basis["kind"] == "ConstantBasis":
        return lambda time: rows[0]
    pieces = [tuple(zip(*rows[k : k + order], strict=True)) for k in range(size - order + 1)]

    def of_two(time: float) -> Row:
        k, (a, b) = shares(time)
        return [a * x + b * y for x, y in pieces[k]]

    def of_four(time: float) -> Row:
        k, (a, b, c, d) = shares(time)
        return [a * w + b * x + c * y + d * z for w, x, y, z in pieces[k]]

    # A slope and a bias without the loop, which would take twice as long.
    def pair_of_two(time: float) -> Row:
        k, (a, b) = shares(time)
        (p, q), (v, w) = pieces[k]
        return a * p + b * q, a * v + b * w

    def pair_of_four(time: float) -> Row:
        k, (a, b, c, d) = shares(time)
        (p, q, r, s), (v, w, x, y) = pieces[k]
        return a * p + b * q + c * r + d * s, a * v + b * w + c * x + d * y

    def of_all(time: float) -> Row:
        k, values = shares(time)
        return [sum(map(mul, values, column)) for column in pieces[k]]

    if order == 1 and basis["kind"] != "ExpressionBasis":
        return lambda time: rows[shares(time)[0]]
    if order not in (2, 4):
        return of_all
    if width == 2:
        return pair_of_two if order == 2 else pair_of_four
    return of_two if order == 2 else of_four


def _surface(basis: Mapping[str, Any], rows: Sequence[Row]) -> Curve:
    """Return the same along two clocks: the shares are products of those of each."""
    (size, order, one), (width, breadth, other) = _basis(basis["one"]), _basis(basis["other"])
    _require(len(rows) == size * width, "coefficients")

    def curve(times: tuple[float, float]) -> Row:
        (i, left), (j, right) = one(times[0]), other(times[1])
        shares = [a * b for a in left for b in right]
        places = [k * width + j for k in range(i, i + order)]
        near = [row for place in places for row in rows[place : place + breadth]]
        return [sum(map(mul, shares, column)) for column in zip(*near, strict=True)]

    return curve


# Maps of logits. One column is mapped to calibrated log-odds, a row of n columns to n logits.


def _map(fitted: Mapping[str, Any], columns: int, n_classes: int) -> Map:
    """Return what calibrates a number, or a row, at a time."""
    fitted = _as_curves(fitted)
    kind = fitted["form"] if fitted["kind"] in ("Curves", "FeatureCurves") else fitted["kind"]
    return _MAPS[kind](fitted, columns, n_classes)


def _as_curves(fitted: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write a map with coefficients that does not change along time as curves that are constant."""
    match fitted:
        case {"kind": "Scale", "inverse_temperature": slope}:
            form, rows = "scale", [[slope]]
        case {"kind": "OneVsRest", "maps": [{"kind": "Line"}, *_] as maps}:
            form, rows = "lines", [[each["slope"], each["bias"]] for each in maps]
        case {"kind": "OneVsRest", "maps": [{"kind": "Beta"}, *_] as maps}:
            form, rows = "betas", [[each["a"], each["b"], each["c"]] for each in maps]
        case {"kind": "OneVsRest", "maps": [{"kind": "FeatureMap"} as first, *_] as maps}:
            rows = [each["coefficients"] for each in maps]
            _require(all(each["features"] == first["features"] for each in maps), "features")
            form = "features"
        case {"kind": "Affine", "weights": [[*_], *_] as weights, "bias": bias}:
            form = "full_of_log_proba" if fitted["of_log_proba"] else "full"
            pairs = zip(weights, bias, strict=True)
            rows = [[each for row, shift in pairs for each in (*row, shift)]]
        case {"kind": "Affine", "weights": weights, "bias": bias, "of_log_proba": False}:
            pairs = zip(weights, bias, strict=True)
            form, rows = "diagonal", [[each for pair in pairs for each in pair]]
        case _:
            return fitted
    constant = [{"kind": "ConstantBasis"}] * len(rows)
    curves = {"kind": "Curves", "form": form, "bases": constant, "tables": [[row] for row in rows]}
    return {**curves, "features": fitted["maps"][0]["features"]} if form == "features" else curves


def _per_step(fitted: Mapping[str, Any], columns: int, n_classes: int) -> Map:
    size, order, shares = _basis(fitted["basis"])
    maps = [_map(each, columns, n_classes) for each in fitted["maps"]]
    _require(order == 1 and size == len(maps), "steps")
    return lambda logits, time: maps[shares(time)[0]](logits, time)


def _curves(fitted: Mapping[str, Any], width: int, step: int | None = None) -> list[Curve]:
    """Return the coefficients of each model; biases, the last of each step, are centered."""
    tables = fitted["tables"] if step is None else [_centered(t, step) for t in fitted["tables"]]
    return [_curve(b, t, width) for b, t in zip(fitted["bases"], tables, strict=True)]


def _centered(table: Sequence[Row], step: int) -> Sequence[Row]:
    means = [sum(row[step - 1 :: step]) * step / len(row) for row in table]
    return [
        [each - mean * (k % step == step - 1) for k, each in enumerate(row)]
        for row, mean in zip(table, means, strict=True)
    ]


def _scale(fitted: Mapping[str, Any], columns: int, n_classes: int) -> Map:
    _require(all(row[0] > 0.0 for table in fitted["tables"] for row in table), "coefficients")
    if columns == 1:  # a line through zero
        (table,) = fitted["tables"]
        return _line(*_curves({**fitted, "tables": [[[*row, 0.0] for row in table]]}, 2))
    (curve,) = _curves(fitted, 1)

    def scale(row: Row, time: Any) -> Row:
        slope = curve(time)[0]
        return [slope * each for each in row]

    return scale


def _diagonal(fitted: Mapping[str, Any], columns: int, n_classes: int) -> Map:
    (curve,) = _curves(fitted, 2 * columns, step=2)

    def diagonal(row: Row, time: Any) -> Row:
        numbers = curve(time)
        return list(map(add, map(mul, numbers[::2], row), numbers[1::2]))

    return diagonal


def _full(fitted: Mapping[str, Any], columns: int, n_classes: int) -> Map:
    (curve,) = _curves(fitted, columns * (columns + 1), step=columns + 1)
    places = range(0, columns * (columns + 1), columns + 1)

    def full(row: Row, time: Any) -> Row:
        numbers = curve(time)
        return [sum(map(mul, numbers[k : k + columns], row)) + numbers[k + columns] for k in places]

    return full


def _full_of_log_proba(fitted: Mapping[str, Any], columns: int, n_classes: int) -> Map:
    _require(n_classes in (columns, 2), "classes")
    full, least = _full(fitted, n_classes, n_classes), log(_SMALLEST)

    def of_row(row: Row, time: Any) -> Any:
        return full([max(each, least) for each in _log_softmax(row)], time)

    def of_one(odds: float, time: Any) -> Any:
        one, other = of_row((0.0, odds), time)
        return other - one

    return of_one if columns == 1 else of_row


def _line(curve: Curve) -> Map:
    def line(odds: float, time: Any) -> float:
        slope, bias = curve(time)
        return slope * odds + bias

    return line


def _beta(curve: Curve) -> Map:
    def beta(odds: float, time: Any) -> float:
        a, b, c = curve(time)
        return a * _log_sigmoid(odds) - b * _log_sigmoid(-odds) + c

    return beta


def _features(curve: Curve, programs: Sequence[Callable[[float], float]]) -> Map:
    def features(odds: float, time: Any) -> float:
        return float(sum(map(mul, curve(time), [program(odds) for program in programs])))

    return features


def _bare(fitted: Mapping[str, Any]) -> Map:
    """Return a map of log-odds without coefficients: a step function, or linear between knots."""
    shares = _floats(fitted["probabilities"], "shares", 0.0, 1.0)
    if fitted["kind"] == "Steps":
        edges, odds_of = _ordered(fitted["edges"], "bins"), [_logit_of(share) for share in shares]
        _require(len(shares) == len(edges) + 1, "bins")
        return lambda odds, time: odds_of[bisect_left(edges, odds)]
    knots, last = _ordered(fitted["odds"], "knots"), len(shares) - 1
    _require(0 < len(shares) == len(knots), "knots")

    def between_knots(odds: float, time: Any) -> float:
        k = bisect_right(knots, odds) - 1
        if k < 0 or k == last:
            return _logit_of(shares[max(k, 0)])
        slope = (shares[k + 1] - shares[k]) / (knots[k + 1] - knots[k])
        rise = slope * (odds - knots[k]) if odds > knots[k] else 0.0
        return _logit_of(min(max(rise + shares[k], 0.0), 1.0))

    return between_knots


def _ordered(values: Any, what: str) -> Row:
    numbers = _floats(values, what)
    _require(all(one <= other for one, other in pairwise(numbers)), what)
    return numbers


def _of_classes(fitted: Mapping[str, Any], columns: int, n_classes: int) -> Map:
    """Return one map a class, normalized; or the single one of two classes."""
    match fitted:
        case {"form": "lines"}:
            maps = [_line(curve) for curve in _curves(fitted, 2)]
        case {"form": "betas"}:
            least = min(each for table in fitted["tables"] for row in table for each in row[:2])
            _require(least >= 0.0, "coefficients")
            maps = [_beta(curve) for curve in _curves(fitted, 3)]
        case {"form": "features", "features": features}:
            _require(0 < len(features) <= _MOST_FORMULAS, "formulas")
            programs = [_program(each, "odds") for each in features]
            maps = [_features(curve, programs) for curve in _curves(fitted, len(programs))]
        case _:
            maps = [_bare(each) for each in fitted["maps"]]
    alone = len(maps) == 1 and n_classes == 2
    _require(alone or (len(maps) == n_classes == columns), "classes")

    def one_of_two(row: Row, time: Any) -> Row:
        odds = maps[0](row[1] - row[0], time)
        return (_log_sigmoid(-odds), _log_sigmoid(odds)) if isinf(odds) else (0.0, odds)

    def one_vs_rest(row: Row, time: Any) -> Row:
        pairs = zip(maps, _log_odds(row), strict=True)
        log_p = [_log_sigmoid(each(odds, time)) for each, odds in pairs]
        # Where every class is given probability 0 there is nothing to normalize.
        return log_p if max(log_p) > -inf else _log_softmax(row)

    return maps[0] if columns == 1 else one_of_two if alone else one_vs_rest


_MAPS: dict[str, Callable[[Mapping[str, Any], int, int], Map]] = {
    "MapPerStep": _per_step,
    "OneVsRest": _of_classes,
    "lines": _of_classes,
    "betas": _of_classes,
    "features": _of_classes,
    "scale": _scale,
    "diagonal": _diagonal,
    "full": _full,
    "full_of_log_proba": _full_of_log_proba,
}


# Formulas: a list of instructions, each a name and its arguments. An argument is a number or text,
# or the index of an earlier instruction (r, or a list of them, R), whose value it takes.

_LARGEST_FORMULA = 10_000
_MOST_FORMULAS = 100
_Instruction = Callable[[list[Any], float], Any]
_INSTRUCTIONS: dict[str, tuple[str, Callable[..., _Instruction]]] = {
    "Column": ("c", lambda name: lambda v, x: x),
    "Number": ("f", lambda value: lambda v, x: value),
    "Add": ("rr", lambda a, b: lambda v, x: v[a] + v[b]),
    "Subtract": ("rr", lambda a, b: lambda v, x: v[a] - v[b]),
    "Multiply": ("rr", lambda a, b: lambda v, x: v[a] * v[b]),
    "Divide": ("rr", lambda a, b: lambda v, x: v[a] / v[b]),
    "Negate": ("r", lambda a: lambda v, x: -v[a]),
    "Exp": ("r", lambda a: lambda v, x: exp(v[a])),
    "Log": ("r", lambda a: lambda v, x: log(v[a])),
    "Clamp": ("rlh", lambda a, low, high: lambda v, x: min(max(v[a], low), high)),
    "Largest": ("R", lambda each: lambda v, x: _largest([v[k] for k in each])),
    "Where": ("rrr", lambda a, b, c: lambda v, x: v[b] if v[a] else v[c]),
    "Piecewise": (
        "rkRs",
        lambda a, knots, each, side: (
            lambda v, x: v[each[(bisect_left if side == "left" else bisect_right)(knots, v[a])]]
        ),
    ),
    "AtMost": ("rr", lambda a, b: lambda v, x: v[a] <= v[b]),
    "Below": ("rr", lambda a, b: lambda v, x: v[a] < v[b]),
    "Same": ("rr", lambda a, b: lambda v, x: v[a] == v[b]),
    "Every": ("R", lambda each: lambda v, x: all(v[k] for k in each)),
    "Some": ("R", lambda each: lambda v, x: any(v[k] for k in each)),
}


def _largest(values: Row) -> float:
    return nan if any(value != value for value in values) else max(values)  # noqa: PLR0124


def _program(instructions: Any, column: str) -> Callable[[float], float]:
    """Return the function of one column that a formula describes."""
    _require(isinstance(instructions, list) and len(instructions) > 0, "formulas")
    parts = [part for each in instructions if isinstance(each, list) for part in each]
    size = len(instructions) + sum(len(p) if isinstance(p, list) else 1 for p in parts)
    _require(size <= _LARGEST_FORMULA, "formulas")
    steps = [_instruction(each, k, column) for k, each in enumerate(instructions)]

    def run(x: float) -> float:
        values: list[Any] = []
        for step in steps:
            try:
                values.append(step(values, x))
            except (ArithmeticError, ValueError):  # it may be in a piece that is not taken
                values.append(nan)
        if -inf < values[-1] < inf:
            return float(values[-1])
        raise ValueError(f"the model has no value where {column} is {x:g}")

    return run


def _instruction(content: Any, index: int, column: str) -> _Instruction:
    known = isinstance(content, list) and len(content) > 0 and content[0] in _INSTRUCTIONS
    _require(known, "formulas")
    name, *arguments = content
    signature, make = _INSTRUCTIONS[name]
    _require(len(arguments) == len(signature), "formulas")
    if name == "Piecewise":
        _require(len(arguments[2]) == len(arguments[1]) + 1, "formulas")
    return make(
        *(_argument(a, s, index, column) for a, s in zip(arguments, signature, strict=True))
    )


def _argument(value: Any, kind: str, index: int, column: str) -> Any:
    match kind:
        case "r":
            _require(type(value) is int and 0 <= value < index, "formulas")
        case "R":
            value = [_argument(each, "r", index, column) for each in value]
            _require(len(value) > 0, "formulas")
        case "k":
            value = _times(value, "formulas")
        case "l" | "h" if value is None:
            value = -inf if kind == "l" else inf
        case "c" | "s":
            _require(value in ((column,) if kind == "c" else ("left", "right")), "formulas")
        case _:
            (value,) = _floats([value], "formulas")
    return value


# Logarithms of probabilities, without overflow.


def _log_sum(row: Row) -> float:
    top = max(row)
    return log(sum([exp(each - top) for each in row])) + top


def _log_softmax(row: Row) -> Row:
    top = max(row)
    rest = _log_sum([each - top for each in row])
    return [each - top - rest for each in row]


def _log_sigmoid(odds: float) -> float:
    return min(odds, 0.0) - log1p(exp(-abs(odds)))


def _logit_of(share: float) -> float:
    return -inf if share == 0.0 else inf if share == 1.0 else log(share) - log1p(-share)


def _log_odds(row: Row) -> Row:
    """Log-odds of each class against all the others."""
    ordered = sorted(row)
    top = ordered[-1]
    rest = _log_sum([each - top for each in ordered[:-1]])
    total = log1p(exp(rest))
    log_p = [each - top - total for each in row]
    # log(1 - p) cancels where p is near 1: a class with more than half has the others' sum.
    return [
        -rest if each == top and rest < 0.0 else log_each - log1p(-exp(log_each))
        for each, log_each in zip(row, log_p, strict=True)
    ]
