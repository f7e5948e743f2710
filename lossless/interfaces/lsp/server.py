"""The language server: requests and notifications of an editor, and the answers.

Texts are checked in a thread, one check at a time, after a pause in typing.

URIs of an editor become file names; a URI without a file, as of a text that was never saved, is no error.
"""

from __future__ import annotations

import asyncio
import logging
import os
from threading import Event
from typing import TYPE_CHECKING, Any
from zlib import crc32

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from lossless import __version__
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.limits import EDITOR_TEXT_CHARACTERS, EDITOR_TEXTS_CHARACTERS, MIB, PATH_BYTES
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import Lines
from lossless.interfaces.api.reference import SUFFIXES
from lossless.interfaces.lsp.hover_and_completion import (
    completions,
    cursor_at,
    key_at,
    of_key,
    of_rule,
    transport_in,
)
from lossless.interfaces.lsp.protocol import Protocol
from lossless.interfaces.lsp.workspace import (
    SOURCE,
    ColumnUnits,
    DiagnosticBuilder,
    FindingDiagnostic,
    LintGroup,
    Texts,
    WorkspaceFiles,
    fix,
    fix_all,
    meets,
    text_edits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    from lossless.api import Options


PAUSE_S = 0.2
"""The pause in typing after which texts are checked."""
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.lossless"
_LOGS = ("pygls.protocol.json_rpc", "pygls.protocol.language_server", "pygls.server", "pygls.feature_manager")
_LONGEST_LOG = 400
_WATCHED = f"**/*{{{','.join(SUFFIXES)}}}"


class EditorText(NamedTuple):
    """A text in the editor; ``file`` is its path, or a substitute name if it is on no disk."""

    uri: str
    file: str
    text: str
    version: int | None


class Diagnosis(NamedTuple):
    """The last check of a text in the editor: the text, the files checked with it, and the diagnostics."""

    editor_text: EditorText
    group: LintGroup
    diagnostics: list[FindingDiagnostic]


class Server(LanguageServer):
    """A language server for intents and configurations of switches."""

    protocol: Protocol

    def __init__(self, options: Callable[[], Options]) -> None:
        # The whole text with each change: what pygls counts as lines of a text differs from what the protocol does.
        kind = types.TextDocumentSyncKind.Full
        super().__init__("lossless", __version__, text_document_sync_kind=kind, protocol_cls=Protocol)
        self.protocol.refuse_text, self.protocol.allows_text = self._refuse_text, self._allows_text
        self.options = options
        self.files = WorkspaceFiles(options)
        self.diagnoses: dict[str, Diagnosis] = {}
        self.dismissed = False
        self._refused: set[str] = set()
        self._asked = self._done = 0
        self._due = 0.0
        self._searched = False
        self._told: set[str] = set()
        self._worker: asyncio.Task[None] | None = None

    @property
    def units(self) -> ColumnUnits:
        """The unit of columns agreed with this client."""
        return ColumnUnits(self.workspace.position_encoding)

    def serve(self, stdin: BinaryIO, stdout: Any) -> None:
        """Speak with a client until it leaves; ``stdout`` takes bytes."""
        self._stop_event = stop = Event()
        self.protocol.set_writer(stdout)
        try:
            asyncio.run(self.protocol.serve(stdin, stop, self.thread_pool))
        except (KeyboardInterrupt, SystemExit):
            # The notification exit ends it so.
            return
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]

    def _allows_text(self, uri: str, size: int) -> bool:
        others = sum(len(text.source) for name, text in self._texts().items() if name != uri)
        allowed = size <= EDITOR_TEXT_CHARACTERS and others + size <= EDITOR_TEXTS_CHARACTERS
        if allowed:
            self._refused.discard(uri)
        return allowed

    def _refuse_text(self, uri: str, size: int) -> None:
        """Report that a text is too large to be checked while it is edited; its size is 0 if it was not read."""
        self._refused.add(uri)
        many = f"{size:,} characters" if size else "too large a text"
        most = f"at most {EDITOR_TEXT_CHARACTERS // MIB} Mi of one text and {EDITOR_TEXTS_CHARACTERS // MIB} Mi of all"
        message = f"{many}: {most} are checked in an editor; lossless lint checks the file"
        place = types.Range(types.Position(0, 0), types.Position(0, 0))
        shown = [types.Diagnostic(place, message, severity=types.DiagnosticSeverity.Error, source=SOURCE)]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown))

    def closed(self, uri: str) -> None:
        """Remove the diagnostics of a closed document, and check the others again."""
        self._refused.discard(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        self.ask()

    def _texts(self) -> Mapping[str, Any]:
        return {uri: text for uri, text in self.workspace.text_documents.items() if uri not in self._refused}

    def editor_texts(self) -> dict[str, EditorText]:
        """Return the open texts in JSON, YAML or another format that lossless may check, by file name.

        Texts that were refused as too large are left out.
        """
        texts = {}
        for uri, document in self._texts().items():
            file = file_of(uri, document.language_id)
            if file is not None:
                texts[file] = EditorText(uri, file, document.source, document.version)
        return texts

    def ask(self, *, pause_s: float = PAUSE_S, search: bool = False) -> None:
        """Schedule a check of all open texts, ``pause_s`` after the last call; ``search`` also lists files again."""
        loop = asyncio.get_running_loop()
        self._searched = self._searched and not search
        self._asked += 1
        self._due = loop.time() + pause_s
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._work())
            self._worker.add_done_callback(self._tell_failure)

    async def settled(self, uri: str) -> Diagnosis | None:
        """Return the diagnosis of the current text, after waiting for a running check; None if there is none."""
        if self._current(uri) is None and self._worker is not None and not self._worker.done():
            await asyncio.wait([self._worker])
        return self._current(uri)

    def _current(self, uri: str) -> Diagnosis | None:
        """Return the diagnosis of a text as it is now, None if there is none."""
        diagnosis, document = self.diagnoses.get(uri), self._texts().get(uri)
        if diagnosis is None or document is None or diagnosis.editor_text.text != document.source:
            return None
        return diagnosis

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._done < self._asked:
            while (rest := self._due - loop.time()) > 0:
                await asyncio.sleep(rest)
            asked, editor_texts = self._asked, self.editor_texts()
            try:
                texts = {file: editor_text.text for file, editor_text in editor_texts.items()}
                self._publish(editor_texts, await asyncio.to_thread(self._lint, texts))
            finally:
                self._done = asked

    def _lint(self, texts: Mapping[str, str]) -> dict[str, LintGroup]:
        if not self._searched:
            self._searched = True
            self.files.search(self._roots())
        return self.files.lint(texts)

    def _roots(self) -> list[str]:
        folders = [path_of(folder.uri) for folder in self.workspace.folders.values()]
        root = self.workspace.root_uri
        return [folder for folder in (folders or [path_of(root) if root else None]) if folder]

    def _publish(self, editor_texts: Mapping[str, EditorText], groups: Mapping[str, LintGroup]) -> None:
        builder = self._builder(editor_texts)
        self.diagnoses = {}
        for file, (uri, _, text, version) in editor_texts.items():
            diagnostics = builder.diagnostics(file, text, groups[file])
            self.diagnoses[uri] = Diagnosis(editor_texts[file], groups[file], diagnostics)
            # What was typed since is about to be checked, and what is known of the older text would mislead.
            if self._current(uri) is not None:
                shown = [diagnostic for diagnostic, _ in diagnostics]
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, version))
            self._tell_elsewhere(groups[file], editor_texts)

    def _builder(self, editor_texts: Mapping[str, EditorText]) -> DiagnosticBuilder:
        return DiagnosticBuilder(self.units, {file: text.uri for file, text in editor_texts.items()})

    def workspace_edit(self, texts: Texts) -> types.WorkspaceEdit:
        """Return the edit of the protocol that replaces the old texts of files by their new ones."""
        builder = self._builder(self.editor_texts())
        return types.WorkspaceEdit(
            {builder.uri(file): text_edits(*before_after, self.units) for file, before_after in texts.items()}
        )

    def _tell_elsewhere(self, group: LintGroup, editor_texts: Mapping[str, EditorText]) -> None:
        """Log problems of other files once: files that cannot be read, a folder that is too large."""
        messages = [str(error) for error in group.report.errors if error.file not in editor_texts]
        if group.left_out:
            messages.append(
                f"{group.left_out:,} more files in this folder: only the open ones are checked here, "
                "and lossless lint checks all of them together"
            )
        for message in messages:
            if message not in self._told:
                self._told.add(message)
                self.log(visible(message), types.MessageType.Warning)

    def _tell_failure(self, worker: asyncio.Task[None]) -> None:
        error = None if worker.cancelled() else worker.exception()
        if error is not None:
            self.log(
                f"not checked, by a mistake in lossless: {type(error).__name__}: {error}",
                types.MessageType.Error,
            )

    def log(self, message: str, kind: types.MessageType) -> None:
        """Write a message to the log of the editor."""
        self.window_log_message(types.LogMessageParams(kind, message))


