"""The softmax of rows laid out for sums over them.

The loss of a row with label y is ``logsumexp(eta) - eta[y]``. The two are subtracted row by row,
since each can be huge where a logit masks a class.

Arrays are laid out (classes, rows) and (features, rows), so that every sum over the few classes
runs along whole rows of memory.
"""

import numpy as np

from tempocal.links import Array
from tempocal.rows.sums import LOG2_E

# Numbers in the largest temporary array of a block: it stays in the second-level cache.
BLOCK_NUMBERS = 2**18


def softmax(eta: Array) -> tuple[Array, Array]:
    """Log of the normalizer (rows,) and probabilities (classes, rows)."""
    top = eta.max(axis=0)
    p = np.exp2((eta - top) * LOG2_E)
    total = p.sum(axis=0)
    p /= total
    return top + np.log(total), p
