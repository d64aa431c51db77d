"""Classes by the name that a model file gives them.

A class is registered where it is defined: curves, calibrators and parts of maps call `Registry.add`
from ``__init_subclass__``. One of tempocal's own goes by its name. One defined elsewhere goes by
``module:name``, so that a reader who lacks it can say what to import. A file never imports a module
by itself.
"""

import ast
from collections.abc import Iterator
from importlib import import_module
from pkgutil import get_data
from typing import Any

from tempocal.errors import MissingExtensionError

_PACKAGE = "tempocal."


def _public_modules() -> dict[str, str]:
    """Read the module of each public name from ``tempocal/__init__.pyi``, in a zip file too."""
    tree = ast.parse(get_data("tempocal", "__init__.pyi") or b"")
    return {
        alias.name: f"{node.module}.{alias.name}" if node.module == "tempocal" else str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


# The one list of public names: each with the module that defines it, or its own if it is a module.
PUBLIC_MODULES = _public_modules()


def public_names(package: str) -> list[str]:
    """Public names that are defined in a package, without importing it.

    Examples
    --------
    >>> public_names("curves")[:2]
    ['Constant', 'ExponentialDecay']
    """
    prefix = f"{_PACKAGE}{package}."
    return [name for name, module in PUBLIC_MODULES.items() if module.startswith(prefix)]


def kind_of(cls: type) -> str:
    """Return the name of a class in model files."""
    if cls.__module__.startswith(_PACKAGE):
        return cls.__name__
    return f"{cls.__module__}:{cls.__qualname__}"


class Registry:
    """The subclasses of one base by their kind.

    Parameters
    ----------
    what : str
        What they are, in the words of an error.
    package : str or None
        Where tempocal's own are defined, if they may not be imported yet.
    """

    def __init__(self, what: str, package: str | None = None) -> None:
        self._what = what
        self._own = () if package is None else public_names(package)
        self._classes: dict[str, type] = {}

    def add(self, cls: type) -> None:
        """Register a class; defining it again, as in a notebook, replaces it."""
        self._classes[kind_of(cls)] = cls

    def __iter__(self) -> Iterator[type]:
        """All registered classes that are not abstract, by kind."""
        for _, cls in sorted(self._classes.items()):
            if not getattr(cls, "__abstractmethods__", None):
                yield cls

    def find(self, kind: Any) -> type | None:
        """Return the class of a kind; None if there is none.

        Raises
        ------
        MissingExtensionError
            If it is defined outside the package, in a module that has not been imported.
        """
        if not isinstance(kind, str):
            return None
        if kind not in self._classes and kind in self._own:
            import_module(PUBLIC_MODULES[kind])
        module, _, name = kind.rpartition(":")
        if module and kind not in self._classes:
            how = "import that module first (and install it, if need be)"
            if module == "__main__":
                how = "it was defined in a script or a notebook: define it again first"
            raise MissingExtensionError(
                f"the model has a {self._what} that is not part of tempocal, {name!r:.80} of the "
                f"module {module!r:.80}: {how}"
            )
        return self._classes.get(kind)
