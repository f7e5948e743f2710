"""A pretended switch that is collected and read: its databases, and the tools that read them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossless.formats.inputs.capture_forms import read_capture
from lossless.ground.basics.files import data_dir
from lossless.model.fabric.state import StateCapture
from tests.formats.sonic.state.fake_databases import HOST_PORT, NUMBERS, FakeServers, tool_script

if TYPE_CHECKING:
    from tests.formats.sonic.state.fake_databases import Trouble

COLLECTOR = Path(data_dir("templates"), "sonic/collect/lossless-collect-switch.sh")
DATABASES = tuple(NUMBERS)
Databases = dict[str, dict[str, Any]]
"""Rows by database and key."""


def dumps_in(folder: Path) -> Databases:
    """Return the databases that a folder of captures has as files, without what redis has no hash for."""
    databases: Databases = {}
    for name in DATABASES:
        file = folder / f"{name.lower()}.json"
        if file.exists():
            rows = json.loads(file.read_text())
            databases[name] = {
                key: _stored(row) for key, row in rows.items() if row and isinstance(row, dict)
            }
    return databases


def _stored(row: dict[str, Any]) -> dict[str, str]:
    """Return a row as redis has it: text alone."""
    return {field: ",".join(value) if isinstance(value, list) else str(value) for field, value in row.items()}


def layout(host: str, port: int) -> str:
    """Return a database_config.json as SONiC has it (sonic-buildimage dockers/docker-database @02d9068)."""
    instance = {"hostname": host, "port": port, "unix_socket_path": "/var/run/redis/redis.sock"}
    databases = {
        name: {"id": number, "separator": ":", "instance": "redis"} for name, number in NUMBERS.items()
    }
    return json.dumps({"INSTANCES": {"redis": instance}, "DATABASES": databases, "VERSION": "1.0"}, indent=4)


class FakeSwitch:
    """Databases of the host and of each ASIC, with tools that read them in place of a server."""

    def __init__(
        self, folder: Path, host: Databases, asics: tuple[Databases, ...] = (), tools: str = "redis-cli"
    ) -> None:
        self.folder = folder
        by_port = {HOST_PORT: host, **{HOST_PORT + 1 + number: rows for number, rows in enumerate(asics)}}
        data = {port: {NUMBERS[name]: rows for name, rows in own.items()} for port, own in by_port.items()}
        self._servers = FakeServers(folder / "servers", data)
        (folder / "bin").mkdir()
        for number, port in enumerate(by_port):
            run = folder / "run" / f"redis{number - 1 if number else ''}" / "sonic-db"
            run.mkdir(parents=True)
            (run / "database_config.json").write_text(layout("127.0.0.1", port))
        self.tool("hostname", "echo leaf1")
        for tool in tools.split():
            self.tool(tool, tool_script(self._servers.folder))

    def tool(self, name: str, body: str) -> None:
        """Put a tool before those of this machine."""
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def trouble(self, trouble: Trouble) -> None:
        """Say what goes wrong, by a pattern of ``PORT NUMBER COMMAND``."""
        self._servers.trouble = trouble

    def calls(self) -> list[str]:
        """Return what was asked: port, number of the database, command."""
        return self._servers.calls

    def collect(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the collector as ``ssh leaf1 sh -s < script`` does."""
        path = f"{self.folder / 'bin'}:/usr/bin:/bin"
        with self._servers.running():
            return collect(self.folder / "run", path, *arguments, **variables)

    def captures(self, **variables: str) -> tuple[StateCapture, ...]:
        """Return what the collector's snapshot says."""
        done = self.collect(**variables)
        assert done.returncode == 0, done.stderr
        return captures_of(done.stdout)


def collect(run: Path, path: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the collector on the databases whose layout is below a folder."""
    environment = {"PATH": path, "RUN_ROOT": str(run), **variables}
    with COLLECTOR.open() as script:
        return subprocess.run(
            ["/bin/sh", "-s", "--", *arguments],
            env=environment,
            stdin=script,
            capture_output=True,
            text=True,
            check=False,
        )


def captures_of(snapshot: str) -> tuple[StateCapture, ...]:
    """Return what a snapshot says."""
    captures = read_capture(snapshot, "leaf1.txt", ["SONiC"])
    assert captures is not None
    return captures
