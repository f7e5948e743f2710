"""The walks of docs/architecture.md: their commands call these functions, which return these records, in this order."""

from __future__ import annotations

import json
import re
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from lossless.checks.rules.documentation import rule_of
from lossless.interfaces.cli import main
from tests.checks.rules.snippets import snippets
from tests.paths import ROOT, RULE_BASES
from tools.architecture import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

MOST_STEPS = 7


class WalkStep(NamedTuple):
    """A step of a walk: the module and the name of a function in it, and the record that it returns."""

    module: str
    function: str
    record: str


class Walk(NamedTuple):
    """A value on its way: the command that it is given to, and the functions that it passes."""

    title: str
    command: str
    steps: tuple[WalkStep, ...]


def walks() -> Iterator[Walk]:
    """Yield the walks of the map."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for part in text.partition("\n## Three walks\n")[2].partition("\n## ")[0].split("\n### ")[1:]:
        command = re.search(r"^`lossless ([^`]*)`", part, re.MULTILINE)
        assert command is not None, part
        rows = re.findall(r"^\| \d \| `([^`]+)` `([^`]+)` \|.*\| `(\w+)` \|$", part, re.MULTILINE)
        assert len(rows) == len(re.findall(r"^\| \d", part, re.MULTILINE))
        yield Walk(part.partition("\n")[0], command[1], tuple(WalkStep(*row) for row in rows))


WALKS = tuple(walks())


class ReturnedRecords:
    """Every record that some functions return, and that generators yield, in the order of time; in all threads."""

    def __init__(self, steps: tuple[WalkStep, ...]) -> None:
        self._names = {(str(PACKAGE / step.module), step.function): step for step in steps}
        self.seen: list[WalkStep] = []

    def __enter__(self) -> ReturnedRecords:
        self._before = sys.getprofile()
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)
        threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, value: Any) -> None:
        if event == "return":
            step = self._names.get((frame.f_code.co_filename, frame.f_code.co_qualname))
            if step is not None and _is_record(value, step):
                self.seen.append(step)


def _is_record(value: Any, step: WalkStep) -> bool:
    """Return whether a value is the record of a step, or a tuple that begins with one; rows are plain objects."""
    first = value[0] if type(value) is tuple and value else value
    if step.record == "TableRows":
        return isinstance(first, dict) and bool(first)
    return type(first).__name__ == step.record


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay a small intent, and the Bad example of the rule about alpha, into the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fabric.yaml").write_text((RULE_BASES / "leaf-spine.yaml").read_text())
    module = import_module("lossless.checks.rules.buffers.buf010_alpha_differs_on_like_ports")
    bad = snippets(module.__doc__ or "", "Bad")[0]
    (tmp_path / "config_db.json").write_text(json.dumps(bad.document().data))


def test_there_are_three_walks_of_few_steps() -> None:
    assert [walk.command.split()[0] for walk in WALKS] == ["render", "lint", "simulate"]
    assert all(1 < len(walk.steps) <= MOST_STEPS for walk in WALKS)
    assert rule_of("BUF010").name == "alpha-differs-on-like-ports"


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: str(walk.title))
def test_a_walk_passes_its_functions_in_order(walk: Walk, capsys: pytest.CaptureFixture[str]) -> None:
    with ReturnedRecords(walk.steps) as records:
        code = main([*walk.command.split(), *(["--seeds", "1"] if walk.command.startswith("sim") else [])])
    assert code == 0, capsys.readouterr().err
    assert tuple(dict.fromkeys(records.seen)) == walk.steps


def test_a_walk_ends_at_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The DSCP is in the file, the alpha in the finding, the size in the verdict."""
    assert main(WALKS[0].command.split()) == 0
    rendered = json.loads((tmp_path / "out" / "leaf1" / "qos.json").read_text())
    assert rendered["DSCP_TO_TC_MAP"]["AZURE"]["26"] == "3"
    assert main([*WALKS[1].command.split(), "--format", "json"]) == 0
    assert "alpha 1/2" in capsys.readouterr().out
    assert main([*WALKS[2].command.split(), "--seeds", "1"]) == 0
    assert "incast of 3 NICs into host1:port1, 65,536 B each" in capsys.readouterr().out
