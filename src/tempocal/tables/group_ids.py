"""The groups of a table: their number, and a hash, a fold or a bucket for each.

No hash function is common to all engines. Integer ids are hashed by modular arithmetic, which every
engine has. Other ids are collected, hashed in Python, and joined to the rows.
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

# Modulus, a prime, and multiplier of the hash: a * b + c with all three below the modulus fits into
# 63 bits.
PRIME, MULTIPLIER = 2**31 - 1, 1_327_217_885
# Up to this many groups, each gets its own draws, joined from a table of all ids.
MAX_FEW = 10_000
# Up to this many groups, folds and splits are the same as those of arrays.
MAX_LISTED = 2**20
# Largest number of non-integer ids to collect.
MAX_OTHER_IDS = 2_000_000


@dataclass(frozen=True)
class GroupIds:
    """The groups of the rows.

    Attributes
    ----------
    rows : LabeledTable
        The rows.
    count : int
        Number of groups.
    n_mixed : int
        Number of groups whose rows differ in their label.
    are_integers : bool
        Whether ids are integers.
    """

    rows: LabeledTable
    count: int
    n_mixed: int
    are_integers: bool

    @property
    def are_few(self) -> bool:
        """Whether each group can get its own draws."""
        return self.count <= MAX_FEW

    @property
    def are_listed(self) -> bool:
        """Whether folds and splits are those of arrays; else they follow from the hash of an id."""
        return self.count <= MAX_LISTED

    @cached
    def ids(self) -> NDArray[Any]:
        """Sorted distinct ids; collected in a pass when first used."""
        if self.count > MAX_OTHER_IDS and not self.are_integers:
            raise InputError(
                f"groups has more than {MAX_OTHER_IDS:,} ids that are not whole numbers: make a "
                "column of whole numbers of them, such as a hash of 63 bits"
            )
        distinct = with_joinable_ids(self.rows.frame).select("group").unique()
        found = self.rows.passes.collect(distinct, "collecting the groups")["group"]
        try:
            if self.rows.frame.collect_schema()["group"] == nw.UInt64:
                # Collected as text, which holds all digits, but sorted as numbers.
                return np.array(sorted(found.tolist(), key=int))
            return np.unique(found)
        except TypeError as error:
            raise InputError(f"groups mixes ids that cannot be ordered: {error}") from error

    def join_columns(self, frame: Frame, columns: Columns) -> Frame:
        """Join columns that have one value per group, in the order of `ids`."""
        return join(with_joinable_ids(frame), {"group": self.ids, **columns}, on=["group"])

    def add_hash(self, frame: Frame) -> Frame:
        """Add ``hash``, an integer in [0, `PRIME`) with few collisions between groups."""
        if self.are_integers:
            return with_joinable_ids(frame).with_columns(hash=_residue(nw.col("group")))
        return self.join_columns(frame, {"hash": self._digests(0) % PRIME})

    def add_fold(self, frame: Frame, count: int, seed: int) -> Frame:
        """Add the ``fold`` of each row, the same for all rows of a group."""
        if self.are_listed:
            folds = fold_codes(self.count, None, count, seed).astype(np.int64)
            return self.join_columns(frame, {"fold": folds})
        if self.are_integers:
            return frame.with_columns(fold=modular_hash(nw.col("group"), count, seed))
        return self.join_columns(frame, {"fold": self._digests(seed) % count})

    def replace_by_bucket(self, frame: Frame, count: int) -> Frame:
        """Replace the column ``group`` by one of ``count`` buckets."""
        if self.are_integers:
            return frame.with_columns(group=modular_hash(nw.col("group"), count, seed=0))
        joined = self.join_columns(frame, {"bucket": self._digests(0) % count})
        return joined.drop("group").rename({"bucket": "group"})

    def _digests(self, seed: int) -> Codes:
        return np.array([_digest(one, seed) for one in self.ids.tolist()], dtype=np.int64)


def find_groups(rows: LabeledTable) -> GroupIds:
    """Count the groups of a table, in one pass."""
    min_max = (nw.col("label").min().alias("min_label"), nw.col("label").max().alias("max_label"))
    by_group = rows.frame.group_by("group").agg(*min_max)
    is_mixed = (
        nw.when(nw.col("min_label") != nw.col("max_label")).then(nw.lit(1)).otherwise(nw.lit(0))
    )
    sums = by_group.with_columns(mixed=is_mixed, n_groups=nw.lit(1)).select(
        nw.col("n_groups").sum(), nw.col("mixed").sum()
    )
    found = rows.passes.collect(sums, "counting the groups")
    kind = with_joinable_ids(rows.frame).collect_schema()["group"]
    return GroupIds(rows, int(found["n_groups"][0]), int(found["mixed"][0]), kind.is_integer())


def codes_of(ids: NDArray[Any]) -> tuple[Codes, int]:
    """Return the codes of the groups in a result, and their number."""
    found, codes = np.unique(ids, return_inverse=True)
    return codes.astype(np.intp), len(found)


def with_joinable_ids(frame: Frame, name: str = "group") -> Frame:
    """Cast ids to Int64, Float64 or String, so that collected ids can be joined."""
    kind = frame.collect_schema()[name]
    if kind == nw.UInt64 or not (kind.is_integer() or kind.is_float()):
        return frame.with_columns(**{name: nw.col(name).cast(nw.String)})
    dtype = nw.Int64 if kind.is_integer() else nw.Float64
    return frame.with_columns(**{name: nw.col(name).cast(dtype)})


def modular_hash(ids: nw.Expr, count: int, seed: int) -> nw.Expr:
    """Hash integers to [0, count)."""
    shifted = (_residue(ids) + (7919 * seed) % PRIME) % PRIME
    return (shifted * MULTIPLIER) % PRIME % count


def _residue(ids: nw.Expr) -> nw.Expr:
    # Engines differ in the sign of the remainder of a negative number.
    return (ids.cast(nw.Int64) % PRIME + PRIME) % PRIME


def _digest(value: Any, seed: int) -> int:
    """Hash an id to 62 bits."""
    text = f"{seed}:{value!r}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest()) >> 2
