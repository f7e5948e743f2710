"""Many files are checked in several processes; nothing of what is said may depend on that."""

from __future__ import annotations

import json
import os
from multiprocessing.context import ForkContext
from pathlib import Path
from typing import Any

import pytest

from lossless import api
from lossless.checks.lint import files, workers
from lossless.ground.basics import processes
from lossless.ground.basics.errors import LosslessError
from lossless.ground.documents import load
from lossless.ground.documents.excerpts import Excerpts, places
from lossless.output.report.columns import PLAIN
from lossless.output.report.lint.json_format import json_text
from lossless.output.report.lint.summary import summary_text
from lossless.output.report.lint.text import findings_text
from tests.checks.rules.checking import patched
from tests.checks.rules.snippets import BASES
from tests.formats.sonic import shapes

FILES = files.FEWEST_FOR_WORKERS + 5


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Leaves of which every third is wrong in one way, one linked to a spine, one broken and one foreign file."""
    wrong: list[dict[str, Any]] = [
        {},
        {"PFC_WD": {"Ethernet4": None}},
        {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_drop_probability": "0"}}},
    ]
    for number in range(FILES):
        name = {"DEVICE_METADATA": {"localhost": {"hostname": f"leaf{number}"}}}
        document = patched("wired-leaf.json", {**wrong[number % 3], **name})
        write(tmp_path / f"leaf{number}" / "config_db.json", document.text)
    slow = {"PORT": {"Ethernet8": {"mtu": "9000"}}}
    write(tmp_path / "spine1" / "config_db.json", patched("wired-spine.json", slow).text)
    write(tmp_path / "broken" / "config_db.json", '{"PORT": {')
    write(tmp_path / "other.json", '{"name": "not ours"}')
    write(tmp_path / "fabric.yaml", (BASES / "leaf-spine.yaml").read_text())
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def said(report: api.Report) -> tuple[object, ...]:
    """Return all that people and programs are shown of a report."""
    text = [*findings_text(report, PLAIN), summary_text(report)]
    return text, json.loads(json_text(report)), report.errors, report.not_checked


@pytest.mark.skipif(not processes.usable(), reason="one processor, or no processes that start as copies")
def test_processes_say_what_one_process_says(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = api.lint([repository])
    monkeypatch.setattr(files, "FEWEST_FOR_WORKERS", 10**6)
    alone = api.lint([repository])
    assert said(several) == said(alone)
    assert {finding.code for finding in several.findings} >= {"WD001", "ECN003", "LNK002"}
    assert [error.file for error in several.errors] == [str(repository / "broken" / "config_db.json")]


@pytest.mark.skipif(not processes.usable(), reason="one processor, or no processes that start as copies")
def test_processes_say_the_same_of_files_in_other_forms(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What two files show together is said where each has it, whatever their forms."""
    forms = [*shapes.WHOLE.values()]
    for number, path in enumerate(sorted(repository.glob("*/config_db.json"))):
        if path.parent.name != "broken":
            path.write_text(json.dumps(forms[number % len(forms)](json.loads(path.read_text())), indent=1))
    several = api.lint([repository])
    monkeypatch.setattr(files, "FEWEST_FOR_WORKERS", 10**6)
    alone = api.lint([repository])
    assert said(several) == said(alone)
    assert {finding.code for finding in several.findings} >= {"WD001", "ECN003", "LNK002", "CFG012"}
    for finding in several.findings:
        for origin in (finding.origin, *(related.origin for related in finding.related)):
            assert Path(origin.file).exists()
            data = json.loads(Path(origin.file).read_text()) if origin.file.endswith(".json") else {}
            assert (
                origin.path[:1] == () or not data or isinstance(origin.path[0], int) or origin.path[0] in data
            )


@pytest.mark.skipif(not processes.usable(), reason="one processor, or no processes that start as copies")
def test_few_files_start_no_processes(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("started")

    monkeypatch.setattr(workers, "check_in_processes", refuse)
    assert api.lint([repository / "leaf1"]).files == 1
    with pytest.raises(AssertionError, match="started"):
        api.lint([repository])


@pytest.mark.skipif(not processes.usable(), reason="one processor, or no processes that start as copies")
def test_a_process_that_is_ended_from_outside_is_an_error(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "check_device", lambda *_: os._exit(9))
    with pytest.raises(LosslessError, match="ended from outside"):
        api.lint([repository])


def test_a_machine_without_shared_locks_checks_in_one_process(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(ForkContext, "Lock", refuse)
    monkeypatch.setattr(workers, "check_in_processes", refuse)
    assert {finding.code for finding in api.lint([repository]).findings} >= {"WD001", "ECN003", "LNK002"}


def test_excerpts_answer_from_what_they_hold_and_read_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text((BASES / "leaf.json").read_text())
    document, held, other = load(str(file)), ("PFC_WD", "Ethernet0"), ("PFC_WD", "GLOBAL")
    reads: list[str] = []

    def reading(name: str) -> Any:
        reads.append(name)
        return load(name)

    excerpts = Excerpts(str(file), places(document, [held]), reading)
    for mark in ("key", "value"):
        assert excerpts.locate_many([held], mark) == document.locate_many([held], mark)
    number = document.locate(held).line
    assert excerpts.line_text(number) == document.line_text(number)
    assert reads == []
    assert excerpts.locate_many([held, other]) == document.locate_many([held, other])
    assert excerpts.line_text(1) == document.line_text(1)
    assert reads == [str(file)]


@pytest.fixture
def intents(tmp_path: Path) -> Path:
    """Intents of which every third is wrong and every fourth says why that is accepted; one broken, one foreign."""
    sound = (BASES / "leaf-spine.yaml").read_text()
    wrong = sound.replace("hosts_per_leaf: 4", "hosts_per_leaf: 9")
    for number in range(files.FEWEST_INTENTS):
        text = wrong if number % 3 == 0 else sound
        accepted = "# lossless: ignore[TOP001] -- agreed\n" if number % 4 == 0 else ""
        write(tmp_path / f"site{number}.yaml", text.replace("topology:", f"{accepted}topology:"))
    write(tmp_path / "fabric.yaml", "lossless: v1\nfabric: [\n")
    write(tmp_path / "unknown.yaml", sound + "colour: blue\n")
    write(tmp_path / "other.yaml", "name: not ours\n")
    return tmp_path


@pytest.mark.skipif(not processes.usable(), reason="one processor, or no processes that start as copies")
def test_processes_say_of_intents_what_one_process_says(
    intents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_several = api.lint([intents])
    monkeypatch.setattr(files, "FEWEST_INTENTS", 1000)
    in_one = api.lint([intents])
    assert said(in_several) == said(in_one)
    assert in_one.findings
    assert in_one.suppressed
    assert len(in_one.errors) == 2
    shown = [in_several.documents[finding.origin.file] for finding in in_several.findings]
    assert any(isinstance(document, Excerpts) for document in shown)
