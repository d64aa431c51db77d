"""Requests, and what must be answered to them."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tempocal as tc


@dataclass
class Case:
    """A request and the check of its answer.

    Answers to the same request are the same bytes: the first is compared with what
    ``predict_proba`` gives, later ones with the first.
    """

    name: str
    request: bytes
    check: Callable[[int, bytes], bool]
    good: bytes | None = field(default=None, repr=False)

    def is_right(self, status: int, body: bytes) -> bool:
        """Return whether an answer is what it must be."""
        if body == self.good:
            return True
        if not self.check(status, body):
            return False
        self.good = body
        return True


def save_model(path: Path) -> Any:
    """Fit a model to simulated matches, save it and return it."""
    m = tc.datasets.simulate_match(300)
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    cal.fit(m.logits, m.label, time=m.time, groups=m.sequence).save(path)
    return cal


def good_cases(cal: Any) -> list[Case]:
    """Return requests of one row, of ten and a few of a thousand."""
    m = tc.datasets.simulate_match(100, seed=1)
    sizes = [1] * 80 + [10] * 18 + [1000] * 2
    cases = []
    for k, size in enumerate(sizes):
        places = [(37 * k + j) % len(m.logits) for j in range(size)]
        z, t = m.logits[places].tolist(), m.time[places].tolist()
        rows = [{"logits": a, "time": b} for a, b in zip(z, t, strict=True)]
        wanted = cal.predict_proba(z, time=t).tolist()
        content = rows[0] if size == 1 else {"rows": rows}
        check = _equals(wanted[0] if size == 1 else wanted)
        cases.append(Case(f"{size} rows", request_of(json.dumps(content).encode()), check))
    return cases


MALFORMED = {
    "half of JSON": b'{"logits": 1.5, "ti',
    "no JSON": b"logits=1.5&time=3",
    "NaN": b'{"logits": NaN, "time": 3}',
    "Infinity": b'{"logits": Infinity, "time": 3}',
    "text": b'{"logits": "1.5", "time": 3}',
    "no time": b'{"logits": 1.5}',
    "null": b'{"logits": 1.5, "time": null}',
    "two columns": b'{"logits": [1.5, 2], "time": 3}',
    "unknown field": b'{"logits": 1.5, "time": 3, "id": 7}',
    "field twice": b'{"logits": 1.5, "time": 3, "time": 4}',
    "no rows": b'{"rows": []}',
    "one bad row": b'{"rows": [{"logits": 1.5, "time": 3}, {"logits": 1.5, "time": []}]}',
    "deep": b"[" * 100_000,
    "large integer": b'{"logits": 1' + b"0" * 5000 + b', "time": 3}',
    "no UTF-8": b'{"logits": 1.5, "time": "\xff"}',
    "too large": b" " * (2**20 + 1),
    "too many rows": b'{"rows": [' + b"0," * 10_000 + b"0]}",
}


def malformed_cases() -> list[Case]:
    """Return requests that must be refused."""
    return [Case(name, request_of(body), _is_refused) for name, body in MALFORMED.items()]


def request_of(body: bytes, *headers: str) -> bytes:
    """Return a request for scores."""
    lines = [
        "POST /v1/score HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        f"content-length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _equals(wanted: Any) -> Callable[[int, bytes], bool]:
    def check(status: int, body: bytes) -> bool:
        if status != 200:
            return False
        found = json.loads(body)["probabilities"]
        pairs = zip(_flat(found), _flat(wanted), strict=True)
        return all(math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300) for a, b in pairs)

    return check


def _flat(numbers: Any) -> list[float]:
    if not isinstance(numbers, list):
        return [numbers]
    return [each for part in numbers for each in _flat(part)]


def _is_refused(status: int, body: bytes) -> bool:
    return 400 <= status < 500 and set(json.loads(body)["error"]) == {"code", "message", "where"}


HALF = Case("half a request", request_of(b'{"logits": 1.5}')[:-5], lambda status, _: status == 408)
