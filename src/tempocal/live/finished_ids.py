"""Ids of finished sequences, which must not be used again."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Self

from tempocal.live.bet_queue import SequenceId

_DIGEST_BYTES = 8  # among a million ids the probability of any collision is 3e-8


class FinishedIds:
    """A set of ids, stored as digests of fixed size.

    Parameters
    ----------
    digests : iterable of bytes
        Digests of the ids in it.

    Examples
    --------
    >>> finished = FinishedIds()
    >>> finished.add("match 1")
    >>> "match 1" in finished, "match 2" in finished
    (True, False)
    """

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._digests = set(digests)

    def __contains__(self, name: SequenceId) -> bool:
        return _digest(name) in self._digests

    def __deepcopy__(self, memo: dict[int, Any]) -> "FinishedIds":
        return FinishedIds(self._digests)

    def add(self, name: SequenceId) -> None:
        """Add an id."""
        self._digests.add(_digest(name))

    def to_text(self) -> str:
        """Return the digests as text, sorted: the same for the same ids in any order."""
        return b"".join(sorted(self._digests)).hex()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Inverse of `to_text`."""
        data = bytes.fromhex(text)
        if len(data) % _DIGEST_BYTES:
            raise ValueError(f"digests of {_DIGEST_BYTES} bytes were expected")
        starts = range(0, len(data), _DIGEST_BYTES)
        return cls(data[start : start + _DIGEST_BYTES] for start in starts)


def _digest(name: SequenceId) -> bytes:
    # As JSON, so that 7 and "7" differ.
    return blake2b(json.dumps(name).encode(), digest_size=_DIGEST_BYTES).digest()
