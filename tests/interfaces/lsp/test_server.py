"""``lossless lsp`` as an editor uses it: a process of its own, spoken to over its standard streams."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from lsprotocol import types

from lossless.interfaces.lsp.server import FIX_ALL
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with
from tests.interfaces.lsp.client import LONGEST_S, PROGRAM, Editor, applied, editor, servers as servers
from tests.paths import RULE_BASES

pytestmark = [pytest.mark.usefixtures("servers"), pytest.mark.xdist_group("lsp")]
ALL = types.Range(types.Position(0, 0), types.Position(10_000, 0))
PCP = f"{INTENT}hosts: {{trust: pcp}}  # as the old fabric had it\n"
BLIND = LEAF.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')
NUMBER, PADDED = '"50": "0"', '"50": "00"'
Test = Callable[[Path], Coroutine[None, None, None]]


def spoken(test: Test) -> Callable[[Path], None]:
    """Run a test that waits for answers."""

    def run(tmp_path: Path) -> None:
        asyncio.run(test(tmp_path))

    return run


def told(diagnostics: list[types.Diagnostic]) -> list[tuple[str, str]]:
    return [
        (str(one.range), f"{one.code or ''} {one.message.splitlines()[0]}".strip()) for one in diagnostics
    ]


def codes(diagnostics: list[types.Diagnostic]) -> set[object]:
    return {one.code for one in diagnostics}


@spoken
async def test_what_is_typed_is_checked_and_not_what_lies_on_disk(folder: Path) -> None:
    path = folder / "fabric.yaml"
    path.write_text("lossless: v1\n")
    async with editor(folder) as client:
        assert await client.open(path, INTENT) == []
        version = client.type(path, intent_with("poll: 600ms", "pol: 600ms"))
        assert told(await client.diagnostics(path, version)) == snapshot(
            [("8:13-8:16", "unknown key 'pol'; did you mean poll? (others: by_tier)")]
        )
        version = client.type(path, INTENT)
        assert await client.diagnostics(path, version) == []
    assert path.read_text() == "lossless: v1\n"


@spoken
async def test_findings_have_their_severity_their_code_and_a_page(folder: Path) -> None:
    text = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
    async with editor(folder) as client:
        (said,) = await client.open(folder / "fabric.yaml", text)
    assert (said.code, said.source) == ("TOP001", "lossless")
    assert said.severity in (types.DiagnosticSeverity.Error, types.DiagnosticSeverity.Warning)
    assert text.splitlines()[said.range.start.line].lstrip().startswith(("uplinks", "leaf_spine"))
    assert "\nhelp: " in said.message
    assert said.code_description is not None
    assert Path(said.code_description.href.removeprefix("file://")).read_text().startswith("# TOP001 ")


@spoken
async def test_columns_count_units_of_utf_16(folder: Path) -> None:
    text = intent_with("  cnp: {dscp: 48,", '  cnp: {"\U0001d510\U0001d510": 1, dscp: 48,')
    async with editor(folder) as client:
        (said,) = await client.open(folder / "fabric.yaml", text)
    assert str(said.range) == "5:8-5:14"
    marks = intent_with(
        "priority: 6, scheduling: strict}", 'priority: 6, "\U0001d510": 1, scheduling: stict}'
    )
    line = marks.splitlines()[5]
    for encoding, columns in (
        ("utf-16", line.index("stict") + 1),
        ("utf-32", line.index("stict")),
        ("utf-8", line.index("stict") + 3),
    ):
        async with editor(folder, encodings=[encoding]) as client:
            found = await client.open(folder / "fabric.yaml", marks)
        assert columns in [one.range.start.character for one in found], encoding


@spoken
async def test_a_quick_fix_makes_the_text_that_lint_would_make(folder: Path) -> None:
    path = folder / "fabric.yaml"
    async with editor(folder) as client:
        (said,) = await client.open(path, PCP)
        (action,) = await client.actions(path, said.range)
        assert (action.title, action.is_preferred) == snapshot(
            ("Fix NIC009 nic-trusts-pcp, which changes what the device does", False)
        )
        assert action.edit is not None
        assert action.edit.changes is not None
        edits = action.edit.changes[path.as_uri()]
        fixed = applied(PCP, edits)
        assert fixed == PCP.replace("{trust: pcp}", "{}")
        assert [edit.new_text for edit in edits] == [""]
        version = client.type(path, fixed)
        assert await client.diagnostics(path, version) == []
        assert await client.actions(path, ALL) == []


@spoken
async def test_a_fix_that_would_draw_another_finding_is_not_offered(folder: Path) -> None:
    """A watchdog that drops restores the queue, and the job has given up before that."""
    text = INTENT.replace("action: drop", "action: alert") + "hosts: {job_timeout: 1s}\n"
    async with editor(folder) as client:
        said = await client.open(folder / "fabric.yaml", text)
        assert "WD011" in codes(said)
        assert await client.actions(folder / "fabric.yaml", ALL) == []


@spoken
async def test_fix_all_fixes_only_what_is_safe(folder: Path) -> None:
    path = folder / "config_db.json"
    text = BLIND.replace(NUMBER, PADDED, 1)
    async with editor(folder) as client:
        said = await client.open(path, text, "json")
        assert {"WD002", "CFG001"} <= codes(said)
        (action,) = await client.actions(path, ALL, FIX_ALL)
        assert action.edit is not None
        assert action.edit.changes is not None
        assert applied(text, action.edit.changes[path.as_uri()]) == BLIND
        (fixing,) = [one for one in await client.actions(path, ALL) if "WD002" in one.title]
        assert fixing.edit is not None
        assert fixing.edit.changes is not None
        assert applied(text, fixing.edit.changes[path.as_uri()]) == LEAF.replace(NUMBER, PADDED, 1)


@spoken
async def test_hovering_explains_a_finding_and_a_key(folder: Path) -> None:
    path = folder / "fabric.yaml"
    async with editor(folder) as client:
        (said,) = await client.open(path, PCP)
        at = said.range.start
        shown = await client.hover(path, at.line, at.character)
        assert shown.startswith("# NIC009 nic-trusts-pcp (")
        assert "\n\n---\n\n**hosts.trust**\n\n" in shown
        watchdog = next(i for i, line in enumerate(PCP.splitlines()) if "poll:" in line)
        column = PCP.splitlines()[watchdog].index("action") + 2
        assert await client.hover(path, watchdog, column) == snapshot("""\
