"""A real redis-server for tests, filled as a switch fills its own."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lossless.formats.sonic.state.databases import NUMBERS, dumps_of
from lossless.formats.sonic.state.rows import BY_FIELD
from lossless.formats.telemetry.metrics import WINDOWS
from tests.real_tools import program

NUMBER_OF = {name: int(number) for number, name in NUMBERS.items()}
Rows = Mapping[str, Mapping[str, str]]
"""The rows of a database by their keys."""


class Redis:
    """A running server; ``ask`` is redis-cli at one of its databases."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.socket = str(folder / "redis.sock")
        self._cli = program("redis-cli")
        options = ("--port", str(port), "--unixsocket", self.socket, "--save", "", "--dir", str(folder))
        self._process = subprocess.Popen(
            [program("redis-server"), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait()

    def _wait(self) -> None:
        for _ in range(500):
            if Path(self.socket).exists() and self.ask("PING").strip() == "PONG":
                return
            time.sleep(0.02)
        raise AssertionError("redis-server does not start")

    def ask(self, *command: str, number: int = 0, user: str = "default") -> str:
        """Return what the server answers to a command."""
        return self._run(["--user", user, "--pass", "", "--no-auth-warning", "-n", str(number), *command])

    def fill(self, databases: Mapping[str, Rows], numbers: Mapping[str, int] = NUMBER_OF) -> None:
        """Add rows to databases."""
        for name, rows in databases.items():
            commands = (
                _packed("HSET", key, *(word for pair in fields.items() for word in pair))
                for key, fields in rows.items()
                if fields
            )
            self._run(["-n", str(numbers[name]), "--pipe"], b"".join(commands))

    def _run(self, arguments: Sequence[str], said: bytes = b"") -> str:
        command = [self._cli, "-s", self.socket, *arguments]
        done = subprocess.run(command, input=said, capture_output=True, check=False, timeout=30)
        return done.stdout.decode(errors="replace")

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()


def _packed(*words: str) -> bytes:
    """Return a command in the protocol of redis."""
    raw = [word.encode(errors="surrogateescape") for word in words]
    return b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in raw)


@contextmanager
def running(folder: Path) -> Iterator[Redis]:
    """Yield a server that lives in a folder."""
    server = Redis(folder)
    try:
        yield server
    finally:
        server.stop()


def databases_in(folder: Path) -> dict[str, Rows]:
    """Return the databases that the dumps in a folder hold."""
    databases: dict[str, dict[str, Mapping[str, str]]] = {}
    for path in sorted(folder.glob("*_db.json")):
        data: Any = json.loads(path.read_text())
        # The databases of a gearbox have the names of the switch's own in them.
        if path.name.startswith("gb_"):
            continue
        for dump in dumps_of(data):
            rows = databases.setdefault(dump.database, {})
            rows |= {
                row.key: {str(field): str(value) for field, value in row.fields.items()}
                for row in dump.rows
                if isinstance(row.fields, dict)
            }
    return dict(databases)


def busy_switch(ports: int, queues: int = 8) -> dict[str, Rows]:
    """Return the databases of a switch that counts everything of each object; priority 3 has PFC on each port."""
    names = [f"Ethernet{8 * port}" for port in range(ports)]
    counters: dict[str, dict[str, str]] = {f"COUNTERS_{kind}_NAME_MAP": {} for kind in _OBJECTS}
    for kind, (begins, fields) in _OBJECTS.items():
        objects = names if kind != "BUFFER_POOL" else ["lossless"]
        if kind in ("QUEUE", "PG"):
            objects = [f"{name}:{number}" for name in names for number in range(queues)]
        for at, name in enumerate(objects):
            oid = f"oid:0x{begins}{at:012x}"
            counters[f"COUNTERS_{kind}_NAME_MAP"][name] = oid
            counters[f"COUNTERS:{oid}"] = {field: str(at * 1000 + n) for n, field in enumerate(fields)}
            counters[f"COUNTERS:{oid}"] |= {"PFC_WD_STATUS": "operational"} if kind == "QUEUE" else {}
            marks = {field: str(at * 1000 + n) for n, field in enumerate(fields) if "WATERMARK" in field}
            if marks:
                counters |= {f"{table}:{oid}": marks for table in WINDOWS.values()}
    ports_up = {"oper_status": "up", "flap_count": "3", "speed": "400000"}
    return {
        "CONFIG_DB": {
            "DEVICE_METADATA|localhost": {"hostname": "leaf1", "hwsku": "H", "platform": "p"},
            **{f"PORT_QOS_MAP|{name}": {"pfc_enable": "3"} for name in names},
        },
        "COUNTERS_DB": counters,
        "APPL_DB": {f"PORT_TABLE:{name}": ports_up for name in names},
        "STATE_DB": {f"PORT_TABLE|{name}": {"speed": "400000"} for name in names},
    }


_BEGINNINGS = {
    "PORT": ("1", ("SAI_PORT_STAT_", "EST_PORT_STAT_")),
    "QUEUE": ("15", ("SAI_QUEUE_STAT_", "PFC_WD_")),
    "PG": ("1a", ("SAI_INGRESS_PRIORITY_GROUP_STAT_",)),
    "BUFFER_POOL": ("18", ("SAI_BUFFER_POOL_STAT_",)),
}
_OBJECTS = {
    kind: (
        begins,
        [
            name.replace("_N_", f"_{priority}_")
            for name in BY_FIELD
            if name.startswith(beginnings)
            for priority in (range(8) if "_N_" in name else "0")
        ],
    )
    for kind, (begins, beginnings) in _BEGINNINGS.items()
}
"""What the oids of a kind of object begin with, and all fields that one may have."""


Answers = Callable[[list[bytes]], Iterator[bytes]]
"""The bytes that are sent as the answer to the words of a command; they end with the connection."""


@contextmanager
def answering(folder: Path, answers: Answers) -> Iterator[str]:
    """Yield the socket of a server that is no redis: it answers each command by what it is given."""
    path = str(folder / "fake.sock")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(100)
        threading.Thread(target=_accept, args=(listening, answers), daemon=True).start()
        yield path
        listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, answers: Answers) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=_answer, args=(connection, answers), daemon=True).start()


def _answer(connection: socket.socket, answers: Answers) -> None:
    with suppress(OSError), connection, connection.makefile("rb") as stream:
        while head := stream.readline():
            words = []
            for _ in range(int(head[1:])):
                size = int(stream.readline()[1:])
                words.append(stream.read(size + 2)[:-2])
            for part in answers(words):
                connection.sendall(part)
