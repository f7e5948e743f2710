"""A real client: ``lossless lsp`` as a process of its own, spoken to over its standard streams."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from asyncio.streams import FlowControlMixin
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from tests.interfaces.cli.forked import Forks, forks
from tests.interfaces.cli.inputs import INTENT, LEAF

LONGEST_S = 600.0
"""How long an answer may take before a test fails; far beyond what one takes on a busy machine."""
PROGRAM = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"


FORKS: list[Forks] = []
"""What forks servers, while the fixture ``servers`` is in use."""


class Editor(LanguageClient):
    """An editor with some texts open."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.said: dict[str, asyncio.Queue[types.PublishDiagnosticsParams]] = defaultdict(asyncio.Queue)
        self.log: list[str] = []
        self.versions: dict[str, int] = defaultdict(int)
        told: list[tuple[str, Callable[[Any], None]]] = [
            (
                types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
                lambda params: self.said[params.uri].put_nowait(params),
            ),
            (types.WINDOW_LOG_MESSAGE, lambda params: self.log.append(params.message)),
        ]
        for name, handler in told:
            self.feature(name)(handler)

    async def open(self, path: Path, text: str, language: str = "yaml") -> list[types.Diagnostic]:
        """Open a text, and return what is said of it."""
        item = types.TextDocumentItem(path.as_uri(), language, 0, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(path)

    def type(self, path: Path, text: str) -> int:
        """Replace a text, and return its version."""
        self.versions[path.as_uri()] += 1
        version = self.versions[path.as_uri()]
        name = types.VersionedTextDocumentIdentifier(version, path.as_uri())
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(types.DidChangeTextDocumentParams(name, [change]))
        return version

    async def diagnostics(self, path: Path, version: int | None = None) -> list[types.Diagnostic]:
        """Return the next thing said of a text, in this version of it."""
        while True:
            try:
                said = await asyncio.wait_for(self.said[path.as_uri()].get(), LONGEST_S)
            except TimeoutError:
                pytest.fail(f"nothing is said of {path.name}; the log has {self.log}")
            if version is None or said.version == version:
                return list(said.diagnostics)

    async def hover(self, path: Path, line: int, character: int) -> str:
        """Return what is shown at a place, as Markdown; nothing where nothing is."""
        at = types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), types.Position(line, character))
        shown = await asyncio.wait_for(self.text_document_hover_async(at), LONGEST_S)
        return shown.contents.value if shown and isinstance(shown.contents, types.MarkupContent) else ""

    async def offered(self, path: Path, line: int, character: int) -> list[str]:
        """Return what can be typed at a place."""
        at = types.Position(line, character)
        params = types.CompletionParams(types.TextDocumentIdentifier(path.as_uri()), at)
        found = await asyncio.wait_for(self.text_document_completion_async(params), LONGEST_S)
        return [item.label for item in found] if isinstance(found, Sequence) else []

    async def actions(self, path: Path, place: types.Range, *only: str) -> list[types.CodeAction]:
        """Return what is offered for a place."""
        context = types.CodeActionContext([], only=list(only) or None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), place, context)
        found = await asyncio.wait_for(self.text_document_code_action_async(params), LONGEST_S)
        return [action for action in found or () if isinstance(action, types.CodeAction)]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fork servers from one process that has checked an intent and a switch before."""
    folder = tmp_path_factory.mktemp("servers")
    (folder / "fabric.yaml").write_text(INTENT)
    (folder / "leaf1.json").write_text(LEAF)
    with forks(folder, [["lint", "."], ["lsp"]]) as started:
        FORKS.append(started)
        yield
        FORKS.clear()


@asynccontextmanager
async def editor(*folders: Path, encodings: Sequence[str] = (), program: str = "") -> AsyncIterator[Editor]:
    """Start the server and greet it; at the end take leave, and see that it ends well.

    With a program the interpreter is started for it, without one the server is forked.
    """
    client = Editor()
    async with _started(client, program) if program else _forked(client):
        general = types.GeneralClientCapabilities(position_encodings=list(encodings)) if encodings else None
        params = types.InitializeParams(
            capabilities=types.ClientCapabilities(general=general),
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders],
        )
        await asyncio.wait_for(client.initialize_async(params), LONGEST_S)
        client.initialized(types.InitializedParams())
        yield client
        await asyncio.wait_for(client.shutdown_async(None), LONGEST_S)
        client.exit(None)


@asynccontextmanager
async def _started(client: Editor, program: str) -> AsyncIterator[None]:
    await client.start_io(sys.executable, "-c", program, "lsp")
    yield
    process = client._server
    assert process is not None
    assert await asyncio.wait_for(process.wait(), LONGEST_S) == 0
    assert process.stderr is not None
    assert await process.stderr.read() == b""
    stopped: Awaitable[None] = client.stop()  # type: ignore[no-untyped-call]
    await stopped


@asynccontextmanager
async def _forked(client: Editor) -> AsyncIterator[None]:
    """Connect a client with a server, as ``start_io`` does."""
    (server_in, ours_out), (ours_in, server_out) = os.pipe(), os.pipe()
    with TemporaryFile() as errors:
        FORKS[0].start(Path.cwd(), ["lsp"], {0: server_in, 1: server_out, 2: errors.fileno()})
        for theirs in (server_in, server_out):
            os.close(theirs)
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        writing, protocol = await loop.connect_write_pipe(FlowControlMixin, os.fdopen(ours_out, "wb", 0))
        reading, _ = await loop.connect_read_pipe(
            partial(asyncio.StreamReaderProtocol, reader), os.fdopen(ours_in, "rb", 0)
        )
        client.protocol.set_writer(asyncio.StreamWriter(writing, protocol, None, loop))
        heard = asyncio.create_task(
            run_async(
                stop_event=client._stop_event,
                reader=reader,
                protocol=client.protocol,
                logger=logging.getLogger(__name__),
                error_handler=client.report_server_error,
            )
        )
        try:
            yield
        finally:
            # A server that was not told to leave does so when nothing more can come; the next one is forked then.
            writing.close()
            code = await asyncio.to_thread(FORKS[0].ended)
            await heard
            reading.close()
        assert code == 0
        errors.seek(0)
        assert errors.read() == b""


def applied(text: str, edits: Sequence[Any]) -> str:
    """Return a text with edits made as an editor makes them, columns in units of UTF-16."""
    units = text.encode("utf-16-le")
    starts = [0]
    for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)", text):
        starts.append(starts[-1] + len(line.encode("utf-16-le")))
    for edit in sorted(
        edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True
    ):
        first = starts[edit.range.start.line] + 2 * edit.range.start.character
        last = starts[edit.range.end.line] + 2 * edit.range.end.character
        units = units[:first] + edit.new_text.encode("utf-16-le") + units[last:]
    return units.decode("utf-16-le")
