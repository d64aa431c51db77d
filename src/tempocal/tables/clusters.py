"""Groups of rows in a table: how many there are, buckets of them, and folds.

There is no hash that all engines share. Whole numbers are spread by modular arithmetic; of other
ids the distinct ones are brought here, hashed, and joined with the rows again.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.solve import fold_codes
from tempocal.tables.labelled import Labelled
from tempocal.tables.open import Frame
from tempocal.tables.small import join

# A prime, and a number that spreads well: products stay below 2**63.
PRIME, SPREAD = 2_147_483_647, 1_327_217_885
# Ids that are brought here, at most, to be dealt as those of arrays are.
MOST_COLLECTED = 2**20


@dataclass(frozen=True)
class Clusters:
    """The groups of a table.

    Attributes
    ----------
    count : int
        Number of groups.
    mixed : int
        How many of them have rows with different labels.
    are_whole : bool
        Whether ids are whole numbers.
    """

    count: int
    mixed: int
    are_whole: bool


def count_clusters(labelled: Labelled) -> Clusters:
    """Go over the rows once, group by group."""
    frame = labelled.frame
    by_group = frame.group_by("group").agg(
        nw.col("label").min().alias("low"), nw.col("label").max().alias("high")
    )
    differ = nw.when(nw.col("low") != nw.col("high")).then(nw.lit(1)).otherwise(nw.lit(0))
    counted = by_group.with_columns(mixed=differ, one=nw.lit(1)).select(
        nw.col("one").sum(), nw.col("mixed").sum()
    )
    found = labelled.passes.collect(counted, "counting the groups")
    dtype = frame.collect_schema()["group"]
    return Clusters(int(found["one"][0]), int(found["mixed"][0]), dtype.is_integer())


def add_folds(labelled: Labelled, clusters: Clusters, count: int, seed: int) -> Frame:
    """Add the fold of each row as ``fold``, from its group alone.

    Up to about a million groups are dealt evenly, as they are with arrays.
    """
    if clusters.count > MOST_COLLECTED and clusters.are_whole:
        return labelled.frame.with_columns(fold=_spread(nw.col("group"), count, seed))
    ids = _collect_ids(labelled)
    dealt = (
        np.array([_hash(value, seed) % count for value in ids.tolist()])
        if clusters.count > MOST_COLLECTED
        else fold_codes(len(ids), None, count, seed)
    )
    return join(labelled.frame, {"group": ids, "fold": dealt.astype(np.int64)}, ["group"])


def add_buckets(frame: Frame, labelled: Labelled, clusters: Clusters, count: int) -> Frame:
    """Replace groups by one of ``count`` buckets."""
    if clusters.are_whole:
        return frame.with_columns(group=_spread(nw.col("group"), count, seed=0))
    ids = _collect_ids(labelled)
    buckets = np.array([_hash(value, seed=0) % count for value in ids.tolist()], dtype=np.int64)
    joined = join(frame, {"group": ids, "bucket": buckets}, ["group"])
    return joined.drop("group").rename({"bucket": "group"})


def codes_of(ids: NDArray[Any]) -> tuple[Codes, int]:
    """Codes of groups in a result, and how many there are."""
    found, codes = np.unique(ids, return_inverse=True)
    return codes.astype(np.intp), len(found)


def _collect_ids(labelled: Labelled) -> NDArray[Any]:
    """Bring the distinct ids here, in order."""
    ids = labelled.passes.collect(labelled.frame.select("group").unique(), "collecting the groups")
    try:
        return np.unique(ids["group"])
    except TypeError as error:
        raise InputError(f"groups mixes ids that cannot be ordered: {error}") from error


def _spread(ids: nw.Expr, count: int, seed: int) -> nw.Expr:
    """Spread whole numbers over ``count`` places."""
    # Of a negative number engines take the remainder to either side of zero.
    positive = (ids.cast(nw.Int64) % PRIME + PRIME) % PRIME
    shifted = (positive + (7919 * seed) % PRIME) % PRIME
    return (shifted * SPREAD) % PRIME % count


def _hash(value: Any, seed: int) -> int:
    return int.from_bytes(blake2b(f"{seed}:{value}".encode(), digest_size=8).digest())
