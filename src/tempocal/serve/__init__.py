"""A model file behind HTTP: one process that answers, reloads and stops without losing a request.

A request goes ``protocol -> guard -> app -> body -> reading -> scoring``. What is refused on the
way is a `RefusedError`, which says what was wrong and where. The model is a `tempocal.scorer`: for
one row it is a hundred times as fast as arrays, and for thousands JSON takes as long as either.
"""

from tempocal.serve.server import serve
from tempocal.serve.service_settings import Settings

__all__ = ["Settings", "serve"]