**pfc.watchdog.action**

Action on packets of a stormed queue: `drop` or `forward` them, or only raise an `alert`.

Default: `drop`

One of: `drop`, `forward`, `alert`\
""")
        assert await client.hover(path, 0, 4) != ""
        assert await client.hover(path, 9_999, 4) == ""


@spoken
async def test_keys_and_values_are_offered_while_the_text_cannot_be_read(folder: Path) -> None:
    path = folder / "fabric.yaml"
    async with editor(folder) as client:
        text = INTENT + "hosts:\n  nccl: {ib_tc: 106, \n"
        assert await client.open(path, text) != []
        last = len(text.splitlines()) - 1
        assert "ib_fifo_tc" in await client.offered(path, last, len("  nccl: {ib_tc: 106, "))
        client.type(path, INTENT + "hosts:\n  trust: \n  \n")
        assert await client.offered(path, last, len("  trust: ")) == ["dscp", "pcp"]
        assert "job_timeout" in await client.offered(path, last + 1, 2)


@spoken
async def test_other_files_of_the_folder_are_checked_with_the_open_one(folder: Path) -> None:
    (folder / "leaf1").mkdir()
    (folder / "leaf2").mkdir()
    other = json.loads(LEAF)
    other["DEVICE_METADATA"]["localhost"]["hostname"] = "leaf2"
    (folder / "leaf1" / "config_db.json").write_text(LEAF)
    there = folder / "leaf2" / "config_db.json"
    there.write_text(json.dumps(other))
    (folder / "broken" / "x").mkdir(parents=True)
    (folder / "broken" / "config_db.json").write_text("{")
    opened = folder / "fabric.yaml"
    async with editor(folder) as client:
        await client.open(opened, INTENT)
        # The intent names leaf1: what it must be is known only from the text in the editor.
        said = await client.open(folder / "leaf1" / "config_db.json", LEAF, "json")
        assert "CFG004" in codes(said)
        client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(opened.as_uri()))
        )
        await client.diagnostics(folder / "leaf1" / "config_db.json")


@spoken
async def test_what_changes_on_disk_changes_what_is_said(folder: Path) -> None:
    path = folder / "config_db.json"
    intent = folder / "fabric.yaml"
    async with editor(folder) as client:
        assert "CFG004" not in codes(await client.open(path, LEAF, "json"))
        intent.write_text(INTENT)
        event = types.FileEvent(intent.as_uri(), types.FileChangeType.Created)
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert "CFG004" in codes(await client.diagnostics(path))


@spoken
async def test_the_configuration_of_the_repository_holds_in_an_editor(folder: Path) -> None:
    (folder / "lossless.toml").write_text('ignore = ["NIC009"]\n')
    path = folder / "fabric.yaml"
    async with editor(folder) as client:
        assert await client.open(path, PCP) == []
        (folder / "lossless.toml").write_text("ignore = [\n")
        version = client.type(path, INTENT)
        assert await client.diagnostics(path, version) == []
        await client.hover(path, 0, 0)
        (message,) = client.log
        assert message.startswith(f"{folder / 'lossless.toml'}:")


@spoken
async def test_files_that_are_none_of_ours_are_left_alone(folder: Path) -> None:
    async with editor(folder) as client:
        for name, text, language in (
            ("compose.yaml", "services: {web: {image: x}}\n", "yaml"),
            ("broken.yaml", "a: [\n", "yaml"),
            ("package.json", '{"name": "x"}', "json"),
            ("settings.json", "{", "json"),
        ):
            assert await client.open(folder / name, text, language) == []
            assert await client.hover(folder / name, 0, 1) == ""
            assert await client.offered(folder / name, 0, 1) == []


BROKEN = (
    "",
    "\n",
    "\x00",
    "\udc80lossless: v1",
    "lossless: v1\n" + "[" * 500,
    "lossless: v2",
    "lossless: v1\n\u2028x: {",
    "lossless: &a [*a]",
    "lossless: v1\r\r\n: :",
    f"lossless: v1\nclasses: {{{'x: {' * 200}",
)


@spoken
async def test_no_text_ends_the_server(folder: Path) -> None:
    path = folder / "fabric.yaml"
    async with editor(folder) as client:
        await client.open(path, INTENT)
        for text in BROKEN:
            version = client.type(path, text)
            said = await client.diagnostics(path, version)
            assert all(one.severity == types.DiagnosticSeverity.Error for one in said)
            assert said or not text.startswith("lossless"), text
            for line in range(3):
                await client.hover(path, line, 7)
                await client.offered(path, line, 7)
            await client.actions(path, ALL)
        version = client.type(path, INTENT)
        assert await client.diagnostics(path, version) == []
        assert client.log == []


FAILING = f"""
import lossless.interfaces.lsp.workspace as files
whole = files.lint_documents
def failing(documents, *rest):
    if any("boom" in document.text for document in documents):
        raise ZeroDivisionError("a mistake of ours")
    return whole(documents, *rest)
