"""Draw the pictures of docs/plots.md by running it: ``python docs/pictures/displays.py``.

A picture is the figure of the last ``display`` before the line that shows it.
"""

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

DOCS = Path(__file__).parent.parent
BLOCK_OR_PICTURE = re.compile(r"```python\n(.*?)```|^!\[.*?\]\((.*?)\)", re.DOTALL | re.MULTILINE)


def main() -> None:
    """Run each block, and save what each picture shows."""
    names: dict[str, Any] = {}
    page = (DOCS / "plots.md").read_text(encoding="utf-8")
    for block, picture in BLOCK_OR_PICTURE.findall(page):
        if block:
            exec(block, names)
        else:
            names["display"].figure_.savefig(DOCS / picture, metadata={"Date": None})
            plt.close("all")
            print(DOCS / picture)


if __name__ == "__main__":
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tempocal"
    main()
