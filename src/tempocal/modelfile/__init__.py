"""How a model is stored: one small JSON file that is either whole or refused.

A model file reads like this::

    {
      "format": "tempocal-model",
      "schema": 1,
      "sha256": "<of the bytes of the content below, from its first brace to its last>",
      "content": {
        ...
      }
    }

The same content gives the same bytes, always, and a file is read only if it has exactly the bytes
that its content would be written with: no flipped bit, cut or edit goes unnoticed. The checksum
guards against accidents; it is no signature, so it does not say who wrote the file.

A save replaces the whole file in one step, so that a reader, or the disk after a crash, holds
either the old model or the new one. What a model means is not known here.
"""

from tempocal.modelfile.read_write import read_document, read_with_schema, write_document

__all__ = ["read_document", "read_with_schema", "write_document"]
