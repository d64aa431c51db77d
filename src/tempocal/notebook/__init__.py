"""Results as HTML in notebooks, and as data frames."""

from tempocal.notebook.frame import FrameLibrary, as_frame
from tempocal.notebook.html import HtmlTable, TextCell, render

__all__ = ["FrameLibrary", "HtmlTable", "TextCell", "as_frame", "render"]
