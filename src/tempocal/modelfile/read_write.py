"""Writing and reading a model file."""

import os
from collections.abc import Mapping
from typing import Any

from tempocal.errors import InputError, ModelFileError, NotAModelFileError
from tempocal.modelfile.atomic_write import replace_file
from tempocal.modelfile.bounded_read import read_bytes
from tempocal.modelfile.envelope import unwrap, wrap
from tempocal.modelfile.json_text import lay_out
from tempocal.modelfile.json_values import require_plain
from tempocal.modelfile.limits import MAX_BYTES
from tempocal.modelfile.parse import parse
from tempocal.modelfile.paths import path_name
from tempocal.modelfile.schema import upgraded


def write_document(
    path: str | os.PathLike[str],
    content: Mapping[str, Any],
    *,
    limit: int = MAX_BYTES,
    schema: int = 1,
) -> None:
    """Save `content` as a model file, all of it or nothing.

    Parameters
    ----------
    path : str or path-like
        Where to. A file that is there is replaced in one step and lends its permissions, not its
        owner, to the new one; through a symbolic link, what it points at is replaced. A new file
        gets the permissions that any new file of the user gets. The folder must exist.
    content : mapping of str
        Finite numbers, strings, bools, None, lists and dicts with string keys, within the limits
        of `tempocal.modelfile.limits`. It comes back equal and of the same types, floats to the
        last bit; dictionaries come back sorted by key.
    limit : int
        Most bytes that the file may have, as its reader will insist on.
    schema : int
        The lowest schema whose readers understand the content.

    Raises
    ------
    InputError
        If the content holds something else; the message says where. If `path` is no path.
    OSError
        If the file cannot be written; the model that was there before is still there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.json")
    ...     write_document(path, {"kind": "Scale", "slope": 0.1})
    ...     print(path.read_text(), end="")
    {
      "format": "tempocal-model",
      "schema": 1,
      "sha256": "d0d9...",
      "content": {
        "kind": "Scale",
        "slope": 0.1
      }
    }
    """
    name = path_name(path)
    if not isinstance(content, Mapping):
        raise InputError(f"content must be a mapping, not {type(content).__name__}")
    plain = dict(content)
    require_plain(plain)
    data = wrap("".join(lay_out(plain)).encode(), schema)
    if len(data) > limit:
        raise InputError(f"content takes {len(data)} bytes; the file may have {limit}")
    replace_file(name, data)


def read_document(
    path: str | os.PathLike[str], kind: str | None = None, *, limit: int = MAX_BYTES
) -> dict[str, Any]:
    """Return the content of a model file, or refuse the file.

    Parameters
    ----------
    path : str or path-like
        A file that `write_document` wrote, under this schema or an earlier one.
    kind : str, optional
        What it must hold: the content's entry "kind", or "model" for one without.
    limit : int
        Most bytes that the file may have. A file that was made to do harm may take some tens of
        times as much memory, so that it is larger only where files are one's own.

    Returns
    -------
    dict
        The content that was written.

    Raises
    ------
    NotAModelFileError
        If it is another kind of file, or no ordinary file.
    DamagedModelFileError
        If a single bit of it is not as it was written.
    NewerModelFileError
        If it was written by a later version of tempocal, under a schema this one does not know.
    InputError
        If `path` is no path.
    OSError
        If it cannot be opened: missing, a folder, not permitted.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "model.json")
    >>> write_document(path, {"slope": 0.1})
    >>> read_document(path)
    {'slope': 0.1}
    >>> _ = path.write_text(path.read_text().replace("0.1", "0.7"))
    >>> read_document(path)
    Traceback (most recent call last):
    ...
    tempocal.errors.DamagedModelFileError: ...model.json is damaged: incomplete, or altered
    since it was saved
    >>> folder.cleanup()
    """
    return read_with_schema(path, kind, limit=limit)[0]


def read_with_schema(
    path: str | os.PathLike[str], kind: str | None = None, *, limit: int = MAX_BYTES
) -> tuple[dict[str, Any], int]:
    """Return the content of a model file, and the schema that it says it was written under."""
    name = path_name(path)
    try:
        data, schema = unwrap(read_bytes(name, limit))
        content = upgraded(parse(data), schema)
    except ModelFileError as error:
        error.args = (f"{name} {error}",)
        raise
    found = content.get("kind", "model")
    if kind not in (None, found):
        raise NotAModelFileError(f"{name} holds a {found!s:.20}, not a {kind}")
    return content, schema
