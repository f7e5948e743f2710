"""redis-cli and sonic-db-cli as far as the collector needs them, on databases that are kept in one file.

Usage: ``python fake_databases.py FOLDER TOOL ARGUMENT...``. The forms of answers are those of redis-cli 7.0.15, and of
sonic-db-cli as its source has them (sonic-swss-common common/redisreply.cpp @02d61fb). ``FOLDER/databases.json`` has
``{port: {number: {key: fields}}}``, ``FOLDER/trouble.json`` what does not work, and ``FOLDER/calls`` is written.
"""

from __future__ import annotations

import json
import re
import sys
import time
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

NUMBERS = {"APPL_DB": 0, "ASIC_DB": 1, "COUNTERS_DB": 2, "CONFIG_DB": 4, "STATE_DB": 6}
_WORD = re.compile(r"\"([^\"]*)\"|(\S+)")
_OPTIONS_WITH_VALUE = ("-h", "-p", "-n", "--pattern")


def main(folder: str, tool: str, arguments: list[str]) -> int:
    """Answer one call."""
    data = json.loads(Path(folder, "databases.json").read_text())
    return _redis_cli(folder, data, arguments) if tool == "redis-cli" else _sonic(folder, data, arguments)


def _redis_cli(folder: str, data: dict[str, Any], arguments: list[str]) -> int:
    options, words = {}, []
    rest = iter(arguments)
    for word in rest:
        if word in _OPTIONS_WITH_VALUE:
            options[word] = next(rest)
        elif word.startswith("-"):
            options[word] = ""
        else:
            words.append(word)
    number = int(options["-n"])
    rows = data[options["-p"]].get(str(number), {})
    if words:
        return _trouble(folder, options["-p"], number, words) or _say("PONG")
    if "--scan" in options:
        refused = _trouble(folder, options["-p"], number, ["SCAN", options["--pattern"]])
        return refused or _say(*_keys(rows, options["--pattern"]))
    _say("OK")
    for line in sys.stdin:
        command = [quoted or bare for quoted, bare in _WORD.findall(line)]
        if status := _trouble(folder, options["-p"], number, command):
            return status
        _say(*_printed(_answer(rows, command), raw="--no-raw" not in options))
    return 0


def _sonic(folder: str, data: dict[str, Any], arguments: list[str]) -> int:
    port = "6379"
    if arguments[0] == "-n":
        port = str(int(arguments[1].removeprefix("asic")) + 6380)
        arguments = arguments[2:]
    number, command = NUMBERS[arguments[0]], arguments[1:]
    answer = _answer(data[port].get(str(number), {}), command)
    status = _trouble(folder, port, number, command)
    return status or _say(str(answer) if isinstance(answer, dict) else "\n".join(_printed(answer, raw=True)))


def _answer(rows: dict[str, Any], command: list[str]) -> Any:
    if command[0] == "ECHO":
        return command[1]
    if command[0] == "KEYS":
        return _keys(rows, command[1])
    row = rows.get(command[1], {})
    if isinstance(row, str):
        return ValueError("WRONGTYPE Operation against a key holding the wrong kind of value")
    return row.get(command[2]) if command[0] == "HGET" else row


def _keys(rows: dict[str, Any], pattern: str) -> list[str]:
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


def _trouble(folder: str, port: str, number: int, command: list[str]) -> int:
    """Keep a call, and do to it what is to go wrong: a status, or seconds of silence."""
    call = f"{port} {number} {' '.join(command)}"
    calls, trouble = _files(folder)
    calls.write(f"{call}\n")
    for where, what in trouble.items():
        if fnmatchcase(call, where):
            calls.flush()
            sys.stdout.flush()
            time.sleep(what.get("seconds", 0))
            return int(what.get("status", 0))
    return 0


@cache
def _files(folder: str) -> tuple[Any, dict[str, Any]]:
    return Path(folder, "calls").open("a"), json.loads(Path(folder, "trouble.json").read_text())


def _say(*lines: str) -> int:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
