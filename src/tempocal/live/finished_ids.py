"""Which sequences are over: ids that must not come again."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Self

from tempocal.live.bet_queue import SequenceId

_SIZE = 8  # bytes: among a million ids the chance that any two are taken for one is 3e-8


class Ended:
    """A set of ids that holds a digest of each, so that long ids take no more room.

    Parameters
    ----------
    digests : iterable of bytes
        Digests of the ids in it.

    Examples
    --------
    >>> ended = Ended()
    >>> ended.add("match 1")
    >>> "match 1" in ended, "match 2" in ended
    (True, False)
    """

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._digests = set(digests)

    def __contains__(self, name: SequenceId) -> bool:
        return _digest(name) in self._digests

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ended":
        return Ended(self._digests)

    def add(self, name: SequenceId) -> None:
        """Put an id in."""
        self._digests.add(_digest(name))

    def to_text(self) -> str:
        """Return it as text, the same for the same ids whatever their order."""
        return b"".join(sorted(self._digests)).hex()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return what `to_text` was called on."""
        data = bytes.fromhex(text)
        if len(data) % _SIZE:
            raise ValueError(f"digests of {_SIZE} bytes were expected")
        return cls(data[start : start + _SIZE] for start in range(0, len(data), _SIZE))


def _digest(name: SequenceId) -> bytes:
    """Return a few bytes for an id; 7 and "7" are two."""
    return blake2b(json.dumps(name).encode(), digest_size=_SIZE).digest()
