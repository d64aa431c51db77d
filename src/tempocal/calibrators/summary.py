"""What a fit did, in numbers and in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Summary:
    """Facts about a fit, on the rows it was fitted to.

    Attributes
    ----------
    calibrator : str
        Name of the calibrator.
    n_rows : int
        Number of rows.
    total_weight : float
        Their weight; the number of rows where no weights were given.
    n_groups : int or None
        Number of groups; None if rows were taken as independent.
    effective_number : float
        How many independent rows say as much, where the fit takes groups into account.
    nll_before, nll_after : float
        Mean negative log likelihood of the logits as they came, and calibrated.
    details : mapping
        What the method itself reports: strengths, passes, convergence.
    """

    calibrator: str
    n_rows: int
    total_weight: float
    n_groups: int | None
    effective_number: float
    nll_before: float
    nll_after: float
    details: Mapping[str, Any]

    def __str__(self) -> str:
        groups = (
            "rows taken as independent: no groups were given"
            if self.n_groups is None
            else f"{self.n_groups} groups, worth {self.effective_number:.0f} independent rows"
        )
        lines = [
            f"{self.calibrator} fitted to {self.n_rows} rows ({groups})",
            f"  NLL before {self.nll_before:.6f}, after {self.nll_after:.6f} (on the same rows)",
        ]
        lines += [
            f"  {name.replace('_', ' ')}: {_short(v)}" for name, v in sorted(self.details.items())
        ]
        if self.nll_after > self.nll_before:
            lines.append("  worse than doing nothing on these rows")
        return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_short(part) for part in value) + "]"
    return str(value)