files.lint_documents = failing
{PROGRAM}"""


@spoken
async def test_a_mistake_of_ours_is_logged_and_the_next_text_is_checked(folder: Path) -> None:
    path = folder / "fabric.yaml"
    async with editor(folder, program=FAILING) as client:
        assert await client.open(path, INTENT) == []
        client.type(path, f"{INTENT}# boom\n")
        assert await client.hover(path, 0, 3) == ""
        assert client.log == ["not checked, by a mistake in lossless: ZeroDivisionError: a mistake of ours"]
        version = client.type(path, PCP)
        assert codes(await client.diagnostics(path, version)) == {"NIC009"}


STOPPED_CLOCK = """
import asyncio, socket, types
from lossless.interfaces.lsp import server

now = [0.0]

def waited():
    with socket.create_connection(("127.0.0.1", {port})) as gate:
        gate.recv(1)

async def sleep(seconds):
    await asyncio.to_thread(waited)
    now[0] += seconds

def running_loop():
    loop = asyncio.get_running_loop()
    return types.SimpleNamespace(time=lambda: now[0], create_task=loop.create_task)

server.asyncio = types.SimpleNamespace(**vars(asyncio))
server.asyncio.sleep, server.asyncio.get_running_loop = sleep, running_loop
"""
"""The server's clock stops, but for pauses, each of which is over when the test lets it end."""


