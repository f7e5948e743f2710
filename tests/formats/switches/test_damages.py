"""Each damage of ``tools/damage_systems.py``, done to one switch of each system, is what lint says of it."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

from lossless.api import Options, lint_documents
from lossless.formats.device_files.environment import render_template
from lossless.formats.inputs.switches import configuration_in
from lossless.formats.switches.registry import dialect
from lossless.ground.documents import load_text
from tests.strategies import fabric_of
from tools.damage_systems import INTENT, SPARE, SYSTEMS, verdict_of
from tools.damages import voq
from tools.damages.text import Lines, Site

if TYPE_CHECKING:
    from lossless.api import Report
    from lossless.ground.documents.text import Document
    from tools.damage_systems import Verdict

NAMED = Options(rdma_dscps=(26,))


class Done(NamedTuple):
    """A leaf after a damage at all of its ports: its text, and what is wrong there."""

    text: str
    verdict: Verdict


@cache
def leaf(name: str) -> Lines:
    """Return the text of a leaf as it is rendered, with its provisioning."""
    system = SYSTEMS[name]
    fabric = fabric_of(intent(name).data)
    file = next(file for file in dialect(name).files(fabric.switches[0]) if file.name == system.file)
    return system.provisioned(render_template(file.template, file.content).splitlines())


def done(name: str, damage: str) -> Done:
    system, lines = SYSTEMS[name], leaf(name)
    after = system.damages[damage](Site(lines, system.ports(lines), random.Random(1)))
    return Done("\n".join(after) + "\n", verdict_of({"leaf1": after}, system))


def linted(name: str, text: str, *, declared: bool = False) -> Report:
    """Lint the text of a leaf with its DSCP named, or beside the intent that declares it."""
    document = configuration_in(text, f"leaf1/{SYSTEMS[name].file}")
    assert document is not None
    return lint_documents([document, intent(name)]) if declared else lint_documents([document], NAMED)


@cache
def intent(name: str) -> Document:
    return load_text(INTENT.format(hardware=SYSTEMS[name].hardware), "fabric.yaml")


def errors(report: Report) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity == "error"}


CASES = [(name, damage) for name, system in SYSTEMS.items() for damage in system.damages]
FAULTS = [case for case in CASES if not case[1].startswith("harmless")]
HARMLESS = [case for case in CASES if case[1].startswith("harmless")]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_rendered_leaf_is_sound_and_lint_is_silent(name: str) -> None:
    assert not any(verdict_of({"leaf1": leaf(name)}, SYSTEMS[name]))
    assert [f for f in linted(name, "\n".join(leaf(name))).findings if f.severity != "info"] == []


@pytest.mark.parametrize(("name", "damage"), FAULTS)
def test_lint_says_of_each_damage_what_it_does(name: str, damage: str) -> None:
    text, verdict = done(name, damage)
    report = linted(name, text)
    if verdict.named:
        assert errors(report)
    elif verdict.other or verdict.unclear:
        assert report.findings or report.not_checked
    elif not verdict.intended:
        assert not errors(report)


@pytest.mark.parametrize(("name", "damage"), FAULTS)
def test_beside_the_intent_each_port_that_it_uses_counts(name: str, damage: str) -> None:
    """A port without any line of a class stands outside where its DSCP is named, and is used by the intent."""
    text, verdict = done(name, damage)
    if verdict.intended:
        assert errors(linted(name, text, declared=True))


@pytest.mark.parametrize(("name", "damage"), HARMLESS)
def test_harmless_changes_are_no_errors(name: str, damage: str) -> None:
    text, verdict = done(name, damage)
    assert not any(verdict)
    assert not errors(linted(name, text))
    assert not errors(linted(name, text, declared=True))


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_third_of_the_damages_at_least_makes_ports_lossy(name: str) -> None:
    lossy = [damage for damage in SYSTEMS[name].damages if done(name, damage).verdict.named]
    assert len(lossy) * 10 > len(SYSTEMS[name].damages) * 3 + 10


def test_spare_ports_are_no_ports_of_the_intent() -> None:
    assert {port for name in SYSTEMS for port in SYSTEMS[name].ports(leaf(name))}.isdisjoint(SPARE)


@pytest.mark.parametrize("damage", voq.DAMAGES)
def test_lint_says_of_each_damage_of_a_chassis_what_it_does(damage: str) -> None:
    cards = voq.chassis()
    voq.DAMAGES[damage](cards, random.Random(3))
    lossy, other = voq.verdict(cards)
    documents = [load_text(voq.text(rows), f"{name}/config_db.json") for name, rows in cards.items()]
    report = lint_documents(documents, NAMED)
    said = [finding for finding in report.findings if finding.severity != "info"]
    assert bool(said) == bool(lossy or other)
    assert errors(report) or not lossy
