"""Every public curve: what lists of curves to be tested are completed with."""

from typing import Any

import tempocal as tc
from tempocal.registry import public_names


def with_every_curve(curves: list[Any]) -> list[Any]:
    """Return some curves, and with its defaults each public one that is not of their kinds."""
    kinds = {type(curve) for curve in curves} | {tc.Surface}
    public = [getattr(tc, name) for name in public_names("curves")]
    return [*curves, *(kind() for kind in public if kind not in kinds)]
