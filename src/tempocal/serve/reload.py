"""The model that answers, and the next one from the same file."""

import asyncio
import logging
import os
from contextlib import suppress

from tempocal.errors import ModelFileError
from tempocal.serve.metrics import Metrics
from tempocal.serve.served_model import ServedModel, read_served

LOOKS = 0.5
"""Seconds between two looks at the file."""

UNSETTLED = 60
"""Looks after which a file that is another at each of them, and never whole, is said to be bad.

And after which a file is tried again that could not be read for another reason, as for want of
memory.
"""

_log = logging.getLogger("tempocal.serve")


class Keeper:
    """Holds one model, whole, until there is another that is whole.

    A request takes `model` once and keeps it to its end, so that a change in between is none to it.

    Parameters
    ----------
    path : str
        The model file, which must be good at the start.
    metrics : Metrics
        Where reloads are counted.
    """

    def __init__(self, path: str, metrics: Metrics) -> None:
        self._path, self._metrics = path, metrics
        self._seen = self._look()
        self._one_at_a_time = asyncio.Lock()
        self.model = read_served(path)

    async def reload(self) -> None:
        """Take up what the file has now; keep the old model where it is no good."""
        try:
            await self._reload()
        except Exception as error:
            self._failed(error)

    async def watch(self) -> None:
        """Take up another file as soon as it is whole.

        One that is not may be a copy half way: it is bad once it is the same at two looks. What
        fails for another reason is tried again after a while, and another file at once.
        """
        before, unsettled, pause = self._seen, 0, 0
        while True:
            await asyncio.sleep(LOOKS)
            try:
                now = self._look()
                before, unsettled = now, 0 if now == before else unsettled + 1
                pause = 0 if unsettled else max(0, pause - 1)
                if now != self._seen and not pause:
                    settled = unsettled in (0, UNSETTLED)
                    await (self._reload() if settled else self._reload_if_whole())
            except Exception as error:
                self._failed(error)
                pause = UNSETTLED

    async def _reload(self) -> None:
        async with self._one_at_a_time:
            # Looked at before it is read: what is written meanwhile is seen as new.
            before, self._seen = self._seen, self._look()
            try:
                await self._take_up()
            except (OSError, ModelFileError) as error:
                self._failed(error)
            except BaseException:
                self._seen = before
                raise

    def _failed(self, error: Exception) -> None:
        self._metrics.reloads["failed"] += 1
        _log.error("%s; model %s goes on answering", self._in_words(error), self.model.id)

    def _in_words(self, error: Exception) -> str:
        if isinstance(error, ModelFileError):
            return str(error)
        # An error of the system names its number and a path in quotes: its words do.
        words = error.strerror if isinstance(error, OSError) else None
        return f"{self._path}: {words or type(error).__name__}"

    async def _reload_if_whole(self) -> None:
        async with self._one_at_a_time:
            now = self._look()
            if now == self._seen:  # by a signal, meanwhile
                return
            with suppress(OSError, ModelFileError):
                await self._take_up()
                self._seen = now

    async def _take_up(self) -> None:
        model = await asyncio.to_thread(read_served, self._path)
        self._metrics.reloads["ok"] += 1
        _log.info(_change(self.model, model))
        self.model = model

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _change(old: ServedModel, new: ServedModel) -> str:
    if new.id == old.id:
        return f"model {new.id} was read again: it is the same"
    said = f"model {new.id} ({new.scorer.name}) answers in place of {old.id}"
    if new.takes() != old.takes():
        return f"{said}; it takes {new.takes()}, the one before took {old.takes()}"
    if new.scorer.classes != old.scorer.classes:
        return f"{said}; its classes are others than before"
    return said
