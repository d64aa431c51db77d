"""Running the service: listening, signals, graceful shutdown."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import uvicorn

from tempocal.errors import InputError
from tempocal.serve.app import Service
from tempocal.serve.protocol import protocol_of
from tempocal.serve.service_settings import Settings

LINGER = 1.0
"""Seconds for which open connections may send one more request when the service stops."""

BACKLOG = 2048
_log = logging.getLogger("tempocal.serve")


def serve(settings: Settings, listening: Callable[[str], None]) -> None:
    """Answer requests until SIGTERM or SIGINT comes; reload the model at SIGHUP.

    Parameters
    ----------
    settings : Settings
        Address, limits and model file.
    listening : callable
        Called with the address once connections are accepted.

    Raises
    ------
    ModelFileError, OSError
        If the model file cannot be loaded at the start.
    InputError
        If the address cannot be listened at.
    """
    service = Service(settings)
    listener = _listen(settings.host, settings.port)
    host, port = listener.getsockname()[:2]
    model = service.reloader.model
    _log.info("model %s (%s) takes %s", model.id, model.scorer.name, model.input_text())
    listening(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    Server(service).run(sockets=[listener])
    count = service.metrics.requests.total()
    _log.info("stopped: %d requests on %d connections", count, service.metrics.connections)


class Server(uvicorn.Server):
    """Uvicorn's server, with a shutdown that loses no request.

    Parameters
    ----------
    service : Service
        The application and its settings.
    """

    def __init__(self, service: Service) -> None:
        settings = service.settings
        super().__init__(
            uvicorn.Config(
                service.asgi,
                http=protocol_of(service.metrics, settings.timeout),
                loop="asyncio",
                ws="none",
                lifespan="off",
                # Requests are not logged; `RequestMiddleware` logs unexpected errors.
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                backlog=BACKLOG,
                timeout_keep_alive=settings.idle,
                timeout_graceful_shutdown=settings.grace,
            )
        )
        self._service = service

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT, the second time at once; reload at SIGHUP; watch the file."""
        loop, reloader = asyncio.get_running_loop(), self._service.reloader
        tasks = {loop.create_task(reloader.watch())} if self._service.settings.watch else set()

        def stop() -> None:
            self.force_exit, self.should_exit = self.should_exit, True

        def reload() -> None:
            task = loop.create_task(reloader.reload())
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        wanted = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: reload}
        before = {number: signal.signal(number, _calling(loop, f)) for number, f in wanted.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            for task in list(tasks):
                task.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept waiting connections, let open ones send what is on its way, and answer all.

        From here on responses close the connection, so that clients send no further requests.
        """
        self._service.asgi.stopping = True
        waiting = [one for listener in sockets or [] for one in _accept_waiting(listener)]
        for server in self.servers:
            server.close()
        loop = asyncio.get_running_loop()
        for connection in waiting:
            with suppress(OSError):  # it is gone already
                await loop.connect_accepted_socket(self._protocol, connection)
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                while self.server_state.connections and not self.force_exit:
                    await asyncio.sleep(0.02)
        await super().shutdown(sockets)

    def _protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = make(
            config=self.config, server_state=self.server_state, app_state={}
        )
        return protocol


def _calling(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> Any:
    return lambda *_: loop.call_soon_threadsafe(function)


def _listen(host: str, port: int) -> socket.socket:
    with ExitStack() as undo:
        try:
            # With the number of TCP, for asyncio to set TCP_NODELAY.
            family, kind, proto, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
            )[0]
            listener = undo.enter_context(socket.socket(family, kind, proto))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except (OSError, ValueError) as error:
            # ValueError: not a host name at all, with a NUL or a label that is too long.
            why = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"cannot listen at {host}, port {port}: {why}") from error
        listener.listen(BACKLOG)
        listener.setblocking(False)
        undo.pop_all()
    return listener


def _accept_waiting(listener: socket.socket) -> Iterator[socket.socket]:
    """Yield the connections that wait to be accepted: closing the listener would reset them."""
    with suppress(OSError):  # most likely that there are no more
        while True:
            connection, _ = listener.accept()
            connection.setblocking(False)
            yield connection
