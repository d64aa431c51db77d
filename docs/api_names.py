"""Fill the API page with the public curves and calibrators: a new one is on it by itself."""

import re

from tempocal.registry import public_names

# Documented elsewhere on the page.
_ELSEWHERE = ("Summary", "Identity")


def with_names(page: str) -> str:
    """Replace ``%curves%`` by their names and ``%autoclass curves%`` by their documentation."""

    def fill(match: re.Match[str]) -> str:
        indent, directive, package = match.groups()
        names = public_names(package)
        if directive:
            names = [f".. autoclass:: {name}" for name in names if name not in _ELSEWHERE]
        return "\n".join(indent + name for name in names if name != "Summary")

    return re.sub(r"^( *)%(autoclass )?(curves|calibrators)%$", fill, page, flags=re.MULTILINE)
