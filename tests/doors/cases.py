"""Bad and borderline inputs, one line each, for all doors.

A case changes one column of good rows. Its outcome is REFUSED, a worded error that names the
column or its role at every door; or SAME, the answer that arrays give, at every door.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import inf, nan
from typing import Any

REFUSED, SAME = "refused", "same"
BAD_ROW = 7


@dataclass(frozen=True, eq=False)
class Case:
    """One change of one column.

    Attributes
    ----------
    name : str
        What is odd about it.
    column : str
        One of z, won, t, id, w.
    change : Any
        A value for one row, or a function of the whole column.
    outcome : {"refused", "same"}
        What every door must make of it.
    but : dict
        Doors at which the outcome is the other one, and why.
    """

    name: str
    column: str
    change: Any
    outcome: str
    but: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.column}: {self.name}"

    def columns(self, good: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the rows with the change."""
        values = list(good[self.column])
        if callable(self.change):
            values = self.change(values)
        else:
            values[BAD_ROW] = self.change
        return {**good, self.column: values}


def each(function: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """Change every value."""
    return lambda values: [function(value) for value in values]


def row(value: Any, function: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """Change every value, and then one of them."""

    def changed(values: list[Any]) -> list[Any]:
        made = [function(one) for one in values]
        made[BAD_ROW] = value
        return made

    return changed


START = datetime(2026, 5, 1)
JSON_ROUNDS = {"command on jsonl": "Arrow reads them as floats, which lose digits"}
CSV = ("csv path", "command on csv", "command on large csv")
# Whatever stands in a CSV file is text, and different text is a different id.
IS_TEXT = dict.fromkeys(CSV, "text of its own")

CASES = [
    # Logits.
    Case("NaN", "z", nan, REFUSED),
    Case("missing", "z", None, REFUSED),
    Case("all NaN", "z", each(lambda z: nan), REFUSED),
    Case("all missing", "z", each(lambda z: None), REFUSED),
    Case("beyond 2**53", "z", 1e200, REFUSED),
    Case("minus beyond 2**53", "z", -1e17, REFUSED),
    Case("the largest double", "z", 1.7976931348623157e308, REFUSED),
    Case("next to 2**53", "z", 9e15, SAME),
    Case("certain", "z", inf, SAME),
    Case("impossible", "z", -inf, SAME),
    Case("text", "z", each(lambda z: f"x{z}"), REFUSED),
    Case("truth values", "z", each(lambda z: z > 0), REFUSED),
    Case("dates", "z", each(lambda z: date(2026, 1, 1)), REFUSED),
    Case("whole numbers", "z", each(round), SAME),
    Case("decimals", "z", each(lambda z: Decimal(f"{z:.3f}")), SAME),
    Case("all smaller than 1e-100", "z", each(lambda z: z * 1e-110), REFUSED),
    # Labels.
    Case("NaN", "won", row(nan, float), REFUSED),
    Case("missing", "won", None, REFUSED),
    Case("infinity", "won", row(inf, float), REFUSED),
    Case("a fraction", "won", row(0.5, float), REFUSED),
    Case("a third class", "won", 2, REFUSED),
    Case("one class only", "won", each(lambda won: 1), REFUSED),
    Case("floats", "won", each(float), SAME),
    Case("truth values", "won", each(bool), SAME),
    Case("text", "won", each(lambda won: "yes" if won else "no"), SAME),
    Case("text of digits", "won", each(str), SAME),
    Case("floats beyond 2**53", "won", each(lambda won: 1e17 + 1e3 * won), REFUSED, IS_TEXT),
    Case("integers beyond 2**53", "won", each(lambda won: 2**53 + 1 + won), SAME),
    Case("negative", "won", each(lambda won: 2 * won - 1), SAME),
    Case("lists", "won", each(lambda won: [won]), REFUSED, IS_TEXT),
    # Times.
    Case("NaN", "t", nan, REFUSED),
    Case("missing", "t", None, REFUSED),
    Case("infinity", "t", inf, REFUSED),
    Case("minus infinity", "t", -inf, REFUSED),
    Case("text", "t", each(lambda t: f"round {t}"), REFUSED),
    Case("truth values", "t", each(lambda t: t > 3), REFUSED),
    Case("whole numbers", "t", each(int), SAME),
    Case("whole numbers beyond 2**53", "t", each(lambda t: 2**53 + 1 + int(t)), REFUSED),
    Case("negative", "t", each(lambda t: -t), SAME),
    Case("next to the largest double", "t", 7e307, SAME),
    Case("minus zero", "t", each(lambda t: -0.0 if t == 0 else t), SAME),
    Case("one time only", "t", each(lambda t: 3.0), SAME),
    Case("dates", "t", each(lambda t: date(2026, 5, 1) + timedelta(days=int(t))), SAME),
    Case("datetimes", "t", each(lambda t: START + timedelta(minutes=t)), SAME),
    Case(
        "datetimes with a zone",
        "t",
        each(lambda t: START.replace(tzinfo=UTC) + timedelta(minutes=t)),
        SAME,
    ),
    Case("before 1970", "t", each(lambda t: datetime(1969, 12, 31) - timedelta(hours=t)), SAME),
    # Ids.
    Case("NaN", "id", row(nan, float), REFUSED),
    Case("missing", "id", None, REFUSED),
    Case("text", "id", each(lambda m: f"match {m}"), SAME),
    Case("text of digits", "id", each(str), SAME),
    Case("numbers beside words", "id", each(lambda m: f"m{m}" if m % 3 else str(m)), SAME),
    Case("signed hashes", "id", each(lambda m: (1 - m % 2 * 2) * (2**62 + m // 2)), SAME),
    Case("leading zeros", "id", each(lambda m: f"{m // 2:0{1 + m % 2}d}"), SAME),
    Case("1e3 beside 1000", "id", each(lambda m: f"{m // 2 + 1}" + ("e3", "000")[m % 2]), SAME),
    Case("20 digits", "id", each(lambda m: f"1234567890123456{m:04d}"), SAME),
    Case("integers beyond 2**53", "id", each(lambda m: 2**53 + m), SAME),
    Case("integers beyond 2**63", "id", each(lambda m: 2**63 + m), SAME, JSON_ROUNDS),
    Case("negative integers", "id", each(lambda m: -m), SAME),
    Case("decimals", "id", each(lambda m: Decimal(f"{m}.50")), SAME),
    Case("long decimals", "id", each(lambda m: Decimal(10**25 + m)), SAME),
    Case("floats", "id", each(float), SAME),
    Case("floats beyond 2**53", "id", each(lambda m: 1e17 + 16.0 * m), REFUSED, IS_TEXT),
    Case("infinity", "id", row(inf, float), REFUSED, IS_TEXT),
    Case("minus zero beside zero", "id", each(lambda m: -0.0 if m == 1 else float(m)), SAME),
    Case("dates", "id", each(lambda m: date(2026, 1, 1) + timedelta(days=m)), SAME),
    Case("truth values", "id", each(lambda m: m % 2 == 0), SAME),
    Case("NUL at the end", "id", each(lambda m: f"a{m // 2}" + "\0" * (m % 2)), SAME),
    Case("a space at the end", "id", each(lambda m: f"a{m // 2}" + " " * (m % 2)), SAME),
    Case("upper and lower case", "id", each(lambda m: "ab"[m % 2].upper() + str(m)), SAME),
    Case("accents in two forms", "id", each(lambda m: ("é", "e\u0301")[m % 2] + str(m)), SAME),
    Case("commas, quotes, line ends", "id", each(lambda m: f'a,"b"\n{m}'), SAME),
    Case("the word NULL", "id", each(lambda m: "NULL" if m == 3 else f"m{m}"), SAME),
    Case("the word nan", "id", each(lambda m: "nan" if m == 3 else f"m{m}"), SAME),
    Case("a number beside its text", "id", row("1", int), REFUSED, IS_TEXT),
    Case("lists", "id", each(lambda m: [m]), REFUSED, IS_TEXT),
    # Weights.
    Case("NaN", "w", nan, REFUSED),
    Case("missing", "w", None, REFUSED),
    Case("infinity", "w", inf, REFUSED),
    Case("negative", "w", -1.0, REFUSED),
    Case("too large", "w", 1e21, REFUSED),
    Case("too small", "w", 1e-200, REFUSED),
    Case("zero", "w", 0.0, SAME),
    Case("all zero", "w", each(lambda w: 0.0), REFUSED),
    Case("whole numbers", "w", each(lambda w: 2), SAME),
    Case("text", "w", each(lambda w: "heavy"), REFUSED),
    Case("truth values", "w", each(lambda w: True), REFUSED),
]
