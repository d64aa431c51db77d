"""``tempocal serve``: calibrated probabilities over HTTP."""

from typing import Any

import click

from tempocal.cli.options import complete_files, require_finite, subcommand

_YEAR = 31_536_000  # seconds


@subcommand("tempocal serve demo-output/model.json --port 8000")
@click.argument("model", metavar="MODEL", shell_complete=complete_files)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Address to listen at. Default: 127.0.0.1, this machine alone.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    metavar="N",
    help="Port to listen at; 0 is any that is free. Default: 8000.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="File with the token that requests must send. Default: the variable TEMPOCAL_TOKEN, if it "
    "is set; otherwise no token is required.",
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=2**20,
    metavar="BYTES",
    help="Largest body of a request. Default: 1048576.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=1),
    default=10_000,
    metavar="N",
    help="Maximum number of rows of a request. Default: 10000.",
)
@click.option(
    "--max-concurrent",
    type=click.IntRange(min=1),
    default=64,
    metavar="N",
    help="Maximum number of requests scored at a time; four times as many may be received at a "
    "time. Default: 64.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, _YEAR, min_open=True),
    default=10.0,
    metavar="SECONDS",
    callback=require_finite,
    help="Time for receiving a request. Default: 10.",
)
@click.option(
    "--idle",
    type=click.IntRange(1, _YEAR),
    default=65,
    metavar="SECONDS",
    help="Time for which an idle connection is kept open. Default: 65.",
)
@click.option(
    "--grace",
    type=click.IntRange(0, _YEAR),
    default=10,
    metavar="SECONDS",
    help="Time to finish requests when stopping. Default: 10.",
)
@click.option(
    "--watch/--no-watch",
    default=True,
    help="Reload the model file when it changes, or only at SIGHUP. Default: --watch.",
)
def command(*, model: str, token_file: str | None, **options: Any) -> None:
    """Answer requests for calibrated probabilities over HTTP.

    POST /v1/score takes one row or many as JSON. The address is printed when the service listens,
    and it stops at SIGTERM or Ctrl-C, after answering the requests received so far. A new model
    file is loaded without interruption; while it is invalid, the old model stays in use.
    """
    from tempocal.cli.terminal import echo
    from tempocal.serve import Settings, serve
    from tempocal.serve.token import find_token

    settings = Settings(model, token=find_token(token_file), **options)

    def listening(address: str) -> None:
        if settings.token is None and not _is_loopback(settings.host):
            echo(
                f"Warning: anybody who reaches {settings.host} may ask, for there is no token: set "
                "one with --token-file or TEMPOCAL_TOKEN",
                err=True,
            )
        echo(f"Listening on {address}")

    _log_to_standard_error()
    serve(settings, listening)


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _log_to_standard_error() -> None:
    import logging
    from contextlib import suppress

    from tempocal.cli.terminal import echo

    class EchoHandler(logging.Handler):
        """Log to standard error, without control characters."""

        def emit(self, record: logging.LogRecord) -> None:
            with suppress(OSError):  # standard error is closed: the service continues
                echo(self.format(record), err=True)

    handler = EchoHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("tempocal.serve")
    log.handlers = [handler]
    log.setLevel(logging.INFO)
