"""XOFF of real switches in the packet-level model is that of closed forms, with what groups reserve on top."""

from __future__ import annotations

import pytest

from lossless.analysis.buffers.ecn_marking import group_threshold_bytes, most_parts, reserves, trigger
from lossless.analysis.simulation.engine.run import Simulation, prepare
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.ports import profile_of
from lossless.analysis.simulation.question.request import Question
from lossless.analysis.simulation.question.scenario import Scenario, scenario
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.findings import MissingInput
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View

INTENT = """\
lossless: v1
fabric: one
transport: rocev2
preset: pfc-only
hardware:
  leaf: {{profile: {profile}, hwsku: {hwsku}}}
  spine: {{profile: {profile}, hwsku: {hwsku}}}
  nic: connectx-7
topology:
  leaf_spine:
    leaves: 1
    spines: 1
    hosts_per_leaf: 7
    host_links: 1 x {rate}
    uplinks: 1 x {rate}
    oversubscription: 7
    cables: {{host: 5m, uplink: 40m}}
"""
SENDERS = 6
SWITCHES = (
    ("nvidia-sn5600", "ACS-SN5600", "400G"),
    ("nvidia-sn3700", "ACS-MSN3700", "100G"),
    ("arista-7050cx3", "Arista-7050CX3-32S-C32", "100G"),
    ("arista-7260cx3", "Arista-7260CX3-C64", "100G"),
    ("dell-z9332f", "DellEMC-Z9332f-O32", "400G"),
)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


def posed(profile: str, hwsku: str, rate: str) -> Scenario:
    text = INTENT.format(profile=profile, hwsku=hwsku, rate=rate)
    asked = scenario(
        View(resolve(load_intent(load_text(text, "fabric.yaml")))),
        Question(nics=SENDERS + 1, size_bytes=1 << 30),
    )
    assert isinstance(asked, Scenario), asked
    return asked


@pytest.mark.parametrize(("profile", "hwsku", "rate"), SWITCHES, ids=lambda value: value)
def test_six_senders_pause_where_the_closed_form_says(profile: str, hwsku: str, rate: str) -> None:
    asked = posed(profile, hwsku, rate)
    wire = asked.topology.wires[asked.topology.wires_of[asked.target][0]]
    switch = asked.topology.switch_of[wire.a]
    buffer = profile_of(switch, wire.a_port, asked.classes[0])
    assert buffer is not None
    assert not isinstance(buffer, MissingInput)
    closed = trigger(switch, buffer)
    assert not isinstance(closed, MissingInput)
    assert closed.alpha is not None
    pool = closed.pool_bytes // most_parts(switch)
    wanted = group_threshold_bytes(closed.alpha, pool, SENDERS)
    wanted += buffer.reserved_bytes if reserves(switch) else 0
    held = held_at_xoff(asked)
    assert len(held) == SENDERS
    assert all(abs(each - wanted) <= 2 * asked.frame_bytes + switch_cell(asked) for each in held)


def switch_cell(asked: Scenario) -> int:
    """Return a cell: a group holds whole ones."""
    return max(memory.cell_bytes for memory in asked.switches.values())


def held_at_xoff(asked: Scenario) -> list[int]:
    """Return what groups hold without headroom once all that receive have asked for a pause."""
    simulation = Simulation(instantiate(asked, 1).network)
    now_ns = 0.0
    while (simulation.state.groups["first_pause_at"] >= 0).sum() < SENDERS:
        now_ns += 50
        assert not simulation.advance(now_ns)
    groups = simulation.state.groups
    return [int(each["bytes"] - each["headroom_used"]) for each in groups if each["first_pause_at"] >= 0]
