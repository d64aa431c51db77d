"""The current model, and its replacement when the model file changes."""

import asyncio
import logging
import os
from contextlib import suppress

from tempocal.errors import ModelFileError
from tempocal.serve.metrics import Metrics
from tempocal.serve.served_model import ServedModel, read_served_model

POLL_SECONDS = 0.5
"""Seconds between two polls of the file."""

RETRY_POLLS = 60
"""Polls after which a file that differs at each of them, and is never valid, is reported as bad.

Also the polls after which a file is tried again that could not be read for another reason, such as
lack of memory.
"""

_log = logging.getLogger("tempocal.serve")


class ModelReloader:
    """Hold the current model until another valid one has been read.

    A request reads `model` once and uses it to its end, so that a reload does not affect it.

    Parameters
    ----------
    path : str
        The model file, which must be valid at the start.
    metrics : Metrics
        The counters of reloads.
    """

    def __init__(self, path: str, metrics: Metrics) -> None:
        self._path, self._metrics = path, metrics
        self._tried = self._file_version()  # the last version that was read, valid or not
        self._lock = asyncio.Lock()
        self.model = read_served_model(path)

    async def reload(self) -> None:
        """Load the file as it is now; keep the old model if it is invalid."""
        try:
            await self._reload()
        except Exception as error:
            self._failed(error)

    async def watch(self) -> None:
        """Poll the file, and load a new one as soon as it is valid.

        An invalid file may be half copied: it is bad only once it is the same at two polls. What
        fails for another reason is tried again after a while, but a changed file at once.
        """
        before, changes, pause = self._tried, 0, 0
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                now = self._file_version()
                before, changes = now, 0 if now == before else changes + 1
                pause = 0 if changes else max(0, pause - 1)
                if now != self._tried and not pause:
                    is_final = changes in (0, RETRY_POLLS)
                    await (self._reload() if is_final else self._reload_if_valid())
            except Exception as error:
                self._failed(error)
                pause = RETRY_POLLS

    async def _reload(self) -> None:
        async with self._lock:
            # The version before reading: what is written meanwhile counts as new.
            before, self._tried = self._tried, self._file_version()
            try:
                await self._load()
            except (OSError, ModelFileError) as error:
                self._failed(error)
            except BaseException:
                self._tried = before
                raise

    def _failed(self, error: Exception) -> None:
        self._metrics.reloads["failed"] += 1
        _log.error("%s; model %s stays in use", self._describe(error), self.model.id)

    def _describe(self, error: Exception) -> str:
        if isinstance(error, ModelFileError):
            return str(error)
        # Without the number and the quoted path of str(OSError).
        reason = error.strerror if isinstance(error, OSError) else None
        return f"{self._path}: {reason or type(error).__name__}"

    async def _reload_if_valid(self) -> None:
        async with self._lock:
            now = self._file_version()
            if now == self._tried:  # reloaded meanwhile, by a signal
                return
            with suppress(OSError, ModelFileError):
                await self._load()
                self._tried = now

    async def _load(self) -> None:
        model = await asyncio.to_thread(read_served_model, self._path)
        self._metrics.reloads["ok"] += 1
        _log.info(_change(self.model, model))
        self.model = model

    def _file_version(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _change(old: ServedModel, new: ServedModel) -> str:
    if new.id == old.id:
        return f"model {new.id} was read again: it is the same"
    change = f"model {new.id} ({new.scorer.name}) replaces {old.id}"
    if new.input_text() != old.input_text():
        return f"{change}; it takes {new.input_text()}, the one before took {old.input_text()}"
    if new.scorer.classes != old.scorer.classes:
        return f"{change}; its classes differ"
    return change
