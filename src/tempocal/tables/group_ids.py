"""The groups of a table: how many there are, and numbers, folds and buckets of each of them.

There is no hash that all engines share. Ids that are whole numbers are spread by modular
arithmetic, which every engine has; of others the distinct ones are brought here, and what Python
makes of them is joined with the rows again.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.lazy import cached
from tempocal.solve import fold_codes
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns, join

# A prime, and a number that spreads well: products of two numbers below it, and a third one added,
# are whole numbers of 63 bits.
PRIME, MULTIPLIER = 2**31 - 1, 1_327_217_885
# Up to so many groups each is looked up in a small table of all of them.
MAX_FEW = 10_000
# Up to so many are dealt as those of arrays are.
MAX_LISTED = 2**20
# More ids than this that are not whole numbers are not brought here.
MAX_OTHER_IDS = 2_000_000


@dataclass(frozen=True)
class GroupIds:
    """The groups of the rows.

    Attributes
    ----------
    rows : LabeledTable
        The rows.
    count : int
        How many groups there are.
    n_mixed : int
        How many of them have rows with different labels.
    are_integers : bool
        Whether ids are whole numbers.
    """

    rows: LabeledTable
    count: int
    n_mixed: int
    are_integers: bool

    @property
    def are_few(self) -> bool:
        """Whether something can be said of each of them."""
        return self.count <= MAX_FEW

    @property
    def are_listed(self) -> bool:
        """Whether they are dealt to parts as those of arrays are; else by their ids alone."""
        return self.count <= MAX_LISTED

    @cached
    def ids(self) -> NDArray[Any]:
        """Each once, in order; a pass over the rows, when first roles for."""
        if self.count > MAX_OTHER_IDS and not self.are_integers:
            raise InputError(
                f"groups has more than {MAX_OTHER_IDS:,} ids that are not whole numbers: make a "
                "column of whole numbers of them, such as a hash of 63 bits"
            )
        distinct = with_joinable_ids(self.rows.frame).select("group").unique()
        found = self.rows.passes.collect(distinct, "collecting the groups")["group"]
        try:
            if self.rows.frame.collect_schema()["group"] == nw.UInt64:
                # Text, for want of wider numbers, but in the order of the numbers.
                return np.array(sorted(found.tolist(), key=int))
            return np.unique(found)
        except TypeError as error:
            raise InputError(f"groups mixes ids that cannot be ordered: {error}") from error

    def join_columns(self, frame: Frame, columns: Columns) -> Frame:
        """Put beside each row what goes with its group; ``columns`` are in the order of ids."""
        return join(with_joinable_ids(frame), {"group": self.ids, **columns}, on=["group"])

    def add_hash(self, frame: Frame) -> Frame:
        """Add ``number``, a whole number from 0 to `PRIME`, that two groups hardly ever share."""
        if self.are_integers:
            return with_joinable_ids(frame).with_columns(number=_residue(nw.col("group")))
        return self.join_columns(frame, {"number": self._digests(0) % PRIME})

    def add_fold(self, frame: Frame, count: int, seed: int) -> Frame:
        """Add the ``fold`` of each row, from its group alone."""
        if self.are_listed:
            dealt = fold_codes(self.count, None, count, seed).astype(np.int64)
            return self.join_columns(frame, {"fold": dealt})
        if self.are_integers:
            return frame.with_columns(fold=modular_hash(nw.col("group"), count, seed))
        return self.join_columns(frame, {"fold": self._digests(seed) % count})

    def replace_by_bucket(self, frame: Frame, count: int) -> Frame:
        """Replace groups by one of ``count`` buckets."""
        if self.are_integers:
            return frame.with_columns(group=modular_hash(nw.col("group"), count, seed=0))
        joined = self.join_columns(frame, {"bucket": self._digests(0) % count})
        return joined.drop("group").rename({"bucket": "group"})

    def _digests(self, seed: int) -> Codes:
        return np.array([_digest(one, seed) for one in self.ids.tolist()], dtype=np.int64)


def find_groups(rows: LabeledTable) -> GroupIds:
    """Count the groups of a table, in one pass."""
    ends = (nw.col("label").min().alias("low"), nw.col("label").max().alias("high"))
    by_group = rows.frame.group_by("group").agg(*ends)
    differ = nw.when(nw.col("low") != nw.col("high")).then(nw.lit(1)).otherwise(nw.lit(0))
    sums = by_group.with_columns(mixed=differ, one=nw.lit(1)).select(
        nw.col("one").sum(), nw.col("mixed").sum()
    )
    found = rows.passes.collect(sums, "counting the groups")
    kind = with_joinable_ids(rows.frame).collect_schema()["group"]
    return GroupIds(rows, int(found["one"][0]), int(found["mixed"][0]), kind.is_integer())


def codes_of(ids: NDArray[Any]) -> tuple[Codes, int]:
    """Codes of groups in a result, and how many there are."""
    found, codes = np.unique(ids, return_inverse=True)
    return codes.astype(np.intp), len(found)


def with_joinable_ids(frame: Frame, name: str = "group") -> Frame:
    """Make a column of ids of one of three types, so that a small table can be joined."""
    kind = frame.collect_schema()[name]
    if kind == nw.UInt64 or not (kind.is_integer() or kind.is_float()):
        return frame.with_columns(**{name: nw.col(name).cast(nw.String)})
    wide = nw.Int64 if kind.is_integer() else nw.Float64
    return frame.with_columns(**{name: nw.col(name).cast(wide)})


def modular_hash(ids: nw.Expr, count: int, seed: int) -> nw.Expr:
    """Spread whole numbers over ``count`` places."""
    shifted = (_residue(ids) + (7919 * seed) % PRIME) % PRIME
    return (shifted * MULTIPLIER) % PRIME % count


def _residue(ids: nw.Expr) -> nw.Expr:
    # Of a negative number engines take the remainder to either side of zero.
    return (ids.cast(nw.Int64) % PRIME + PRIME) % PRIME


def _digest(value: Any, seed: int) -> int:
    """Hash an id, to 62 bits."""
    text = f"{seed}:{value!r}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest()) >> 2
