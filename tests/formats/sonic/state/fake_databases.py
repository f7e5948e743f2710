"""redis-cli and sonic-db-cli as far as the collector needs them, answered by one thread of the test for every call.

A tool is a script of a few lines: it puts its words and its standard input where the thread finds them, and prints what
the thread answers. So a call costs a shell and no interpreter. The forms of answers are those of redis-cli 7.0.15, and
of sonic-db-cli as its source has them (sonic-swss-common common/redisreply.cpp @02d61fb).
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TextIO

    Trouble = Mapping[str, Mapping[str, float]]

NUMBERS = {"APPL_DB": 0, "ASIC_DB": 1, "COUNTERS_DB": 2, "CONFIG_DB": 4, "STATE_DB": 6}
HOST_PORT = 6379
_WORD = re.compile(r"\"([^\"]*)\"|(\S+)")
_OPTIONS_WITH_VALUE = ("-h", "-p", "-n", "--pattern")
_DIVIDER = "\x1f"
_TOOL = """\
own={folder}/$$
[ "${{0##*/}}" = sonic-db-cli ] || cat >"$own.in"
mkfifo "$own.out"
printf '%s\\037' $$ "${{0##*/}}" "$@" '
' >{folder}/requests
cat "$own.out"
read -r status <"$own.status"
exit "$status"
"""


def tool_script(folder: Path) -> str:
    """Return what a tool runs whose calls are answered in a folder."""
    return _TOOL.format(folder=folder)


class FakeServers:
    """The servers of a switch: databases by port and number, what goes wrong with them, and what was asked."""

    def __init__(self, folder: Path, data: Mapping[int, Mapping[int, Mapping[str, Any]]]) -> None:
        folder.mkdir()
        os.mkfifo(folder / "requests")
        self.folder = folder
        self.data = data
        self.trouble: Trouble = {}
        self.calls: list[str] = []
        self._over = Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Answer calls until the end of the block; what still waits then gets no answer."""
        self._over.clear()
        # Opened for both, so that it has no end while no tool has it open.
        requests = os.fdopen(os.open(self.folder / "requests", os.O_RDWR), "r+b", buffering=0)
        thread = Thread(target=self._serve, args=(os.fdopen(os.dup(requests.fileno()), "rb"),))
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            requests.write(b"\n")
            thread.join()
            requests.close()

    def _serve(self, requests: Any) -> None:
        threads = []
        for line in requests:
            # What comes after the line break is the divider before the next call.
            own, *words = line.decode().lstrip(_DIVIDER).split(_DIVIDER)[:-1] or [""]
            if not own:
                break
            threads.append(Thread(target=self._answer, args=(self.folder / own, words)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        requests.close()

    def _answer(self, own: Path, words: list[str]) -> None:
        tool, *arguments = words
        # A tool that was ended does not read any more.
        with suppress(BrokenPipeError), own.with_suffix(".out").open("w") as out:
            call = _Call(self, out)
            if tool == "redis-cli":
                status = call.redis_cli(arguments, own.with_suffix(".in").read_text())
            else:
                status = call.sonic_db_cli(arguments)
            own.with_suffix(".status").write_text(f"{status}\n")

    def troubled(self, port: int, number: int, command: list[str], out: TextIO) -> int:
        """Keep a call, and do to it what is to go wrong: return a status, or be silent for some seconds."""
        call = f"{port} {number} {' '.join(command)}"
        self.calls.append(call)
        for where, what in self.trouble.items():
            if fnmatchcase(call, where):
                out.flush()
                self._over.wait(what.get("seconds", 0))
                return int(what.get("status", 0))
        return 0


class _Call:
    """One call of a tool, and where its answer goes."""

    def __init__(self, servers: FakeServers, out: TextIO) -> None:
        self._servers = servers
        self._out = out

    def redis_cli(self, arguments: list[str], given: str) -> int:
        """Answer redis-cli: one command, a scan, or the commands that it is given."""
        options, words = _options(arguments)
        port, number = int(options["-p"]), int(options["-n"])
        rows = self._servers.data[port].get(number, {})
        if words:
            return self._servers.troubled(port, number, words, self._out) or self._say("PONG")
        if "--scan" in options:
            pattern = options["--pattern"]
            refused = self._servers.troubled(port, number, ["SCAN", pattern], self._out)
            return refused or self._say(*_keys(rows, pattern))
        self._say("OK")
        for line in given.splitlines():
            command = [quoted or bare for quoted, bare in _WORD.findall(line)]
            if status := self._servers.troubled(port, number, command, self._out):
                return status
            self._say(*_printed(_answer(rows, command), raw="--no-raw" not in options))
        return 0

    def sonic_db_cli(self, arguments: list[str]) -> int:
        """Answer sonic-db-cli: one command to the database of that name."""
        port = HOST_PORT
        if arguments[0] == "-n":
            port = int(arguments[1].removeprefix("asic")) + HOST_PORT + 1
            arguments = arguments[2:]
        number, command = NUMBERS[arguments[0]], arguments[1:]
        answer = _answer(self._servers.data[port].get(number, {}), command)
        status = self._servers.troubled(port, number, command, self._out)
        return status or self._say(
            str(answer) if isinstance(answer, dict) else "\n".join(_printed(answer, raw=True))
        )

    def _say(self, *lines: str) -> int:
        self._out.writelines(f"{line}\n" for line in lines)
        return 0


def _options(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    options, words = {}, []
    rest = iter(arguments)
    for word in rest:
        if word in _OPTIONS_WITH_VALUE:
            options[word] = next(rest)
        elif word.startswith("-"):
            options[word] = ""
        else:
            words.append(word)
    return options, words


def _answer(rows: Mapping[str, Any], command: list[str]) -> Any:
    if command[0] == "ECHO":
        return command[1]
    if command[0] == "KEYS":
        return _keys(rows, command[1])
    row = rows.get(command[1], {})
    if isinstance(row, str):
        return ValueError("WRONGTYPE Operation against a key holding the wrong kind of value")
    return row.get(command[2]) if command[0] == "HGET" else row


def _keys(rows: Mapping[str, Any], pattern: str) -> list[str]:
    return [key for key in rows if fnmatchcase(key, pattern)]


def _printed(answer: Any, *, raw: bool) -> list[str]:
    if isinstance(answer, ValueError):
        return [str(answer) if raw else f"(error) {answer}"]
    if answer is None:
        return ["" if raw else "(nil)"]
    if isinstance(answer, str):
        return [answer if raw else _quoted(answer)]
    words = [word for pair in answer.items() for word in pair] if isinstance(answer, dict) else answer
    if raw:
        return list(words) or [""]
    width = len(str(len(words)))
    return [f"{at:{width}}) {_quoted(word)}" for at, word in enumerate(words, start=1)] or ["(empty array)"]


def _quoted(word: str) -> str:
    letters = {34: '\\"', 92: "\\\\", 10: "\\n", 13: "\\r", 9: "\\t"}
    return (
        '"'
        + "".join(letters.get(c) or (chr(c) if 32 <= c < 127 else f"\\x{c:02x}") for c in word.encode())
        + '"'
    )