@spoken
async def test_quick_typing_is_checked_once_and_as_it_ends(folder: Path) -> None:
    path = folder / "fabric.yaml"
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as gate:
        gate.setblocking(False)
        async with editor(
            folder, program=STOPPED_CLOCK.format(port=gate.getsockname()[1]) + PROGRAM
        ) as client:
            await client.open(path, INTENT)
            client.type(path, INTENT)
            pause, _ = await asyncio.wait_for(loop.sock_accept(gate), LONGEST_S)
            with pause:
                for _ in range(20):
                    version = client.type(path, intent_with("poll: 600ms", "pol: 600ms"))
                # Messages are taken in their order: when this one is answered, the server has all that was typed.
                await client.offered(path, 0, 0)
            said = await asyncio.wait_for(client.said[path.as_uri()].get(), LONGEST_S)
            assert said.version == version
            await client.hover(path, 0, 0)
            assert client.said[path.as_uri()].empty()


@spoken
async def test_what_is_closed_has_nothing_underlined(folder: Path) -> None:
    path = folder / "fabric.yaml"
    async with editor(folder) as client:
        assert await client.open(path, PCP) != []
        client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri()))
        )
        assert await client.diagnostics(path) == []


def test_a_text_that_was_never_saved_is_checked_by_its_language() -> None:
    async def talk() -> list[types.Diagnostic]:
        async with editor() as client:
            return await unsaved(client)

    assert codes(asyncio.run(talk())) == {"NIC009"}


async def unsaved(client: Editor) -> list[types.Diagnostic]:
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem("untitled:Untitled-1", "yaml", 0, PCP))
    )
    said = await asyncio.wait_for(client.said["untitled:Untitled-1"].get(), LONGEST_S)
    return list(said.diagnostics)


@pytest.mark.parametrize("raw", [b"", b"Content-Length: 3\r\n\r\n{}}", b"hello\n"])
def test_a_client_that_leaves_without_a_word_ends_the_server(raw: bytes) -> None:
    command = [sys.executable, "-c", PROGRAM, "lsp"]
    done = subprocess.run(command, input=raw, capture_output=True, timeout=LONGEST_S, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr == b""
    assert (b'"code": -32700' in done.stdout) == raw.startswith(b"Content")


@spoken
async def test_a_configuration_of_another_system_is_checked_while_it_is_typed(folder: Path) -> None:
    path = folder / "leaf1.cfg"
    text = (RULE_BASES / "switch-nxos.txt").read_text()
    path.write_text(text)
    async with editor(folder) as client:
        assert await client.open(path, text) == []
        version = client.type(path, text.replace(" weight 0 ecn", " weight 0"))
        assert codes(await client.diagnostics(path, version)) == {"ECN001"}


@spoken
async def test_other_files_of_such_a_name_draw_nothing(folder: Path) -> None:
    path = folder / "nginx.conf"
    path.write_text("daemon off;\n")
    async with editor(folder) as client:
        assert await client.open(path, "daemon off;\nqos off;\n") == []
