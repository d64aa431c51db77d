"""Summary of a fit: row counts, losses, details, and their printed form."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from tempocal.notebook import FrameLibrary, HtmlTable, TextCell, as_frame, render

# A change of the mean NLL that counts as none.
UNCHANGED = 1e-6
# The detail that counts the batches of partial_fit.
BATCHES = "batches"
# The detail that is printed beside td_horizon: how many rows ahead that is.
HORIZON_IN_ROWS = "td_horizon_rows"
# Entries of a list that are printed at most.
MAX_SHOWN = 10


@dataclass(frozen=True)
class Summary:
    """Summary of a fit, on the rows it was fitted to.

    Attributes
    ----------
    calibrator : str
        Name of the calibrator.
    n_rows : int
        Number of rows.
    total_weight : float
        Sum of the weights; the number of rows if no weights were given.
    n_groups : int or None
        Number of groups; None if rows were taken as independent.
    effective_number : float or None
        Effective sample size: number of independent rows with the same information; None if it was
        not estimated.
    nll_before, nll_after : float
        Mean negative log likelihood before and after calibration.
    details : mapping
        Details of the method: strengths, passes, convergence.
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
        """Add a batch of rows, given their mean losses before and after calibration."""
        total = self.total_weight + weight
        share, effective = weight / total, self.effective_number
        return replace(
            self,
            n_rows=self.n_rows + n_rows,
            total_weight=total,
            n_groups=None if n_groups is None else (self.n_groups or 0) + n_groups,
            # Assumes the design effect of the first batch.
            effective_number=None if effective is None else effective / (1.0 - share),
            nll_before=(1.0 - share) * self.nll_before + share * losses[0],
            nll_after=(1.0 - share) * self.nll_after + share * losses[1],
            details={**details, BATCHES: self.details.get(BATCHES, 1) + 1},
        )

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return one row, details as further columns, as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            What makes it; by default the first of these that is installed.
        """
        return as_frame(self._columns(), library)

    def _columns(self) -> dict[str, list[Any]]:
        values = {name: value for name, value in vars(self).items() if name != "details"}
        details = {
            name: _format(value) if isinstance(value, list | tuple) else value
            for name, value in self.details.items()
        }
        return {name: [value] for name, value in {**values, **details}.items()}

    def _repr_html_(self) -> str:
        title, *lines = str(self).splitlines()
        pairs = [line.strip().partition(": ") for line in lines]
        rows = [(name, TextCell(value)) for name, sign, value in pairs if sign]
        notes = [name for name, sign, _ in pairs if not sign]
        return render(HtmlTable(title, ["detail", TextCell("value")], rows), *notes)

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
        lines += [f"  {line}" for line in _format_details(self.details)]
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


def _format_details(details: Mapping[str, Any]) -> list[str]:
    shown = {name: _format(value) for name, value in details.items() if name != HORIZON_IN_ROWS}
    if HORIZON_IN_ROWS in details:
        shown["td_horizon"] += f" of a sequence (about {details[HORIZON_IN_ROWS]:.2g} rows)"
    elif "td_horizon" in details:
        shown["td_horizon"] += " (outcomes only)"
    return [f"{name.replace('_', ' ')}: {shown[name]}" for name in sorted(shown)]


def _format(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        shown = [_format(part) for part in value[:MAX_SHOWN]]
        return "[" + ", ".join(shown + ["..."] * (len(value) > MAX_SHOWN)) + "]"
    return str(value)
