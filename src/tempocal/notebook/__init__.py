"""Results as HTML in notebooks, and as data frames."""

from tempocal.notebook.frame import FrameLibrary, as_frame
from tempocal.notebook.html import Cell, Table, render

__all__ = ["Cell", "FrameLibrary", "Table", "as_frame", "render"]
