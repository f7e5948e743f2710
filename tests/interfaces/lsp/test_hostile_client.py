"""A client that sends anything at all: every request is answered, and the server is there for the next one."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from lsprotocol import types

from lossless.ground.basics.limits import EDITOR_HEADER_BYTES, EDITOR_MESSAGE_BYTES, EDITOR_TEXT_CHARACTERS
from tests.interfaces.cli.inputs import INTENT
from tests.interfaces.lsp.client import LONGEST_S, PROGRAM

pytestmark = pytest.mark.tools("hostile")

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, TOO_EARLY = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32002,
)
Message = dict[str, Any]


class Raw:
    """A client that writes bytes and reads messages."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], pid: int) -> None:
        self.pid = pid
        self._stdin = stdin
        self._asked = 0
        self._messages: Queue[Message] = Queue()
        self.heard: list[Message] = []
        Thread(target=_read, args=(stdout, self._messages), daemon=True).start()

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._stdin.write(data)
        self._stdin.flush()

    def send(self, message: Any) -> None:
        """Write a message of any form."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> Message:
        """Send a request and return its answer."""
        self._asked += 1
        number = f"ours-{self._asked}"
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.answer(number)

    def answer(self, number: Any) -> Message:
        """Return the answer to a request, waiting for it; all else that is said is kept."""
        return self.until(lambda message: message.get("id", "none") == number and "method" not in message)

    def until(self, wanted: Any) -> Message:
        """Return the first message that is wanted, waiting for it."""
        while True:
            message = self._next()
            if wanted(message):
                return message
            self.heard.append(message)

    def is_alive(self) -> bool:
        """Return whether a request is answered."""
        return bool(self.ask("no/such")["error"]["code"] == UNKNOWN_METHOD)

    def greet(self, *folders: Path) -> Message:
        """Initialize, with folders."""
        named = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        said = self.ask(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": named}
        )
        self.tell("initialized", {})
        return said

    def open(self, uri: Any, text: Any, language: Any = "yaml") -> None:
        """Open a text."""
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell(types.TEXT_DOCUMENT_DID_OPEN, {"textDocument": document})

    def change(self, uri: str, version: int, text: str) -> None:
        """Replace a text."""
        document = {"uri": uri, "version": version}
        self.tell(
            types.TEXT_DOCUMENT_DID_CHANGE, {"textDocument": document, "contentChanges": [{"text": text}]}
        )

    def join(self, *, added: Sequence[str] = (), removed: Sequence[str] = ()) -> None:
        """Add folders to the workspace, and remove others."""
        named = {
            "added": [{"uri": u, "name": "x"} for u in added],
            "removed": [{"uri": u, "name": "x"} for u in removed],
        }
        self.tell("workspace/didChangeWorkspaceFolders", {"event": named})

    def said_of(self, uri: str) -> list[Any]:
        """Return the next diagnostics of a text."""
        published = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
        message = self.until(lambda m: m.get("method") == published and m["params"]["uri"] == uri)
        return list(message["params"]["diagnostics"])

    def _next(self) -> Message:
        try:
            message = self._messages.get(timeout=LONGEST_S)
        except Empty:
            pytest.fail(f"the server said nothing for {LONGEST_S} s")
        assert message, "the server has gone"
        return message


def _read(stdout: IO[bytes], messages: Queue[Message]) -> None:
    """Pass on what a server says; at its end, an empty message."""
    while True:
        length = 0
        while (line := stdout.readline()) not in (b"\r\n", b""):
            length = int(line.split()[1]) if line.startswith(b"Content-Length") else length
        body = stdout.read(length)
        messages.put(json.loads(body) if body else {})
        if not body:
            return


@contextmanager
def client(program: str = PROGRAM) -> Iterator[Raw]:
    """Start a server; at the end see that it leaves when told, without a traceback."""
    command = [sys.executable, "-c", program, "lsp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        raw = Raw(process.stdin, process.stdout, process.pid)
        try:
            yield raw
            raw.tell("exit", None)
            said = process.stderr.read()
        finally:
            process.kill()
    assert b"Traceback" not in said


@pytest.fixture(scope="module")
def greeted() -> Iterator[Raw]:
    """Return a client whose server was greeted."""
    with client() as raw:
        raw.greet()
        yield raw


BAD_FRAMES = [
    b"Content-Length: -5\r\n\r\n{}",
    b"Content-Length: 99999999999999999999999999\r\n\r\n",
    b"Content-Length: many\r\n\r\n",
    b"Content-Length: \r\n\r\n",
    b"Content-Length: 0\r\n\r\n",
    b"Content-Type: application/json\r\n\r\n",
    b"hello\r\n\r\n",
    b"x" * (3 * EDITOR_HEADER_BYTES) + b"\r\n\r\n",
    b"Content-Length: 3\r\n\r\n{}}",
    b"Content-Length: 1\r\n\r\n{}\r\n\r\n",
    b"Content-Length: 4\r\n\r\n\xff\xfe{}",
    b"Content-Length: 2\r\n\r\n\xc3\x28",
]


@pytest.mark.parametrize("frame", BAD_FRAMES, ids=lambda frame: str(frame[:40]))
def test_bytes_that_are_no_message_are_answered_and_the_next_message_is_found(
    frame: bytes, greeted: Raw
) -> None:
    greeted.write(frame)
    assert greeted.answer(None)["error"]["code"] == PARSE_ERROR
    assert greeted.is_alive()


@pytest.mark.parametrize(
    "message",
    [
        *(b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000, b"nul", b"1" * 10_000),
    ],
    ids=["open lists", "open objects", "deep lists", "no word", "a long number"],
)
def test_what_is_no_json_is_answered(message: bytes, greeted: Raw) -> None:
    greeted.send(message)
    assert greeted.answer(None)["error"]["code"] == PARSE_ERROR
    assert greeted.is_alive()


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ([], None),
        ("text", None),
        (None, None),
        (7, None),
        ({}, None),
        ({"jsonrpc": "1.0", "id": 5, "method": "shutdown"}, 5),
        ({"id": 5, "method": "shutdown"}, 5),
        ({"jsonrpc": "2.0"}, None),
        ({"jsonrpc": "2.0", "id": None, "method": "shutdown"}, None),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "shutdown"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "shutdown"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "shutdown"}, None),
        ({"jsonrpc": "2.0", "id": 6, "method": ["shutdown"]}, 6),
        ({"jsonrpc": "2.0", "id": 7, "method": None}, 7),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(message: Any, number: Any, greeted: Raw) -> None:
    greeted.send(message)
    assert greeted.answer(number)["error"]["code"] == INVALID_REQUEST
    assert greeted.is_alive()


def test_requests_have_their_turn() -> None:
    with client() as raw:
        assert raw.ask("textDocument/hover", {})["error"]["code"] == TOO_EARLY
        assert raw.ask("shutdown")["error"]["code"] == TOO_EARLY
        raw.open("file:///a.yaml", INTENT)
        assert "result" in raw.greet()
        assert raw.ask("initialize", {"capabilities": {}})["error"]["code"] == INVALID_REQUEST
        assert raw.is_alive()
        assert raw.ask("shutdown")["result"] is None
        assert raw.ask("shutdown")["error"]["code"] == INVALID_REQUEST
        assert raw.ask("no/such")["error"]["code"] == INVALID_REQUEST


def test_a_greeting_that_cannot_be_understood_is_refused_and_the_next_one_counts() -> None:
    with client() as raw:
        params: Any
        for params in (None, [], {}, {"capabilities": 7}, {"capabilities": {}, "rootUri": "file://["}):
            assert "error" in raw.ask("initialize", params)
        assert "result" in raw.greet()
        assert raw.is_alive()


def test_answers_and_cancellations_of_what_was_never_asked_are_left_alone(greeted: Raw) -> None:
    for number in (1, "a", -1, 10**30):
        greeted.tell("$/cancelRequest", {"id": number})
        greeted.send({"jsonrpc": "2.0", "id": number, "result": None})
        greeted.send({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "x"}})
        greeted.send({"jsonrpc": "2.0", "id": number, "error": 7})
    params: Any
    for params in (None, [], {}, {"id": {}}, {"id": None}):
        greeted.tell("$/cancelRequest", params)
    assert greeted.is_alive()


def test_two_requests_of_one_id_are_both_answered(greeted: Raw) -> None:
    for _ in range(2):
        greeted.send(
            {
                "jsonrpc": "2.0",
                "id": "twice",
                "method": "textDocument/hover",
                "params": hover("file:///q.yaml"),
            }
        )
    assert "result" in greeted.answer("twice")
    assert "result" in greeted.answer("twice")


def hover(uri: Any, line: Any = 0, character: Any = 0) -> Message:
    """Return the parameters of a hover."""
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


URIS = [
    "file:///x/%00.yaml",
    "file:///x/\0.yaml",
    "file:///x/%ff%fe.yaml",
    "file:///x/\ud800.yaml",
    "file://[.yaml",
    "file://host/share/a.yaml",
    "file:///" + "a" * 5000 + ".yaml",
    "file:///" + "a/" * 3000 + "b.yaml",
    "file:///../../etc/passwd.yaml",
    "file:///dev/stdin.yaml",
    "file:",
    "",
    "untitled:\x1b[2J",
    "http://[::1/a.yaml",
    "c:\\a.yaml",
]


@pytest.mark.parametrize("uri", URIS, ids=lambda uri: ascii(uri)[:30])
def test_no_uri_keeps_other_texts_from_being_checked(uri: str, greeted: Raw, tmp_path: Path) -> None:
    sound = (tmp_path / "fabric.yaml").as_uri()
    greeted.open(uri, INTENT)
    greeted.join(added=[uri])
    greeted.open(sound, INTENT.replace("lossless: v1", "lossless: v1\nnonsense: 1"))
    assert any("nonsense" in shown["message"] for shown in greeted.said_of(sound))
    for method in ("textDocument/hover", "textDocument/completion"):
        assert "id" in greeted.ask(method, hover(uri))
    greeted.join(removed=[uri])
    for opened in (uri, sound):
        greeted.tell(types.TEXT_DOCUMENT_DID_CLOSE, {"textDocument": {"uri": opened}})


def test_a_text_with_half_a_character_is_checked(greeted: Raw, tmp_path: Path) -> None:
    uri = (tmp_path / "fabric.yaml").as_uri()
    greeted.open(uri, f"{INTENT}\n# \ud800 and \udfff\n")
    assert isinstance(greeted.said_of(uri), list)


@pytest.mark.parametrize("method", ["textDocument/didOpen", "textDocument/didChange"])
def test_a_text_that_is_too_large_is_not_kept_and_its_file_says_so(method: str, tmp_path: Path) -> None:
    uri, large = (tmp_path / "large.json").as_uri(), "x" * (EDITOR_TEXT_CHARACTERS + 1)
    with client() as raw:
        raw.greet()
        raw.open(uri, "{}" if method.endswith("Change") else large, "json")
        if method.endswith("Change"):
            raw.said_of(uri)
            raw.change(uri, 2, large)
        (shown,) = raw.said_of(uri)
        assert shown["message"].startswith("8,388,609 characters: at most 8 Mi of one text")
        assert shown["range"]["start"] == {"line": 0, "character": 0}
        assert raw.is_alive()
        raw.change(uri, 3, "{}")
        assert raw.said_of(uri) == []


def test_a_message_that_is_too_large_is_answered_without_being_kept() -> None:
    with client() as raw:
        raw.greet()
        text = b"x" * (EDITOR_MESSAGE_BYTES + 1)
        raw.send(b'{"jsonrpc":"2.0","id":41,"method":"textDocument/hover","params":{"a":"%b"}}' % text)
        error = raw.answer(41)["error"]
        assert (error["code"], "at most 32 MiB are read" in error["message"]) == (INVALID_REQUEST, True)
        opening = b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a.json",'
        raw.send(opening + b'"languageId":"json","version":1,"text":"%b"}}}' % text)
        (shown,) = raw.said_of("file:///a.json")
        assert "too large a text" in shown["message"]
        raw.send(b'{"x":"%b"}' % text)
        assert raw.answer(None)["error"]["code"] == INVALID_REQUEST
        assert raw.is_alive()
        assert peak_mib(raw) < 400


def peak_mib(raw: Raw) -> int:
    """Return the most memory that the server has had at once."""
    status = Path(f"/proc/{raw.pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


HELD = """
import socket
from lossless.interfaces.lsp.workspace import WorkspaceFiles

