"""No name in any input reaches a terminal, the log of a CI job, Markdown, HTML or XML as anything but text.

Every command is held to it: one that is new and not listed here fails.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from lossless import api
from lossless.ground.basics.errors import InputError
from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options.lint import FORMATS
from tests.interfaces.cli import hostile
from tests.interfaces.cli.conftest import Cli, Outcome
from tests.interfaces.cli.hostile import HOSTILE
from tests.paths import ROOT

pytestmark = pytest.mark.xdist_group("hostile_text")
FORMS_OF_WORDS = ("text", "github", "junit", "markdown")
REPORTS: list[dict[str, Outcome]] = []
HARMFUL = ("Cc", "Cf", "Cs", "Zl", "Zp")
INTENT, SWITCH, BROKEN, SUBNET = "fabric.yaml", "leaf.json", "broken.json", "subnet.yaml"
FILE = f"{HOSTILE}.json".replace("/", "")
"""A file whose name is hostile."""
ARGUMENTS: dict[str, Sequence[Sequence[str]]] = {
    "lint": [
        *([*files, "--format", form] for form in FORMATS for files in ([INTENT, SWITCH], ["."])),
        [BROKEN],
        [INTENT, SWITCH, "--statistics", "-v"],
        [INTENT, SWITCH, "--quiet"],
        [SWITCH, "--diff", "--unsafe-fixes"],
        [INTENT, SWITCH, *(part for form in FORMATS for part in ("--output", f"{form}=report.{form}"))],
    ],
    "render": [[INTENT, "-o", "out"], [INTENT, "-o", "out", "--diff"], [SUBNET, "-o", "out2"]],
    "verify": [[INTENT, SWITCH, "--format", form] for form in FORMATS] + [[HOSTILE, SWITCH, "--since", SWITCH]],
    "plan": [
        *([INTENT, INTENT, "--format", form] for form in ("text", "json")),
        [SWITCH, INTENT],
        [HOSTILE, INTENT, "-o", "planned"],
        [INTENT, INTENT, "--output", "html=plan.html"],
    ],
    "acceptance": [
        *([path, "--format", form] for path in (INTENT, SUBNET) for form in ("text", "json")),
        [INTENT, "-o", "accepted"],
        [INTENT, "--results", "profiles"],
        [INTENT, "--output", "html=acceptance.html"],
        [INTENT, "--results", "profiles", "--output", "html=outcomes.html"],
    ],
    "diff": [
        *([SWITCH, INTENT, "--device", "leaf2", "--format", form] for form in ("text", "json", "patch")),
        *([".", INTENT, "--format", form, "--patch", form] for form in ("text", "json")),
    ],
    "import": [[SWITCH], [SWITCH, "-o", "imported.yaml"], [SWITCH, "--cabling", "cables.csv"]],
    "headroom": [[path, "--format", form] for path in (INTENT, SWITCH) for form in ("text", "json")],
    "simulate": [
        *([path, "--closed-form", "--format", form] for path in (INTENT, SWITCH) for form in ("text", "json")),
        [INTENT, "--closed-form", "--output", "html=simulate.html"],
    ],
    "sweep": [[INTENT, "--vary", HOSTILE], [SWITCH, "--vary", "dynamic_th=0", "--class", HOSTILE]],
    "tune": [[INTENT, "--class", HOSTILE], [INTENT, "--workload", HOSTILE], [HOSTILE]],
    "workload": [[INTENT, "--format", form] for form in ("text", "json")],
    "storm": [
        [INTENT, "--from", "host2", "--svg", "storm.svg"],
        [INTENT, "--from", "host2", "--format", "json"],
        [INTENT, "--from", HOSTILE],
    ],
    "topology": [
        [INTENT, "--svg", "fabric.svg"],
        [INTENT, "--format", "json"],
        [SUBNET],
        [INTENT, "--against", "plain.yaml"],
        [INTENT, "--against", "plain.yaml", "--pin"],
        [INTENT, "--from", "cables.csv"],
        ["--from", "cables.csv"],
    ],
    "trace": [
        *([INTENT, "--from", "host2", "--to", "host3", "--dscp", "26", "--format", form] for form in ("text", "json")),
        [SWITCH, "--from", HOSTILE, "--to", "Ethernet0", "--dscp", "26"],
    ],
    "opensm": [[SUBNET], ["opensm.conf"]],
    "rule": [["PFC001"], [HOSTILE]],
    "rules": [["--format", form] for form in ("text", "json", "md")],
    "formats": [["--format", form] for form in ("text", "json", "md")],
    "profiles": [[], ["--profiles", "profiles"], [HOSTILE]],
    "baseline": [[INTENT, SWITCH], [INTENT, SWITCH, "--output", "known.json"]],
    "collector": [[], ["--switch"]],
    "exporter": [["--once", "--redis", f"./{HOSTILE}"], ["--once", "--database-config", HOSTILE]],
    "completion": [["bash"]],
    "schema": [[], ["--config"]],
    "lsp": [[HOSTILE]],
}  # fmt: skip
"""What each command is asked with hostile files around it."""


def is_read(file: str, data: Any) -> bool:
    """Return whether a file is read, whatever is found in it: one rule is enough to ask."""
    try:
        return not api.lint_text(json.dumps(data).encode(), file, api.Options(select=("PFC001",))).errors
    except InputError:
        return False


@pytest.fixture(scope="session")
def survivors() -> dict[str, Any]:
    """Return inputs in which all is hostile that is still read."""
    files = {INTENT: hostile.intent(), SUBNET: hostile.infiniband(), BROKEN: hostile.switch()}
    return {file: hostile.survivors(data, partial(is_read, file)) for file, data in files.items()}


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, survivors: dict[str, Any]) -> Path:
    """Fill the current folder with hostile files."""
    monkeypatch.chdir(tmp_path)
    for name, data in survivors.items():
        hostile.write(tmp_path, name, data)
    hostile.write(tmp_path, SWITCH, hostile.named_switch())
    hostile.write(tmp_path, "plain.yaml", hostile.intent())
    for name, text in hostile.other_files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "profiles" / "switches").mkdir(parents=True)
    (tmp_path / "profiles" / "switches" / "x.toml").write_text(f"name = {json.dumps(HOSTILE[:20])}\n")
    (tmp_path / FILE[:200]).write_text(json.dumps(survivors[BROKEN]))
    return tmp_path


def assert_harmless(text: str, *, form: str = "text") -> None:
    """Assert that text holds nothing which a terminal or a CI runner obeys, and that no name starts a line."""
    found = {char for char in text if unicodedata.category(char) in HARMFUL} - {"\n", "\t"}
    assert not found, f"{found!r} in {text!r}"
    ours = r"::(error|warning|notice) (file|title)=[^\n]*" if form == "github" else r"(?!)"
    for line in text.split("\n"):
        # The gate spells a colon out where a name has started a line: that is its last resort.
        assert not re.match(r"\s*(::|\\x3a:)", line) or re.fullmatch(ours, line), line
        assert not re.search(r"##(\[|vso\[)", line), line


def assert_form(form: str, text: str) -> None:
    """Assert that a report is what programs take it for, with no link and no element that a name has brought."""
    if form in ("json", "sarif", "gitlab") and text:
        json.loads(text)
    elif form == "junit":
        ET.fromstring(text)
    elif form == "html":
        assert not re.search(r"<(script|img|a|iframe|form)\b|<[^>]*\son\w+=", text)
    elif form == "markdown":
        for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
            for child in token.children or ():
                assert (
                    child.type in ("text", "strong_open", "strong_close", "softbreak")
                    or child.content == "<br>"
                )


def check(done: Outcome, form: str) -> None:
    """Assert all that holds for what a command has written."""
    assert_harmless(done.out, form=form)
    assert_harmless(done.err)
    assert "Traceback" not in done.err
    assert_form(form, done.out)


def form_of(arguments: Sequence[str]) -> str:
    """Return the format that is asked for."""
    return arguments[arguments.index("--format") + 1] if "--format" in arguments else "text"


def test_every_command_is_held_to_it() -> None:
    assert ARGUMENTS.keys() == COMMANDS.keys()


@pytest.mark.tools("hostile")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_name_in_any_input_is_more_than_text(command: str, cli: Cli) -> None:
    for arguments in ARGUMENTS[command]:
        form = form_of(arguments)
        check(cli(command, *arguments), "json" if form == "patch" else form)
    for file in (*Path().glob("report.*"), *Path().glob("*.html")):
        assert_harmless(file.read_text(encoding="utf-8"), form=file.suffix[1:])
        assert_form(file.suffix[1:], file.read_text(encoding="utf-8"))
    for file in Path().glob("*.svg"):
        assert_harmless(file.read_text(encoding="utf-8"))
        assert not {"script", "img", "a"} & {
            element.tag.rpartition("}")[2] for element in ET.parse(file).iter()
        }


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_argument_is_more_than_text(command: str, cli: Cli) -> None:
    for arguments in ([HOSTILE], [f"--{HOSTILE}"], [HOSTILE, HOSTILE], [FILE[:200]]):
        check(cli(command, *arguments), "text")
    check(cli(f"{command}{HOSTILE}"), "text")


def reports(cli: Cli, file: str, data: Any) -> dict[str, Outcome]:
    """Return what one run says of a file in each of some forms; standard output is given what files are."""
    hostile.write(Path(), file, data)
    others = [Path(form) for form in FORMS_OF_WORDS if form != "text"]
    for other in others:
        other.unlink(missing_ok=True)
    done = cli("lint", file, *(part for other in others for part in ("--output", f"{other}={other}")))
    return {"text": done} | {
        str(other): Outcome(done.code, other.read_text(encoding="utf-8"), done.err) for other in others
    }


@pytest.mark.tools("hostile")
def test_each_text_and_key_of_an_intent_alone_is_refused_or_reported_as_text(cli: Cli) -> None:
    for make in (hostile.intent, hostile.infiniband):
        for place, kind in hostile.places(make()):
            for form, said in reports(cli, INTENT, hostile.replaced(make(), place, kind)).items():
                check(said, form)


def reports_of_switches(cli: Cli) -> list[dict[str, Outcome]]:
    """Return what is said of a switch with each text and key hostile, one of each kind; asked for once."""
    if not REPORTS:
        seen = set()
        for place, kind in hostile.places(hostile.switch()):
            of_kind = (place[0], len(place), place[-1] if len(place) == 3 else kind)
            if of_kind not in seen:
                seen.add(of_kind)
                REPORTS.append(reports(cli, SWITCH, hostile.replaced(hostile.switch(), place, kind)))
    return REPORTS


@pytest.mark.tools("hostile")
@pytest.mark.parametrize("form", FORMS_OF_WORDS)
def test_each_text_and_key_of_a_switch_alone_is_reported_as_text(form: str, cli: Cli) -> None:
    found = reports_of_switches(cli)
    assert len(found) > 100
    for each in found:
        check(each[form], form)


@pytest.mark.usefixtures("folder")
def test_colours_are_our_own_alone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = cli("lint", INTENT, SWITCH)
    assert "\x1b[1;31m" in done.out
    plain = re.sub(r"\x1b\[(0|1|34|1;3[136])m", "", done.out + done.err)
    assert_harmless(plain)
    assert "\\x1b[1;31m" in plain


@pytest.mark.usefixtures("folder")
def test_json_holds_the_very_names(cli: Cli) -> None:
    findings = json.loads(cli("lint", SWITCH, "--format", "json").out)["findings"]
    assert any(HOSTILE in part for finding in findings for part in finding["path"] if isinstance(part, str))


GATE = "lossless/interfaces/cli/terminal.py"
APART = "lossless/analysis/opensm/questions.py"
"""A program of its own, which answers the process that started it through a pipe."""


WRITING = re.compile("print|write|echo|stderr")
"""Words of which a file has one that writes to a stream."""


def _called(call: ast.Call) -> str:
    """Return what is called, as text, where its last word may be one that writes."""
    last = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return ast.unparse(call.func) if WRITING.search(last) else ""


def writes(tree: ast.AST) -> list[str]:
    """Return what writes to a standard stream."""
    found = []
    for node in ast.walk(tree):
        text = _called(node) if isinstance(node, ast.Call) else ""
        direct = text == "print" or text.endswith(("echo", "secho", "print_exc"))
        if direct or re.fullmatch(r"(sys\.(__)?std(out|err)(__)?)(\.buffer)?\.write(lines)?", text):
            found.append(text)
        if isinstance(node, ast.keyword) and node.arg == "stderr" and ast.unparse(node.value) == "True":
            found.append("Console(stderr=True)")
    return found


def test_nothing_but_the_gate_writes_to_a_stream() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "lossless").rglob("*.py")}
    said = {str(path.relative_to(ROOT)): text for path, text in texts.items() if WRITING.search(text)}
    found = {name: writes(ast.parse(text)) for name, text in said.items()}
    assert {name for name, calls in found.items() if calls} <= {GATE, APART}
