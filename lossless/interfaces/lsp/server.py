"""The server: what an editor asks and tells, and what it is answered.

Texts are judged in a thread, one judgement at a time, once nothing has been typed for a moment.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from lossless import __version__
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import Lines
from lossless.interfaces.lsp.cursor import cursor_at, key_at, transport_in
from lossless.interfaces.lsp.diagnostics import Marked, Marker
from lossless.interfaces.lsp.fixes import Texts, mending, mending_all, text_edits
from lossless.interfaces.lsp.hover_and_completion import completions, of_key, of_rule
from lossless.interfaces.lsp.positions import Units, meets
from lossless.interfaces.lsp.workspace import Files, Together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.api import Options

PAUSE_S = 0.2
"""How long nothing must have been typed before it is judged."""
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.lossless"
_LOGS = ("pygls.protocol.json_rpc", "pygls.protocol.language_server", "pygls.server", "pygls.feature_manager")
_WATCHED = "**/*.{json,yaml,yml}"


class Opened(NamedTuple):
    """A text in the editor; ``file`` is its path, or a name that stands for it where it is on no disk."""

    uri: str
    file: str
    text: str
    version: int | None


class Judged(NamedTuple):
    """What was last said of a text."""

    opened: Opened
    together: Together
    marked: list[Marked]


class Server(LanguageServer):
    """A language server for intents and config_db.json files."""

    def __init__(self, options: Callable[[], Options]) -> None:
        # The whole text with each change: what pygls counts as lines of a text differs from what the protocol does.
        super().__init__("lossless", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.options = options
        self.files = Files(options)
        self.judged: dict[str, Judged] = {}
        self.dismissed = False
        self._asked = self._done = 0
        self._due = 0.0
        self._searched = False
        self._told: set[str] = set()
        self._worker: asyncio.Task[None] | None = None

    @property
    def units(self) -> Units:
        """What columns count with this client."""
        return Units(self.workspace.position_encoding)

    def opened(self) -> dict[str, Opened]:
        """Return the texts in the editor that may be ours, by file."""
        found = {}
        for uri, document in self.workspace.text_documents.items():
            file = _file(uri, document.language_id)
            if file is not None:
                found[file] = Opened(uri, file, document.source, document.version)
        return found

    def ask(self, *, pause_s: float = PAUSE_S, search: bool = False) -> None:
        """Have everything judged that is open, once nothing has changed for a moment."""
        loop = asyncio.get_running_loop()
        self._searched = self._searched and not search
        self._asked += 1
        self._due = loop.time() + pause_s
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._work())
            self._worker.add_done_callback(self._tell_failure)

    async def settled(self, uri: str) -> Judged | None:
        """Return what is said of a text as it is now, None where nothing is."""
        if self._worker is not None and not self._worker.done():
            await asyncio.wait([self._worker])
        judged, document = self.judged.get(uri), self.workspace.text_documents.get(uri)
        is_current = judged is not None and document is not None and judged.opened.text == document.source
        return judged if is_current else None

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._done < self._asked:
            while (rest := self._due - loop.time()) > 0:
                await asyncio.sleep(rest)
            asked, opened = self._asked, self.opened()
            try:
                texts = {file: one.text for file, one in opened.items()}
                self._publish(opened, await asyncio.to_thread(self._judge, texts))
            finally:
                self._done = asked

    def _judge(self, texts: Mapping[str, str]) -> dict[str, Together]:
        if not self._searched:
            self._searched = True
            self.files.search(self._roots())
        return self.files.judge(texts)

    def _roots(self) -> list[str]:
        folders = [to_fs_path(folder.uri) for folder in self.workspace.folders.values()]
        return [folder for folder in (folders or [self.workspace.root_path]) if folder]

    def _publish(self, opened: Mapping[str, Opened], found: Mapping[str, Together]) -> None:
        marker = Marker(self.units, {file: one.uri for file, one in opened.items()})
        self.judged = {}
        for file, one in opened.items():
            marked = marker.marked(file, one.text, found[file])
            self.judged[one.uri] = Judged(one, found[file], marked)
            if one.uri in self.workspace.text_documents:
                said = [item.diagnostic for item in marked]
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(one.uri, said, one.version)
                )
            self._tell_elsewhere(found[file], opened)

    def _tell_elsewhere(self, together: Together, opened: Mapping[str, Opened]) -> None:
        """Say once what stands in no text that is open: what cannot be read, and that a folder is too large."""
        said = [str(error) for error in together.report.errors if error.file not in opened]
        if together.left_out:
            said.append(
                f"{together.left_out:,} more files in this folder: only the open ones are judged here, "
                "and lossless lint judges all of them together"
            )
        for message in said:
            if message not in self._told:
                self._told.add(message)
                self.log(message, types.MessageType.Warning)

    def _tell_failure(self, worker: asyncio.Task[None]) -> None:
        error = None if worker.cancelled() else worker.exception()
        if error is not None:
            self.log(
                f"not judged, by a mistake in lossless: {type(error).__name__}: {error}",
                types.MessageType.Error,
            )

    def log(self, message: str, kind: types.MessageType) -> None:
        """Write into the log that editors keep of a server."""
        self.window_log_message(types.LogMessageParams(kind, message))


def server(options: Callable[[], Options]) -> Server:
    """Return a server that waits for a client; what it is to judge by is asked for each time."""
    for name in _LOGS:
        logging.getLogger(name).addFilter(_on_one_line)
    made = Server(options)
    for name, handler in _NOTIFIED.items():
        made.feature(name)(handler)
    made.feature(types.SHUTDOWN)(_on_shutdown)
    made.feature(types.TEXT_DOCUMENT_HOVER)(_hover)
    made.feature(types.TEXT_DOCUMENT_COMPLETION)(_complete)
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]
    made.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))(_actions)
    return made


def _on_one_line(record: logging.LogRecord) -> bool:
    """Say what cannot be understood of a client without the way through the program."""
    if record.exc_info and record.exc_info[1] is not None:
        record.msg, record.args = f"{record.getMessage()}: {record.exc_info[1]}", ()
        record.exc_info = None
    return True


def _file(uri: str, language: str | None) -> str | None:
    """Return the file of a URI; of a text that was never saved, a name by its language; None for other kinds."""
    path = to_fs_path(uri)
    if path is not None:
        return path if path.lower().endswith((".json", ".yaml", ".yml")) else None
    suffixes = {"json": ".json", "jsonc": ".json", "yaml": ".yaml"}
    return f"{uri}{suffixes[language]}" if language in suffixes else None


def _on_initialized(server: Server, _params: types.InitializedParams) -> None:
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching and watching.dynamic_registration:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_WATCHED)])
        wanted = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(types.RegistrationParams([wanted]))


def _on_change(server: Server, _params: types.DidChangeTextDocumentParams) -> None:
    server.ask()


def _on_files(server: Server, _params: object) -> None:
    """Judge at once; files may have come or gone."""
    server.ask(pause_s=0, search=True)


def _on_shutdown(server: Server, _params: None) -> None:
    server.dismissed = True


def _on_close(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
    server.ask()


_NOTIFIED: dict[str, Callable[..., None]] = {
    types.INITIALIZED: _on_initialized,
    types.TEXT_DOCUMENT_DID_OPEN: _on_files,
    types.TEXT_DOCUMENT_DID_SAVE: _on_files,
    types.TEXT_DOCUMENT_DID_CHANGE: _on_change,
    types.TEXT_DOCUMENT_DID_CLOSE: _on_close,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _on_files,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: _on_files,
}


async def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    """Show the rule behind what is underlined, and below it what the key means."""
    judged = await server.settled(params.text_document.uri)
    if judged is None:
        return None
    here = types.Range(params.position, params.position)
    underlined = [one for one in judged.marked if meets(one.diagnostic.range, here)]
    codes = dict.fromkeys(one.finding.code for one in underlined if one.finding is not None)
    said = [of_rule(code) for code in codes]
    if _is_intent(server, judged.opened):
        place = _place(server, judged.opened, params.position)
        said.append(of_key(key_at(judged.opened.text, *place), transport_in(judged.opened.text)))
    shown = "\n\n---\n\n".join(filter(None, said))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown)) if shown else None


async def _complete(server: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    """Offer keys and values of an intent, as the text stands now."""
    opened = next((one for one in server.opened().values() if one.uri == params.text_document.uri), None)
    if opened is None or not _is_intent(server, opened):
        return []
    return completions(
        cursor_at(opened.text, *_place(server, opened, params.position)), transport_in(opened.text)
    )


async def _actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Offer to mend what is underlined; for ``source.fixAll``, all that can be mended safely."""
    judged = await server.settled(params.text_document.uri)
    if judged is None:
        return []
    only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
    found = []
    if not only or types.CodeActionKind.QuickFix.value in only:
        here = [one for one in judged.marked if meets(one.diagnostic.range, params.range)]
        fixes = [await asyncio.to_thread(_quick_fix, server, judged, one) for one in here]
        found = [fix for fix in fixes if fix is not None]
    if any(kind == FIX_ALL or FIX_ALL.startswith(f"{kind}.") for kind in only):
        texts = await asyncio.to_thread(mending_all, judged.opened.file, judged.together, server.options())
        if texts:
            edit = _workspace_edit(server, texts)
            found.append(types.CodeAction("Fix all that can be mended safely", kind=FIX_ALL, edit=edit))
    return found


def _quick_fix(server: Server, judged: Judged, marked: Marked) -> types.CodeAction | None:
    finding = marked.finding
    if finding is None or not finding.fix:
        return None
    texts = mending(finding, judged.together, server.options())
    if not texts:
        return None
    safe = finding.fixable == "safe"
    return types.CodeAction(
        f"Fix {finding.code} {finding.name}" + ("" if safe else ", which changes what the device does"),
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[marked.diagnostic],
        is_preferred=safe,
        edit=_workspace_edit(server, texts),
    )


def _workspace_edit(server: Server, texts: Texts) -> types.WorkspaceEdit:
    marker = Marker(server.units, {file: one.uri for file, one in server.opened().items()})
    return types.WorkspaceEdit(
        {marker.uri(file): text_edits(before, after, server.units) for file, (before, after) in texts.items()}
    )


def _is_intent(server: Server, opened: Opened) -> bool:
    return not opened.file.lower().endswith(".json") and server.files.is_ours(opened.file, opened.text)


def _place(server: Server, opened: Opened, position: types.Position) -> tuple[int, int]:
    """Return a position in code points from 0."""
    try:
        line = Lines(opened.text).line_text(position.line + 1)
    except IndexError:
        line = ""
    return position.line, server.units.column(line, position.character)
