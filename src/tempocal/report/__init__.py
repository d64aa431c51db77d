"""An assessment as one HTML page that needs nothing else."""

from tempocal.report.write import report_html, write_report

__all__ = ["report_html", "write_report"]
