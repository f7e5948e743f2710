"""A device outside is one end of a link, and nothing else."""

from __future__ import annotations

import pytest

from lossless.analysis.routing.symmetry import wires_of
from lossless.api import lint_documents
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document
from lossless.model.fabric.model import Fabric, Tier

TEXT = """\
lossless: v1
fabric: part
transport: rocev2
preset: nvidia
hardware: {leaf: nvidia-sn5600, nic: connectx-7}
topology:
  oversubscription: 1.5
  devices:
    leaf1: {role: leaf}
    spine1: {role: spine, outside: true}
    host1: {role: host}
    host9: {role: host, outside: true}
  links:
    - {a: leaf1, b: host1, links: 2 x 400G, cable: 3m}
    - {a: "leaf1:Ethernet256", b: "spine1:Ethernet0", links: 1 x 800G, cable: 30m}
    - {a: leaf1, b: host9, links: 1 x 400G, cable: 3m}
"""


def document(text: str = TEXT) -> Document:
    return load_text(text, "fabric.yaml")


def fabric(text: str = TEXT) -> Fabric:
    return resolve(load_intent(document(text)))


def test_ports_to_devices_outside_are_configured_as_any_other() -> None:
    (leaf,) = fabric().switches
    ports = {port.name: port for port in leaf.ports}
    assert len(ports) == 4
    assert ports["Ethernet256"].leads_to == "switch"
    assert ports["Ethernet256"].cable.configured_m == 40
    assert all(port.qos is not None and port.qos.pfc.priorities for port in ports.values())


def test_nothing_is_made_or_asked_of_what_is_outside() -> None:
    """No hardware of a spine is stated, and no NIC of ours is 800G fast."""
    found = fabric()
    assert ([switch.name for switch in found.switches], [host.name for host in found.hosts]) == (
        ["leaf1"],
        ["host1"],
    )
    assert {end for link in found.links for end in (link.a, link.b)} == {"leaf1", "host1"}
    assert lint_documents([document()]).findings == ()


def test_links_to_devices_outside_count_as_capacity() -> None:
    (capacity,) = fabric().capacities
    assert (capacity.down_bps, capacity.up_bps) == (1_200_000_000_000, 800_000_000_000)


def test_devices_outside_are_hosts_or_switches_with_a_tier() -> None:
    beyond = {link.far: (link.to_host, link.tier) for link in fabric().beyond}
    assert beyond == {"spine1": (False, Tier.SPINE), "host9": (True, None)}
    tierless = fabric(TEXT.replace("spine1: {role: spine,", "spine1: {role: switch,")).beyond
    assert [(link.to_host, link.tier) for link in tierless if link.far == "spine1"] == [(False, None)]


def test_routing_knows_the_tiers_of_switches_outside() -> None:
    wires = wires_of(fabric())
    assert dict(zip(wires.names, wires.tiers, strict=True)) == {"leaf1": Tier.LEAF, "spine1": Tier.SPINE}


def test_hardware_of_a_device_outside_is_refused() -> None:
    with pytest.raises(InputError, match="a device outside has its hardware stated elsewhere"):
        fabric(
            TEXT.replace("role: spine, outside: true", "role: spine, outside: true, hardware: nvidia-sn5600")
        )
