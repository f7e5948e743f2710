"""Messages of an editor on a stream: each is read to its end, and a malformed or oversized one is refused.

After a malformed message the server continues with the next. The order of messages and the codes of errors are those
of the Language Server Protocol 3.17 (Base Protocol, Server lifecycle) and JSON-RPC 2.0, section 5.1.

On the stream a message is lines of a header with a length, then as many bytes (Language Server Protocol 3.17, Base
Protocol); it is read in bounded memory, so that the next message is found.
"""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

from lossless.ground.basics.limits import EDITOR_HEADER_BYTES, EDITOR_MESSAGE_BYTES, MIB
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from threading import Event


_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,15}|"[^"\\]{0,200}")')
_URI = re.compile(rb'"uri"\s*:\s*("[^"\\]{0,2000}")')
_TEXTS = (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE)
_NOTIFICATIONS = frozenset(
    method for method, (kind, *_) in types.METHOD_TO_TYPES.items() if kind in get_args(types.NOTIFICATIONS)
)


class Protocol(LanguageServerProtocol):
    """The protocol of pygls behind a filter: only well-formed messages pass, each in its turn."""

    refuse_text: Callable[[str, int], None]
    """Called with the URI and size of a text that is too large; the size is 0 if its whole message was."""
    allows_text: Callable[[str, int], bool]
    """Returns whether a text is accepted, by its URI and its number of characters."""

    async def serve(self, stdin: BinaryIO, stop: Event, readers: Executor) -> None:
        """Read messages from ``stdin`` and handle them, until the stream ends or ``stop`` is set."""
        loop = asyncio.get_running_loop()
        while not stop.is_set():
            message = await loop.run_in_executor(readers, read_message, stdin)
            if message is None:
                return
            self.take(message)

    def take(self, message: bytes | Malformed | Oversized) -> None:
        """Handle a message, or answer with its error."""
        if isinstance(message, Malformed):
            self._refuse(None, types.ErrorCodes.ParseError, message.why)
        elif isinstance(message, Oversized):
            self._too_large(message)
        else:
            try:
                data = json.loads(message.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                self._refuse(None, types.ErrorCodes.ParseError, f"not JSON: {error}")
            else:
                self._take_data(data)

    def _take_data(self, data: Any) -> None:
        wrong = _malformation(data)
        if wrong is not None:
            self._refuse(_id_of(data), types.ErrorCodes.InvalidRequest, wrong)
        elif "method" not in data:
            self._answered(data)
        elif "id" in data:
            self._request(data)
        elif data["method"] == types.CANCEL_REQUEST:
            self._cancelled(data.get("params"))
        elif data["method"] == types.EXIT or self._workspace is not None:
            # Before it was greeted a server takes no notification but the last.
            self._deliver(self._bounded(data))

    def _request(self, data: dict[str, Any]) -> None:
        """Handle a request, or refuse it: before initialize, a second initialize, after shutdown, or a notification."""
        is_greeting = data["method"] == types.INITIALIZE
        if self._shutdown:
            self._refuse(data["id"], types.ErrorCodes.InvalidRequest, "the server was shut down")
        elif is_greeting and self._workspace is not None:
            self._refuse(data["id"], types.ErrorCodes.InvalidRequest, "initialize comes once")
        elif not is_greeting and self._workspace is None:
            self._refuse(data["id"], types.ErrorCodes.ServerNotInitialized, "initialize comes first")
        elif data["method"] in _NOTIFICATIONS:
            # pygls takes it for the notification, and answers nothing.
            self._refuse(data["id"], types.ErrorCodes.MethodNotFound, "a notification has no id")
        else:
            self._deliver(data)

    def _answered(self, data: dict[str, Any]) -> None:
        """Handle a response to a request of this server; responses to no open request are ignored."""
        future = self._request_futures.get(data["id"])
        if isinstance(future, Future) and not future.done():
            self._deliver(data)

    def _cancelled(self, params: Any) -> None:
        """Cancel the client's request with this id if it is still open."""
        number = _id_of(params)
        if number in self._request_futures:
            self._handle_cancel_notification(number)

    def _deliver(self, data: dict[str, Any]) -> None:
        """Hand a message to pygls; a request that does not have the form of its method is answered by an error."""
        if "method" in data:
            # A method that is not known has no type, and pygls asks for its parameters.
            data.setdefault("params", None)
        try:
            message = self.structure_message(data)
        except JsonRpcException as error:
            if "method" in data and "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            return
        self.handle_message(message)

    def _bounded(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a notification with empty texts in place of those that are too large, which are refused by URI."""
        params = data.get("params")
        if data["method"] in _TEXTS and isinstance(params, dict):
            document = params.get("textDocument")
            changes = params.get("contentChanges")
            uri = document.get("uri") if isinstance(document, dict) else None
            for holder in (document, *(changes if isinstance(changes, list) else ())):
                text = holder.get("text") if isinstance(holder, dict) else None
                if isinstance(text, str) and isinstance(uri, str):
                    holder["text"] = self._taken(uri, text)
        return data

    def _taken(self, uri: str, text: str) -> str:
        if not self.allows_text(uri, len(text)):
            self.refuse_text(uri, len(text))
            return ""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            # Half a character: of the same length, as columns are counted.
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text

    def _too_large(self, message: Oversized) -> None:
        """Answer an oversized message: a text by a diagnostic, any other by an error with its id if it is found."""
        text = f"a message of {message.length:,} bytes; at most {EDITOR_MESSAGE_BYTES // MIB} MiB are read"
        number = _ID.search(message.head) or _ID.search(message.tail)
        uri = _URI.search(message.head) or _URI.search(message.tail)
        is_text = any(f'"{method}"'.encode() in message.head + message.tail for method in _TEXTS)
        if is_text and uri is not None:
            self.refuse_text(json.loads(uri[1].decode("utf-8", "replace")), 0)
        else:
            self._refuse(json.loads(number[1]) if number else None, types.ErrorCodes.InvalidRequest, text)

    def _refuse(self, number: int | str | None, code: types.ErrorCodes, message: str) -> None:
        # lsprotocol leaves an id out that is null, which JSON-RPC wants to be there.
        self._send_data({"jsonrpc": "2.0", "id": number, "error": {"code": code.value, "message": message}})


def _malformation(data: Any) -> str | None:
    """Return why data is not a message, None if it is one."""
    if not isinstance(data, dict):
        return "a message is one JSON object"
    if data.get("jsonrpc") != "2.0":
        return 'a message has jsonrpc: "2.0"'
    if "id" in data and _id_of(data) is None:
        return "an id is text or a whole number"
    if not isinstance(data.get("method", ""), str):
        return "a method is text"
    if "method" not in data and "id" not in data:
        return "a message has a method or answers an id"
    return None


def _id_of(data: Any) -> int | str | None:
    """Return the id of a message, None if it has none that can be answered."""
    number = data.get("id") if isinstance(data, dict) else None
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


_LENGTH = re.compile(rb"content-length:[ \t]*+([^\r\n]*+)\r?\n\Z", re.IGNORECASE)
"""The pattern of a header line, also after bytes of no message: after a wrong length the next header is found."""
_DIGITS = re.compile(rb"[0-9]{1,15}")
_CHUNK = 64 * 1024
_KEPT = 4 * 1024
"""Bytes kept of each end of a message that is too large: enough to identify it."""


class Malformed(NamedTuple):
    """The reason why bytes on the stream are no message."""

    why: str


class Oversized(NamedTuple):
    """A message that was not kept: its length, its first bytes and its last bytes."""

    length: int
    head: bytes
    tail: bytes


def read_message(stream: BinaryIO) -> bytes | Malformed | Oversized | None:
    """Return the body of the next message; Malformed or Oversized for a wrong one, None at the end of the stream."""
    length = _read_header(stream)
    if not isinstance(length, int):
        return length
    if length > EDITOR_MESSAGE_BYTES:
        return _skip(stream, length)
    body = stream.read(length)
    return body if len(body) == length else None


def _read_header(stream: BinaryIO) -> int | Malformed | None:
    """Return the Content-Length of the next header, which ends at an empty line.

    Malformed if the header is too long or has no valid length; None at the end of the stream.
    """
    stated: bytes | None = None
    taken = 0
    while line := stream.readline(EDITOR_HEADER_BYTES):
        if not line.strip():
            if taken:
                break
            continue
        taken += len(line)
        match = _LENGTH.search(line)
        stated = match[1].rstrip(b" \t") if match else stated
    else:
        return None
    if taken > EDITOR_HEADER_BYTES:
        return Malformed(f"a header of more than {EDITOR_HEADER_BYTES} bytes")
    if stated is None:
        return Malformed("a header without Content-Length")
    if _DIGITS.fullmatch(stated) is None:
        return Malformed("Content-Length is no number of bytes")
    return int(stated)


def _skip(stream: BinaryIO, length: int) -> Oversized | None:
    head = tail = b""
    left = length
    while left:
        chunk = stream.read(min(_CHUNK, left))
        if not chunk:
            return None
        left -= len(chunk)
        head += chunk[: _KEPT - len(head)]
        tail = (tail + chunk)[-_KEPT:]
    return Oversized(length, head, tail)
