"""The groups of a table: how many there are, and numbers that go with each of them.

Engines share no hash function. A group whose id is a whole number gets its number by modular
arithmetic, which every engine has; of other ids the distinct ones are brought here, and what
Python makes of them is joined back.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.tables.labelled import Labelled
from tempocal.tables.open import Frame
from tempocal.tables.small import Columns, join

# Products of two numbers below it, and a third one added, are whole numbers of 63 bits.
PRIME = 2**31 - 1
# Up to so many groups each is looked up in a small table of all of them.
FEW = 10_000
# More ids than this that are not whole numbers are not brought here.
MANY = 2_000_000


@dataclass(frozen=True)
class GroupIds:
    """The groups of the rows.

    Attributes
    ----------
    count : int
        How many there are.
    ids : ndarray or None
        Each once, in order; None where they are whole numbers, and many.
    """

    count: int
    ids: NDArray[Any] | None

    @property
    def are_few(self) -> bool:
        """Whether something can be said of each of them."""
        return self.ids is not None and self.count <= FEW

    def beside(self, frame: Frame, columns: Columns) -> Frame:
        """Put beside each row what goes with its group; ``columns`` are in the order of ids."""
        assert self.ids is not None
        return join(with_keys(frame), {"group": self.ids, **columns}, on=["group"])

    def numbered(self, frame: Frame) -> Frame:
        """Add ``number``, a whole number from 0 to `PRIME`, that two groups hardly ever share."""
        if self.ids is not None:
            return self.beside(frame, {"number": np.array([_digest(i) for i in self.ids.tolist()])})
        # Some engines give the remainder of a negative number a minus sign.
        rest = (nw.col("group") % PRIME + PRIME) % PRIME
        return with_keys(frame).with_columns(number=rest)


def find_groups(rows: Labelled) -> GroupIds:
    """Find the groups of a table, in a pass or two."""
    frame = with_keys(rows.frame)
    is_whole = frame.collect_schema()["group"].is_integer()
    most = FEW if is_whole else MANY
    distinct = frame.select("group").unique().head(most + 1)
    found = np.unique(rows.passes.collect(distinct, "looking for groups")["group"])
    if len(found) <= most:
        return GroupIds(len(found), found)
    if not is_whole:
        raise InputError(
            f"groups has more than {MANY:,} ids that are not whole numbers: make a column of whole "
            "numbers of them, such as a hash of 64 bits"
        )
    counted = rows.passes.collect(frame.select(nw.col("group").n_unique()), "counting the groups")
    return GroupIds(int(counted["group"][0]), None)


def with_keys(frame: Frame) -> Frame:
    """Make the ids of groups of one of three types, so that a small table can be joined."""
    kind = frame.collect_schema()["group"]
    if kind == nw.UInt64 or not (kind.is_integer() or kind.is_float()):
        return frame.with_columns(group=nw.col("group").cast(nw.String))
    wide = nw.Int64 if kind.is_integer() else nw.Float64
    return frame.with_columns(group=nw.col("group").cast(wide))


def _digest(value: Any) -> int:
    found = blake2b(repr(value).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "little") % PRIME
