"""Results as HTML in notebooks, and as data frames."""

from tempocal.notebook.frame import FrameLibrary, as_frame
from tempocal.notebook.html import Cell, HtmlTable, render

__all__ = ["Cell", "FrameLibrary", "HtmlTable", "as_frame", "render"]
