"""Sphinx settings: MyST pages and the docstrings, built without the network."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import tempocal

sys.path.insert(0, str(Path(__file__).parent))
from api_names import with_names


def _torch_names() -> ModuleType:
    """Return the names of torch that `tempocal.export.torch` takes when it is imported.

    Docstrings need no more of it than these, and torch is a gigabyte. autodoc's own mocks are no
    classes: they would lose signatures, and ``Tensor | None`` fails with them.
    """
    torch: Any = ModuleType("torch")
    torch.Tensor = type("Tensor", (), {})
    torch.nn = SimpleNamespace(Module=type("Module", (), {}))
    torch.jit = SimpleNamespace(export=lambda method: method)
    torch.export = SimpleNamespace(ExportedProgram=type("ExportedProgram", (), {}))
    torch.fx = SimpleNamespace(
        **{name: type(name, (), {}) for name in ("Graph", "GraphModule", "Node")}
    )
    return torch


sys.modules["torch"] = _torch_names()

project = "tempocal"
author = "The tempocal developers"
project_copyright = "The tempocal developers"
version = release = tempocal.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "pictures"]

smartquotes = False  # or --time would lose a dash

# Headings get GitHub's anchors, so that the links work there and here.
myst_heading_anchors = 3

# `name` in a docstring is a link where there is such a name, and code where not.
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# What scikit-learn adds to every estimator, in words that link to its own glossary.
autodoc_default_options = {
    "exclude-members": ", ".join(
        ["get_metadata_routing", "get_params", "set_params"]
        + [
            f"set_{method}_request"
            for method in (
                "decision_function",
                "fit",
                "partial_fit",
                "predict",
                "predict_log_proba",
                "predict_proba",
                "score",
            )
        ]
    )
}
autodoc_class_signature = "mixed"

html_theme = "furo"
html_title = "tempocal"
html_theme_options = {"light_css_variables": {"code-font-size": "76%"}}  # a hundred columns
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"


def setup(app: Any) -> None:
    """Fill in public names, and draw the dashes that napoleon leaves to smartquotes, now off."""
    app.connect("source-read", _fill_in_names)
    app.connect("autodoc-process-docstring", _draw_dashes, priority=900)


def _fill_in_names(_app: Any, _page: str, source: list[str]) -> None:
    source[0] = with_names(source[0])


def _draw_dashes(
    _app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    lines[:] = [line.replace(" -- ", " \N{EN DASH} ") for line in lines]