check, left = WorkspaceFiles.lint, [{port}]

def held(files, texts):
    if left and any(file.endswith("large.json") for file in texts):
        with socket.create_connection(("127.0.0.1", left.pop())) as gate:
            gate.recv(1)
    return check(files, texts)

WorkspaceFiles.lint = held
"""
"""The first check of a large text announces itself, and begins when it is let go."""
LARGE = ",\n".join(f'"Ethernet{n}|3": {{"profile": "p{n}"}}' for n in range(2_000))


@contextmanager
def held_client() -> Iterator[tuple[Raw, socket.socket]]:
    """Start a server whose first check of ``large.json`` waits for its connection to be closed by the test."""
    with socket.create_server(("127.0.0.1", 0)) as gate:
        gate.settimeout(LONGEST_S)
        with client(HELD.format(port=gate.getsockname()[1]) + PROGRAM) as raw:
            raw.greet()
            yield raw, gate


def test_other_requests_are_answered_while_a_large_text_is_checked(tmp_path: Path) -> None:
    large, small = (tmp_path / "large.json").as_uri(), (tmp_path / "small.yaml").as_uri()
    with held_client() as (raw, gate):
        raw.open(small, INTENT)
        raw.said_of(small)
        raw.open(large, f'{{"BUFFER_PG": {{{LARGE}}}}}', "json")
        check, _ = gate.accept()
        with check:
            assert "result" in raw.ask("textDocument/completion", hover(small))
            assert "result" in raw.ask("textDocument/hover", hover(small))
            raw.open((tmp_path / "third.yaml").as_uri(), INTENT)
            assert raw.is_alive()
        assert isinstance(raw.said_of(large), list)


def test_what_was_found_in_an_older_text_is_not_shown(tmp_path: Path) -> None:
    uri = (tmp_path / "large.json").as_uri()
    with held_client() as (raw, gate):
        raw.open(uri, f'{{"BUFFER_PG": {{{LARGE}}}}}', "json")
        check, _ = gate.accept()
        with check:
            raw.change(uri, 2, "{")
            # Messages are taken in their order: when this one is answered, the server has the change.
            assert raw.is_alive()
        published = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
        said = raw.until(lambda message: message.get("method") == published)
        assert said["params"]["version"] == 2


METHODS = sorted(name for name in types.METHOD_TO_TYPES if name not in ("exit", "shutdown"))
LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    LEAVES | st.sampled_from(URIS),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "textDocument",
    "position",
    "range",
    "context",
    "uri",
    "text",
    "version",
    "languageId",
    "line",
    "character",
    "start",
    "end",
    "contentChanges",
    "event",
    "added",
    "removed",
    "changes",
    "token",
    "value",
    "only",
    "id",
]
NAMED = st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6)
PARAMS = (
    JSON | NAMED | st.dictionaries(st.sampled_from(["textDocument", "position", "range", "context"]), NAMED)
)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_with_an_id_is_answered(method: str, greeted: Raw) -> None:
    params: Any
    for params in (None, {}, {"id": 0}, {"value": "off"}, {"token": 1}):
        greeted.send({"jsonrpc": "2.0", "id": 0, "method": method, "params": params})
        answer = greeted.answer(0)
        assert ("error" in answer) != ("result" in answer)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from([*METHODS, "x/y", ""]), PARAMS, st.booleans()), min_size=1, max_size=6)
)
def test_every_request_is_answered_and_the_server_stays(
    greeted: Raw, messages: Sequence[tuple[str, Any, bool]]
) -> None:
    for number, (method, params, is_request) in enumerate(messages):
        if is_request:
            greeted.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            answer = greeted.answer(number)
            assert ("error" in answer) != ("result" in answer)
        else:
            greeted.tell(method, params)
    assert greeted.is_alive()


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), JSON) | JSON
)
def test_no_json_at_all_ends_it(greeted: Raw, message: Any) -> None:
    if isinstance(message, dict) and message.get("method") in ("exit", "shutdown"):
        return
    greeted.send(message)
    assert greeted.is_alive()


def test_a_full_standard_output_ends_it_with_a_line(tmp_path: Path) -> None:
    message = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    frame = b"Content-Length: %d\r\n\r\n%b" % (len(message), message)
    command = ["sh", "-c", 'exec "$@" >/dev/full', "sh", sys.executable, "-c", PROGRAM, "lsp"]
    done = subprocess.run(command, input=frame * 2, capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert re.fullmatch(rb"lossless: cannot write to standard output: [^\n]*\n", done.stderr)
