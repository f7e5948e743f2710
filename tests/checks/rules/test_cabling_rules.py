"""Cables of an intent against what LLDP tells: devices of which nothing was found, and those that nobody asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.interfaces.api.capacity import compare_cabling
from tests.checks.rules.checking import patched

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding

LEAF2 = {"Ethernet32": "spine1 Ethernet16", "Ethernet40": "spine1 Ethernet24",
         "Ethernet48": "spine2 Ethernet16", "Ethernet56": "spine2 Ethernet24"}  # fmt: skip
TO_LEAF1 = {"Ethernet0": "leaf1 Ethernet32", "Ethernet8": "leaf1 Ethernet40"}
TO_LEAF2 = {"Ethernet16": "leaf2 Ethernet32", "Ethernet24": "leaf2 Ethernet40"}
"""What leaf2, and a spine of leaf1 and leaf2, hear where all is cabled as it is declared."""


def _lldp(ports: dict[str, str]) -> str:
    seen: list[dict[str, Any]] = []
    for port, far in ports.items():
        device, name = far.split()
        there = {"id": {"type": "local", "value": name}, "descr": name}
        seen.append({port: {"chassis": {device: {"id": {"type": "mac", "value": "00:11"}}}, "port": there}})
    return json.dumps({"lldp": {"interface": seen}})


def _said(shape: dict[str, Any], **heard: dict[str, str]) -> tuple[list[Finding], list[tuple[str, int]]]:
    document = patched("leaf-spine.yaml", {"topology": {"leaf_spine": shape}})
    report = compare_cabling(document, {f"{name}.json": _lldp(ports) for name, ports in heard.items()})
    found = [finding for finding in report.findings if finding.code == "LNK006"]
    return found, [(rule.reason, rule.times) for rule in report.not_checked if rule.code == "LNK006"]


def test_only_cables_to_who_was_asked_are_known_to_be_missing() -> None:
    found, unchecked = _said({}, leaf1={}, spine1=TO_LEAF2)
    (finding,) = found
    assert finding.data["links"] == [
        "leaf1:Ethernet32 - spine1:Ethernet0",
        "leaf1:Ethernet40 - spine1:Ethernet8",
    ]
    assert (finding.confidence, finding.places) == ("medium", 2)
    # The hosts, the second spine and the cables between it and leaf2, of which nobody told.
    assert unchecked == [("links of host1, host2, host3, host4, host5 and 4 more: no file lists them", 20)]


def test_of_leaves_that_hear_nothing_all_cables_together_are_not_found() -> None:
    found, _ = _said({"spines": 1}, leaf1={}, leaf2={}, spine1={})
    assert [finding.data["links"] for finding in found] == [
        ["leaf1:Ethernet32 - spine1:Ethernet0", "leaf1:Ethernet40 - spine1:Ethernet8"],
        ["leaf2:Ethernet32 - spine1:Ethernet16", "leaf2:Ethernet40 - spine1:Ethernet24"],
    ]


def test_the_only_cable_of_a_leaf_is_named() -> None:
    far = {"Ethernet8": "leaf2 Ethernet32"}
    (finding,), _ = _said({"spines": 1, "uplinks": "1 x 800G", "oversubscription": 4}, leaf1={}, spine1=far)
    assert finding.data == {"links": ["leaf1:Ethernet32 - spine1:Ethernet0"]}


def test_of_devices_that_are_only_heard_it_is_said_whose_lldp_is_missing() -> None:
    found, unchecked = _said({}, leaf2=LEAF2, spine1={**TO_LEAF1, **TO_LEAF2})
    assert found == []
    assert unchecked == [
        ("links as leaf1:Ethernet48 - spine2:Ethernet0: missing LLDP of these devices themselves", 2),
        ("links of host1, host2, host3, host4, host5 and 3 more: no file lists them", 16),
    ]
