"""Laws between commands on deployed fabrics of several switches: two tiers and three.

Switches of SONiC in a sound tree lose rows and values, or get some that do harm: one of them, a tier, or all. Each
command is asked for DSCP 26.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from lossless.api import Options, headroom_of_ports, lint, load_fabrics, render, simulate, trace
from lossless.checks.trace import running
from lossless.formats.inputs.fabrics import documents_at
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.view import View
from tests.all_cases import some
from tests.chain import contradictions, is_of_buffers, of_chain, unsafe
from tests.trees import DAMAGES, SCOPES, TOPOLOGIES, damaged, ends, of_tier, tree, written
from tools.damage_systems import INTENT, SYSTEMS

if TYPE_CHECKING:
    from tests.trees import Tree

NAMED = Options(rdma_dscps=(26,))
WHERE = ("leaf1", "spine1", "leaf", "spine", "super", "")
"""Which switches are damaged: those whose names begin so."""
CASES = (
    ("two tiers", "leaf1", "hosts"),
    ("three tiers", "leaf1", "uplinks"),
    ("two tiers", "leaf", "all"),
    ("three tiers", "spine", "uplinks"),
    ("two tiers", "spine1", "one"),
    ("three tiers", "super", "all"),
)
DRAWN = st.tuples(st.sampled_from([*DAMAGES]), st.sampled_from(WHERE), st.sampled_from(SCOPES))
KNOWN = pytest.mark.parametrize("topology", TOPOLOGIES)


def damage_to(made: Tree, damage: str, where: str, scope: str) -> Tree:
    """Return a tree after a damage to some of its switches."""
    for switch in of_tier(made, where):
        damaged(made, switch, damage, scope)
    return made


def paths(made: Tree) -> list[tuple[str, str]]:
    """Return paths between hosts: from leaf to leaf in both directions, and within a leaf."""
    first, second, *_, last = ends(made)
    return [(first, last), (last, first), (second, first)]


def broken_laws(made: Tree, folder: Path) -> list[str]:
    """Return how the commands contradict each other on a tree."""
    place = written(made, folder)
    report = lint([place], NAMED)
    documents, _ = documents_at(place)
    (fabric,) = load_fabrics(documents, NAMED).fabrics
    view = View(fabric)
    found = []
    for source, target in paths(made):
        try:
            followed = running.trace(view, source, target, 26, findings=report.findings)
        except LosslessError:
            continue
        found += contradictions(followed, report)
    reasons = unsafe(place, NAMED)
    if reasons and not is_of_buffers(report):
        found.append(f"unsafe for {reasons}, and lint has nothing of buffers")
    return found


@KNOWN
def test_a_sound_tree_is_sound_in_every_command(topology: str, tmp_path: Path) -> None:
    made = tree(topology)
    report = lint([written(made, tmp_path)], NAMED)
    assert [finding.code for finding in report.findings if finding.severity != "info"] == []
    assert broken_laws(made, tmp_path) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_commands_agree_on_a_damaged_tree(damage: str, tmp_path: Path) -> None:
    """At ports of hosts on one leaf, at uplinks of all of a tier, and in all of a switch."""
    for topology, *case in some(CASES, 2, damage):
        assert broken_laws(damage_to(tree(topology), damage, *case), tmp_path) == [], case


def test_commands_agree_where_the_dscp_leaves_the_priority_whose_pauses_are_for_another_group(
    tmp_path: Path,
) -> None:
    made = tree("two tiers")
    for damage in ("DSCP 26 to TC 4", "group 3 pauses 4"):
        damage_to(made, damage, "spine2", "all")
    assert broken_laws(made, tmp_path) == []


@pytest.mark.laws
@settings(max_examples=25)
@given(st.sampled_from([*TOPOLOGIES]), st.lists(DRAWN, min_size=1, max_size=2))
def test_commands_agree_on_trees_with_drawn_damages(topology: str, cases: list[tuple[str, str, str]]) -> None:
    made = tree(topology)
    for case in cases:
        damage_to(made, *case)
    with tempfile.TemporaryDirectory() as folder:
        assert broken_laws(made, Path(folder)) == []


# --- rows that go ---

APPLIED = (
    *("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"),
    *("PORT_QOS_MAP", "QUEUE", "SCHEDULER", "WRED_PROFILE", "PFC_WD"),
    *("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "CABLE_LENGTH"),
)
"""Tables whose rows daemons apply to ports."""
FAULTS = (
    *("DSCP 26 to TC 0", "TC 3 to group 0", "TC 3 to queue 4", "pause of 3 to queue 4", "own map"),
    *("a DSCP map that is not there", "no PFC", "PFC empty", "PFC of 4", "no headroom", "headroom of 1 kB"),
    *("a lossy profile for the queue", "pools without type", "no watchdog rows"),
)
"""Damages that make ports of a leaf faulty, without a row that is itself the fault of another port."""
HARMFUL = ("an empty map", "a word in a map", "a queue out of range", "a group without profile")
"""Damages that are rows which do harm by being there."""


def faulty_ports(made: Tree, folder: Path) -> set[str]:
    """Return the ports that errors of the chain name; one that names none is about all of its switch."""
    found: set[str] = set()
    for finding in of_chain(lint([written(made, folder)], NAMED).findings):
        switch = Path(finding.origin.file).parent.name
        named = {part for element in finding.elements for part in element.split(" - ") if ":" in part}
        found |= named or {f"{switch}:{port}" for port in made[switch]["PORT"]}
    return found


@pytest.mark.parametrize("fault", some(FAULTS, 2, "faults"))
def test_removing_another_row_never_takes_an_error_from_a_port(fault: str, tmp_path: Path) -> None:
    sound, made = tree("two tiers"), damage_to(tree("two tiers"), fault, "leaf1", "uplinks")
    before = faulty_ports(made, tmp_path)
    assert before
    others = [
        (switch, table, key)
        for switch, table in itertools.product(("leaf1", "spine1"), APPLIED)
        for key, row in made[switch][table].items()
        if row == sound[switch][table].get(key)
    ]
    for switch, table, key in some(others, 12, fault):
        row = made[switch][table].pop(key)
        assert before <= faulty_ports(made, tmp_path), (switch, table, key)
        made[switch][table][key] = row


@KNOWN
@pytest.mark.parametrize("row", HARMFUL)
def test_a_row_that_does_harm_makes_ports_of_its_own_switch_faulty(
    topology: str, row: str, tmp_path: Path
) -> None:
    """Without it they are sound again: it is the only difference to a sound tree."""
    found = faulty_ports(damage_to(tree(topology), row, "leaf1", "all"), tmp_path)
    assert "leaf1" in {port.partition(":")[0] for port in found}
    assert "leaf2" not in {port.partition(":")[0] for port in found}


# --- what a system does not state ---

CHIP = "the switch computes headroom itself, and no file of its system states it"


@pytest.mark.parametrize("system", SYSTEMS)
def test_headroom_of_other_systems_is_not_checked_in_any_command(system: str, tmp_path: Path) -> None:
    made = SYSTEMS[system]
    intent, out = tmp_path / "fabric.yaml", tmp_path / "out"
    intent.write_text(INTENT.format(hardware=made.hardware))
    render(intent, out)
    lines = made.provisioned((out / "leaf1" / made.file).read_text().splitlines())
    place = tmp_path / "leaf1"
    place.mkdir()
    (place / made.file).write_text("\n".join(lines) + "\n")
    report = lint([place], NAMED)
    assert [finding.code for finding in report.findings if finding.severity != "info"] == []
    assert ("BUF001", CHIP) in {(left.code, left.reason) for left in report.not_checked}
    first, second, *_ = made.ports(lines)
    followed = trace(place, first, second, 26, options=NAMED).trace
    assert not followed.broken
    assert {hop.stages.priority_group.headroom_bytes for hop in followed.hops} == {None}
    closed = simulate(place, NAMED)[0].closed
    assert (closed.overall, f"headroom: {CHIP}" in closed.not_checked) == ("not checked", True)
    assert {kind.configured for kind in headroom_of_ports(place, options=NAMED).comparisons} == {
        MissingInput(CHIP)
    }
    # Beside switches of SONiC they are no less unknown.
    written(tree("two tiers"), tmp_path / "both")
    shutil.copytree(place, tmp_path / "both" / "other")
    assert f"headroom: {CHIP}" in simulate(tmp_path / "both", NAMED)[0].closed.not_checked