def server(options: Callable[[], Options]) -> Server:
    """Return a language server that has not started yet; ``options`` is called each time that options are needed."""
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
    """Shorten a log record of pygls to one line without a traceback."""
    lines = record.getMessage().split("\n")
    told = f"{lines[0]}: {record.exc_info[1]}" if record.exc_info and record.exc_info[1] else lines[0]
    record.msg, record.args, record.exc_info = visible(told[:_LONGEST_LOG]), (), None
    return True


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
    """Search the folders for files again, and check at once."""
    server.ask(pause_s=0, search=True)


def _on_shutdown(server: Server, _params: None) -> None:
    server.dismissed = True


def _on_close(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    server.closed(params.text_document.uri)


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
    """Return the documentation of rules with a diagnostic at a position, then that of the intent's key there."""
    diagnosis = await server.settled(params.text_document.uri)
    if diagnosis is None:
        return None
    here = types.Range(params.position, params.position)
    findings = [finding for diagnostic, finding in diagnosis.diagnostics if meets(diagnostic.range, here)]
    codes = dict.fromkeys(finding.code for finding in findings if finding is not None)
    said = [of_rule(code) for code in codes]
    editor_text = diagnosis.editor_text
    if _is_intent(server, editor_text):
        place = _place(server, editor_text, params.position)
        said.append(of_key(key_at(editor_text.text, *place), transport_in(editor_text.text)))
    shown = "\n\n---\n\n".join(filter(None, said))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown)) if shown else None


