"""The walk from a stormed port to where its pauses come from, against a fabric in which the sources are known.

Four leaves with two hosts each, and two spines. Flows have one spine each. A host that storms, or an incast, blocks a
port of its leaf; every switch pauses the port by which a flow arrives that goes on at a blocked port.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
from lossless.checks.rules.storms.pause_walk import PausedPort, PauseSource, PauseWalk
from lossless.formats.inputs.intents import declarations_of
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from lossless.model.fabric.state import DeviceState, StateCapture, StateReading
from tests.paths import RULE_BASES

Node = tuple[str, str]
"""A device and one of its ports."""
HOSTS = [f"host{number}" for number in range(1, 9)]


def _fabric() -> Fabric:
    text = (RULE_BASES / "leaf-spine.yaml").read_text()
    for written, wanted in (
        ("leaves: 2", "leaves: 4"),
        ("hosts_per_leaf: 4", "hosts_per_leaf: 2"),
        ("host_links: 2 x 400G", "host_links: 1 x 400G"),
        ("uplinks: 2 x 800G", "uplinks: 1 x 800G"),
    ):
        assert written in text
        text = text.replace(written, wanted)
    fabrics, problems, _ = declarations_of([load_text(text, "fabric.yaml")], ())
    assert not problems
    return fabrics[0]


FABRIC = _fabric()
PEERS: dict[Node, Node] = {
    **{(link.a, link.a_port): (link.b, link.b_port) for link in FABRIC.links},
    **{(link.b, link.b_port): (link.a, link.a_port) for link in FABRIC.links},
}
PORT_TO = {(node, peer): port for (node, port), (peer, _) in PEERS.items()}
LEAF_OF = {host: peer for (host, _), (peer, _) in PEERS.items() if host in HOSTS}


class Truth(NamedTuple):
    """What happens: who sends pauses where, and which hosts, or leaves with an incast, they come from in truth."""

    sent: frozenset[Node]
    roots: dict[Node, frozenset[str]]
    light: frozenset[Node]


def _truth(chance: random.Random, storming: list[str], incasts: list[str], light: list[str]) -> Truth:
    """Return the pauses of random flows, to the hosts that storm and the incasts among others."""
    roots: dict[Node, set[str]] = {}
    sent: set[Node] = set()
    for host in storming:
        roots.setdefault((LEAF_OF[host], PORT_TO[LEAF_OF[host], host]), set()).add(host)
    full: dict[Node, set[str]] = {
        (LEAF_OF[host], PORT_TO[LEAF_OF[host], host]): {LEAF_OF[host]} for host in incasts
    }
    flows = [_hops(chance, *chance.sample(HOSTS, 2)) for _ in range(60)]
    for _ in range(8):
        for hops in flows:
            for ingress, egress in hops:
                causes = roots.get(egress, set()) | full.get(egress, set())
                if causes:
                    sent.add(ingress)
                    if PEERS[ingress][0] not in HOSTS:
                        roots.setdefault(PEERS[ingress], set()).update(causes)
    lightly = frozenset((LEAF_OF[host], PORT_TO[LEAF_OF[host], host]) for host in light)
    return Truth(frozenset(sent), {port: frozenset(of) for port, of in roots.items()}, lightly - roots.keys())


def _hops(chance: random.Random, source: str, target: str) -> list[tuple[Node, Node]]:
    """Return the ports by which a flow enters and leaves each switch on its path."""
    first, last = LEAF_OF[source], LEAF_OF[target]
    middle = [] if first == last else [chance.choice(["spine1", "spine2"]), last]
    path = [source, first, *middle, target]
    return [
        ((at, PORT_TO[at, came_from]), (at, PORT_TO[at, goes_to]))
        for came_from, at, goes_to in zip(path, path[1:], path[2:], strict=False)
    ]


def _walk(truth: Truth, without: str = "") -> tuple[PauseWalk, dict[str, RunningDevice]]:
    """Return the walk over captures of all switches but one."""
    devices = {
        switch.name: RunningDevice(
            _state(switch.name, truth, 5), intended=switch, before=_state(switch.name, truth, 0)
        )
        for switch in FABRIC.switches
        if switch.name != without
    }
    return PauseWalk(RunningFabric(tuple(devices.values()), FABRIC.links, FABRIC.switches), "3"), devices


def _state(name: str, truth: Truth, amount: int) -> DeviceState:
    readings = []
    for node, port in PEERS:
        if node == name:
            paused = (node, port) in truth.roots
            received = amount * (1000 if paused else (node, port) in truth.light)
            identity = (("port", port), ("priority", "3"))
            readings += [
                StateReading(identity, "pfc_rx", received),
                StateReading(identity, "pfc_tx", amount * ((node, port) in truth.sent)),
                StateReading(
                    (("port", port), ("queue", "3")), "pfcwd_status", "stormed" if paused else "operational"
                ),
            ]
    return DeviceState(name, [StateCapture("file", "form", tuple(readings))])


def _named(walk: PauseWalk, devices: dict[str, RunningDevice], port: Node) -> set[str]:
    steps = list(walk.sources(PausedPort(devices[port[0]], port[1])))
    assert not any(isinstance(step, MissingInput) for step in steps), steps
    return {step.name for step in steps if isinstance(step, PauseSource)}


@pytest.mark.parametrize("seed", range(40))
def test_every_source_is_found_and_nobody_else_is_named(seed: int) -> None:
    chance = random.Random(seed)
    hosts = chance.sample(HOSTS, 5)
    storming, incasts, light = hosts[: chance.randint(1, 3)], hosts[3:4], hosts[4:]
    truth = _truth(chance, storming, incasts, light)
    walk, devices = _walk(truth)
    stormed_leaves = {LEAF_OF[host] for host in storming}
    for port, roots in truth.roots.items():
        named = _named(walk, devices, port)
        # A leaf with a stormed port and an incast shows the storm alone.
        assert roots - stormed_leaves <= named, port
        assert named <= {*storming, *(LEAF_OF[host] for host in incasts)}, port


@pytest.mark.parametrize("seed", range(10))
def test_a_switch_that_was_not_captured_hides_sources_and_makes_none(seed: int) -> None:
    chance = random.Random(seed)
    storming = chance.sample(HOSTS, 2)
    truth = _truth(chance, storming, [], [])
    missing = chance.choice(["spine1", "spine2", LEAF_OF[storming[0]]])
    walk, devices = _walk(truth, missing)
    for node, port in truth.roots:
        if node in devices:
            steps = list(walk.sources(PausedPort(devices[node], port)))
            assert {step.name for step in steps if isinstance(step, PauseSource)} <= {*storming}
            reasons = {step.reason for step in steps if isinstance(step, MissingInput)}
            assert reasons <= {f"there are no captures of {missing}"}
