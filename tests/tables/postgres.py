"""A PostgreSQL of our own, in a temporary folder, for as long as the tests run."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

USER = "nobody"  # PostgreSQL refuses to run as root


def programs() -> Path | None:
    """Return where initdb and pg_ctl are."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


@contextmanager
def server(bin_folder: Path) -> Iterator[str]:
    """Run a server that listens on a socket only; give the folder of the socket."""
    folder = tempfile.mkdtemp(prefix="tempocal-pg-", dir="/tmp")  # a socket's path must be short
    as_user = []
    if os.getuid() == 0:
        as_user = ["runuser", "-u", USER, "--"]
        shutil.chown(folder, USER)

    def run(program: str, *arguments: str) -> None:
        command: list[Any] = [*as_user, bin_folder / program, "-D", f"{folder}/data", *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)

    try:
        run("initdb", "--auth=trust", "--username=tempocal", "--no-sync", "--encoding=UTF8")
        options = f"-F -c listen_addresses='' -c unix_socket_directories={folder}"
        run("pg_ctl", "-w", "-t", "300", "-s", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield folder
        finally:
            run("pg_ctl", "-w", "-s", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
