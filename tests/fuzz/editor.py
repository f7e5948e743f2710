"""A client of the language server that opens a text, and asks everything about it that an editor asks."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lossless.api import Options
from lossless.interfaces.lsp.protocol import read_message
from lossless.interfaces.lsp.server import server

INTERNAL_ERROR = -32603
MISTAKE = "by a mistake in lossless"
LONGEST_S = 120.0
"""How long answers are waited for: a machine may be busy, and a check of a text is not ended."""

Message = dict[str, Any]


class Editor:
    """Both streams of a client: it leaves once all its questions are answered."""

    def __init__(self, messages: list[Any]) -> None:
        self._first = io.BytesIO(b"".join(map(_framed, messages)))
        self._last = io.BytesIO(b"".join(map(_framed, _leaving())))
        self._open = {_id_of(message) for message in messages} - {None}
        self._answered = threading.Event()
        self.heard: list[Message] = []
        self.waits_in_vain = False

    def readline(self, size: int = -1) -> bytes:
        """Return the next line of what the client says."""
        return self._first.readline(size) or self._rest().readline(size)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of what the client says."""
        return self._first.read(size) or self._rest().read(size)

    def _rest(self) -> io.BytesIO:
        self.waits_in_vain = not self._answered.wait(LONGEST_S)
        return self._last

    def write(self, data: bytes) -> None:
        """Take in messages of the server."""
        stream = io.BytesIO(data)
        while isinstance(body := read_message(stream), bytes):
            self.heard.append(json.loads(body))
            self._open.discard(self.heard[-1].get("id"))
            if not self._open:
                self._answered.set()

    def close(self) -> None:
        """Do nothing: what was heard is kept."""


def conversation(file: Path, text: str) -> list[Message]:
    """Return what an editor says about a text: it opens it, and asks at its beginning, in its midst and at its end."""
    uri = file.as_uri()
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
    lines = text.split("\n")
    asked, again = (
        [
            _question(f"{when}-{number}", method, {"textDocument": {"uri": uri}, **extra})
            for number, (method, extra) in enumerate(_questions(lines))
        ]
        for when in ("opened", "changed")
    )
    opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}
    changed = {
        "jsonrpc": "2.0",
        "method": "textDocument/didChange",
        "params": {
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"text": "\n".join(lines[: len(lines) // 2])}],
        },
    }
    return [*greeting(file.parent), opened, *asked, changed, *again]


def greeting(folder: Path) -> list[Message]:
    """Return how a client begins."""
    parameters: dict[str, Any] = {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}
    return [
        _question("hello", "initialize", parameters),
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
    ]


def mistakes(messages: list[Any]) -> str | None:
    """Have a client say all this; return what the server calls a mistake of its own, or that it fell silent."""
    client = Editor([*messages, _question("last", "textDocument/hover", _nowhere())])
    server(Options).serve(client, client)  # type: ignore[arg-type]
    for message in client.heard:
        if message.get("error", {}).get("code") == INTERNAL_ERROR or MISTAKE in json.dumps(message):
            return json.dumps(message)
    return f"a question without an answer in {LONGEST_S:g} s" if client.waits_in_vain else None


def _questions(lines: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    end = {"line": len(lines), "character": 0}
    whole = {"start": {"line": 0, "character": 0}, "end": end}
    yield "textDocument/codeAction", {"range": whole, "context": {"diagnostics": []}}
    yield (
        "textDocument/codeAction",
        {"range": whole, "context": {"diagnostics": [], "only": ["source.fixAll"]}},
    )
    for line in {0, len(lines) // 2, max(len(lines) - 2, 0)}:
        for character in (0, len(lines[line]) // 2, len(lines[line])):
            position = {"position": {"line": line, "character": character}}
            yield "textDocument/hover", position
            yield "textDocument/completion", position


def _nowhere() -> dict[str, Any]:
    return {"textDocument": {"uri": "untitled:nowhere"}, "position": {"line": 0, "character": 0}}


def _leaving() -> list[Message]:
    return [_question("bye", "shutdown", None), {"jsonrpc": "2.0", "method": "exit"}]


def _question(number: int | str, method: str, params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _id_of(message: Any) -> int | str | None:
    """Return the id of a request that is to be answered."""
    number = (
        message.get("id") if isinstance(message, dict) and isinstance(message.get("method"), str) else None
    )
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def _framed(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
