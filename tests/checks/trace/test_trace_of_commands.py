"""Switches of other systems: a path is broken exactly where lint has an error on it, and unknown where that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.api import Options, lint, trace
from tests.formats.switches.test_rules_on_dialects import LEAVES

if TYPE_CHECKING:
    from pathlib import Path

NAMED = Options(rdma_dscps=(26,))
SECOND = {
    "eos": "interface Ethernet2\n   mtu 9214\n   no switchport\n   service-profile ROCE\n",
    "nvue": "",
    "nxos": "interface Ethernet1/2\n  no switchport\n  mtu 9216\n  priority-flow-control mode on\n"
    "  priority-flow-control watch-dog-interval on\n  service-policy type qos input MARKS\n  no shutdown\n",
}
ENDS = {
    "eos": ("Ethernet1", "Ethernet2"),
    "nvue": ("swp1", "swp2"),
    "nxos": ("Ethernet1/1", "Ethernet1/2"),
}
SAME = (
    ("eos", "", False),
    ("nvue", "", False),
    ("nxos", "", False),
    ("eos", "interface Ethernet2\n   service-profile MISSING\n", True),
    ("eos", "interface Ethernet2\n   mtu 1500\n", True),
    ("eos", "qos profile ROCE\n   tx-queue 3\n      no random-detect ecn\n      random-detect drop "
     "minimum-threshold 1 mbytes maximum-threshold 2 mbytes drop-probability 10\n", True),
    ("nvue", "nv set interface swp2 qos mapping profile missing\n", True),
    ("nvue", "nv set qos pfc default-global switch-priority 3\nnv set qos pfc default-global tx disable\n", True),
    ("nvue", "nv set qos pfc default-global switch-priority 3\nnv set qos pfc default-global rx disable\n", True),
    ("nvue", "nv unset qos\n", True),
    ("nxos", "interface Ethernet1/2\n  service-policy type qos input MISSING\n", True),
    ("nxos", "interface Ethernet1/2\n  mtu 1500\n", True),
    ("nxos", "interface Ethernet1/2\n  priority-flow-control mode off\n", True),
)  # fmt: skip


def write(folder: Path, system: str, lines: str) -> Path:
    (folder / ("leaf1.nv" if system == "nvue" else "leaf1.cfg")).write_text(
        LEAVES[system] + SECOND[system] + lines
    )
    return folder


@pytest.mark.parametrize(("system", "lines", "broken"), SAME)
def test_a_path_is_broken_where_lint_has_an_error(
    tmp_path: Path, system: str, lines: str, broken: bool
) -> None:
    folder = write(tmp_path, system, lines)
    errors = [finding for finding in lint([folder], NAMED).findings if finding.severity == "error"]
    assert bool(errors) is broken
    for ends in (ENDS[system], ENDS[system][::-1]):
        assert trace(folder, *ends, 26, options=NAMED).trace.broken is broken, ends


@pytest.mark.parametrize("line", ["priority-flow-control mode auto", "no priority-flow-control mode on"])
def test_pfc_that_the_peer_decides_is_unknown(tmp_path: Path, line: str) -> None:
    folder = write(tmp_path, "nxos", f"interface Ethernet1/2\n  {line}\n")
    for ends in (ENDS["nxos"], ENDS["nxos"][::-1]):
        path = trace(folder, *ends, 26, options=NAMED).trace
        assert not path.broken
        assert None in [side.on for side in path.hops[0].stages.pfc]
        assert "DCBX" in " ".join(unchecked.reason for unchecked in path.not_checked)
    assert not [f for f in lint([folder], NAMED).findings if f.severity == "error"]
