"""Which entries a part of a model document has."""

from collections.abc import Iterable, Mapping
from reprlib import repr as shown
from typing import Any

from tempocal.errors import DamagedModelFileError

# There only in files of calibrators that learn from parts.
LEARNED = "learned"


def require_keys(content: Any, keys: set[str], optional: Iterable[str] = ()) -> None:
    """Refuse a part of a document that has other entries than these."""
    if not isinstance(content, Mapping) or set(content) - {LEARNED, *optional} != keys:
        found = sorted(content) if isinstance(content, Mapping) else shown(content)
        raise DamagedModelFileError(f"the model needs {sorted(keys)}, but the file has {found}")
