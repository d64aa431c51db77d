"""What a fit did, in numbers and in words."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

# A change of the mean NLL that is as good as none.
UNCHANGED = 1e-6
# The detail that says in how many batches the rows came.
BATCHES = "batches"
# Entries of a list that are printed.
MOST_SHOWN = 10


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
    effective_number : float or None
        How many independent rows say as much; None where the fit did not ask.
    nll_before, nll_after : float
        Mean negative log likelihood of the logits as they came, and calibrated.
    details : mapping
        What the method itself reports: strengths, passes, convergence.
    """

    calibrator: str
    n_rows: int
    total_weight: float
    n_groups: int | None
    effective_number: float | None
    nll_before: float
    nll_after: float
    details: Mapping[str, Any]

    def add_batch(
        self,
        n_rows: int,
        weight: float,
        n_groups: int | None,
        *,
        losses: tuple[float, float],
        details: Mapping[str, Any],
    ) -> Self:
        """Add a batch of rows, of which the mean losses before and after calibration are known."""
        total = self.total_weight + weight
        share, effective = weight / total, self.effective_number
        return replace(
            self,
            n_rows=self.n_rows + n_rows,
            total_weight=total,
            n_groups=None if n_groups is None else (self.n_groups or 0) + n_groups,
            # Rows say as much as those of the first batch.
            effective_number=None if effective is None else effective / (1.0 - share),
            nll_before=(1.0 - share) * self.nll_before + share * losses[0],
            nll_after=(1.0 - share) * self.nll_after + share * losses[1],
            details={**details, BATCHES: self.details.get(BATCHES, 1) + 1},
        )

    def __str__(self) -> str:
        on = "on the same rows"
        if BATCHES in self.details:
            on = "on each batch before it was learned, but for the first"
        lines = [
            f"{self.calibrator} fitted to {self.n_rows} rows ({self._groups()})",
            f"  NLL before {self.nll_before:.6f}, after {self.nll_after:.6f} ({on})",
        ]
        if self.total_weight != self.n_rows:
            lines.append(f"  weight of all rows together: {self.total_weight:.6g}")
        lines += [
            f"  {name.replace('_', ' ')}: {_short(v)}" for name, v in sorted(self.details.items())
        ]
        if abs(self.nll_after - self.nll_before) < UNCHANGED:
            lines.append(
                "  the rows show nothing to correct: the predictions were left as they are"
            )
        elif self.nll_after > self.nll_before:
            lines.append("  worse than doing nothing on these rows")
        return "\n".join(lines)

    def _groups(self) -> str:
        if self.n_groups is None:
            return "taken as independent: no groups were given"
        groups = f"in {self.n_groups} group{'s' if self.n_groups != 1 else ''}"
        if self.effective_number is None:
            return groups
        return f"{groups}, worth {self.effective_number:.0f} independent rows"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        shown = [_short(part) for part in value[:MOST_SHOWN]]
        return "[" + ", ".join(shown + ["..."] * (len(value) > MOST_SHOWN)) + "]"
    return str(value)