async def _complete(server: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    """Return the keys or values that complete the current text of an intent; none for other files."""
    uri = params.text_document.uri
    editor_text = next((text for text in server.editor_texts().values() if text.uri == uri), None)
    if editor_text is None or not _is_intent(server, editor_text):
        return []
    cursor = cursor_at(editor_text.text, *_place(server, editor_text, params.position))
    return completions(cursor, transport_in(editor_text.text))


async def _actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the fixes of diagnostics in a range; for ``source.fixAll`` one action with the safe fixes of the text."""
    diagnosis = await server.settled(params.text_document.uri)
    if diagnosis is None:
        return []
    only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
    actions = []
    if not only or types.CodeActionKind.QuickFix.value in only:
        here = [shown for shown in diagnosis.diagnostics if meets(shown.diagnostic.range, params.range)]
        fixes = [await asyncio.to_thread(_quick_fix, server, diagnosis, shown) for shown in here]
        actions = [fix for fix in fixes if fix is not None]
    if any(kind == FIX_ALL or FIX_ALL.startswith(f"{kind}.") for kind in only):
        texts = await asyncio.to_thread(
            fix_all, diagnosis.editor_text.file, diagnosis.group, server.options()
        )
        if texts:
            edit = server.workspace_edit(texts)
            actions.append(types.CodeAction("Fix all that can be fixed safely", kind=FIX_ALL, edit=edit))
    return actions


def _quick_fix(server: Server, diagnosis: Diagnosis, shown: FindingDiagnostic) -> types.CodeAction | None:
    diagnostic, finding = shown
    if finding is None or not finding.fix:
        return None
    texts = fix(finding, diagnosis.group, server.options())
    if not texts:
        return None
    safe = finding.fixable == "safe"
    return types.CodeAction(
        f"Fix {finding.code} {finding.name}" + ("" if safe else ", which changes what the device does"),
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=safe,
        edit=server.workspace_edit(texts),
    )


def _is_intent(server: Server, editor_text: EditorText) -> bool:
    return not editor_text.file.lower().endswith(".json") and server.files.is_ours(
        editor_text.file, editor_text.text
    )


def _place(server: Server, editor_text: EditorText, position: types.Position) -> tuple[int, int]:
    """Return a position of the protocol as line and column in code points, both from 0."""
    try:
        line = Lines(editor_text.text).line_text(position.line + 1)
    except IndexError:
        line = ""
    return position.line, server.units.column(line, position.character)


_SUFFIXES = {"json": ".json", "jsonc": ".json", "yaml": ".yaml"}
"""The suffix of files by the name that editors give to their language."""
_LONGEST = 200
"""Most characters of a URI in the name of a text without a file; a checksum distinguishes longer ones."""


def path_of(uri: str) -> str | None:
    """Return the file path of a URI, None if it has none, or one that no file system takes."""
    try:
        path = to_fs_path(uri)
        encoded = os.fsencode(path or "")
    except ValueError:
        # A bracket that ends no address, or half a character.
        return None
    return path if 0 < len(encoded) < PATH_BYTES and b"\0" not in encoded else None


def file_of(uri: str, language: str | None) -> str | None:
    """Return the file of a URI, or a name by its language for a text without a file; None if neither can be checked."""
    path = path_of(uri)
    if path is not None:
        return path if path.lower().endswith(SUFFIXES) else None
    if language not in _SUFFIXES:
        return None
    name = visible(uri)
    return f"{name if len(name) <= _LONGEST else f'{name[:_LONGEST]}-{crc32(name.encode())}'}{_SUFFIXES[language]}"
