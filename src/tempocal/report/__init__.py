"""An assessment as a single, self-contained HTML page."""

from tempocal.report.write import report_html, write_report

__all__ = ["report_html", "write_report"]
