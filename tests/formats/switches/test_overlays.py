"""What packets carry outside while they cross an overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import lint_documents, trace
from lossless.formats.inputs.switches import configuration_in
from tests.paths import RULE_BASES

if TYPE_CHECKING:
    from pathlib import Path

NVUE = (RULE_BASES / "switch-nvue.txt").read_text()
EOS = (RULE_BASES / "switch-leaf.txt").read_text()
BRIDGED = "nv set interface swp1 bridge domain br_default access 100\n"
OVERLAY = "nv set bridge domain br_default vlan 100 vni 10100\nnv set nve vxlan state enabled\n"
ACTION = "nv set nve vxlan encapsulation dscp action {}\n"
VALUE = "nv set nve vxlan encapsulation dscp value {}\n"
NXOS = (RULE_BASES / "switch-nxos.txt").read_text()
VXLAN = "interface Vxlan1\n   vxlan source-interface Loopback0\n   vxlan vlan 100 vni 10100\n"


def said(text: str) -> tuple[list[tuple[Any, Any]], int]:
    """Return severity and DSCP of what is found of overlays in a text, and how often they are not checked."""
    document = configuration_in(text, "leaf1.txt")
    assert document is not None
    report = lint_documents([document])
    found = [(each.severity, each.data["outer_dscp"]) for each in report.findings if each.code == "CLS010"]
    return found, sum(each.times for each in report.not_checked if each.code == "CLS010")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (BRIDGED + OVERLAY + ACTION.format("set") + VALUE.format(0), ([("error", 0)], 0)),
        (BRIDGED + OVERLAY + ACTION.format("set") + VALUE.format(48), ([("error", 48)], 0)),
        # No port that is seen is bridged into it: RDMA may be routed beside the overlay.
        (OVERLAY + ACTION.format("set") + VALUE.format(0), ([("warning", 0)], 0)),
        (BRIDGED + OVERLAY + ACTION.format("set") + VALUE.format(26), ([], 0)),
        (BRIDGED + OVERLAY + ACTION.format("set") + VALUE.format("af12"), ([("error", 12)], 0)),
        (BRIDGED + OVERLAY + ACTION.format("set"), ([], 1)),
        (BRIDGED + OVERLAY + ACTION.format("copy"), ([], 0)),
        (BRIDGED + OVERLAY, ([], 0)),
        (BRIDGED, ([], 0)),
    ],
)
def test_nvue_derives_the_outer_dscp_unless_one_is_set(
    lines: str, expected: tuple[list[tuple[Any, Any]], int]
) -> None:
    assert said(NVUE + lines) == expected


def test_an_overlay_is_no_matter_where_nothing_is_lossless() -> None:
    lines = BRIDGED + OVERLAY + ACTION.format("set") + VALUE.format(0)
    assert said("nv set system hostname leaf1\nnv set interface swp1 link mtu 9216\n" + lines) == ([], 0)


@pytest.mark.parametrize(
    ("lines", "unchecked"),
    [
        (VXLAN, 1),
        (f"{VXLAN}   vxlan qos dscp propagation encapsulation\n", 1),
        (f"{VXLAN}   vxlan qos dscp propagation encapsulation\n   vxlan qos ecn propagation\n", 0),
        ("interface Vxlan1\n   vxlan source-interface Loopback0\n", 0),
        ("", 0),
    ],
)
def test_of_eos_the_outer_header_is_known_where_lines_copy_dscp_and_ecn(lines: str, unchecked: int) -> None:
    assert said(EOS + lines) == ([], unchecked)


def test_of_nxos_the_outer_header_is_not_checked() -> None:
    assert said(f"{NXOS}interface nve1\n  member vni 10100\n") == ([], 1)
    assert said(NXOS) == ([], 0)


def followed(tmp_path: Path, text: str, source: str, target: str) -> tuple[bool, list[str]]:
    """Return whether DSCP 26 is broken between two ports of a switch, and which rules are not checked there."""
    file = tmp_path / "leaf1.txt"
    file.write_text(text)
    found = trace(file, source, target, 26).trace
    return found.broken, [rule.code for rule in found.not_checked]


def test_trace_follows_what_enters_an_overlay(tmp_path: Path) -> None:
    """Packets from port to port of one bridge carry what they had; what leaves it is wrapped."""
    lost = NVUE + "nv set interface swp1-2 bridge domain br_default access 100\n" + OVERLAY
    lost += ACTION.format("set") + VALUE.format(0)
    assert followed(tmp_path, lost, "swp1", "swp3") == (True, [])
    assert followed(tmp_path, lost, "swp1", "swp2") == (False, [])
    assert followed(tmp_path, lost, "swp3", "swp1") == (False, [])


def test_trace_says_what_no_line_of_an_overlay_says(tmp_path: Path) -> None:
    block = EOS[EOS.index("interface Ethernet1\n") :]
    two_ports = EOS + block.replace("Ethernet1", "Ethernet2")
    assert followed(tmp_path, two_ports, "Ethernet1", "Ethernet2") == (False, [])
    assert followed(tmp_path, two_ports + VXLAN, "Ethernet1", "Ethernet2") == (False, ["CLS010"])
