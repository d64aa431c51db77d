"""HTTP service of a model file: one process that answers, reloads and stops gracefully.

A request passes ``protocol -> middleware -> app -> body -> json_body -> answers``. A request that
is refused raises `RefusedError`, with the reason and the field. The model is a `tempocal.scorer`:
for one row it is a hundred times as fast as arrays, and for thousands of rows JSON dominates.
"""

from tempocal.serve.server import serve
from tempocal.serve.service_settings import Settings

__all__ = ["Settings", "serve"]
