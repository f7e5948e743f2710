"""A real opensm accepts the shipped examples and generated subnets as they are meant, and shows it on the wire."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.opensm import check
from lossless.analysis.opensm.check import seat_of, write_files
from lossless.analysis.opensm.run import find_program, ibsim_fabric, live
from lossless.api import check_with_opensm
from lossless.formats.device_files.infiniband import files_of
from tests.analysis.opensm.test_traps import intent_with, subnet_of, torus
from tests.paths import ROOT

if TYPE_CHECKING:
    from lossless.analysis.opensm.run import LiveSubnet, Tools

EXAMPLES = ROOT / "examples"
SUBNETS = sorted(path.name for path in EXAMPLES.glob("infiniband-*"))
HOST = 0x0200_0001_0000_0001
"""Port GUID of the first HCA that has none stated."""


def tree(leaves: int, hosts: int, pods: int = 1, **more: Any) -> dict[str, Any]:
    shape = {"leaves": leaves, "spines": 4, "hosts_per_leaf": hosts, "host_links": "1 x NDR", "pods": pods}
    links = {"uplinks": "2 x NDR", **({"cores": 4, "core_links": "1 x NDR"} if pods > 1 else {})}
    return {"topology": {"fat_tree": {**shape, **links}}, **more}


GENERATED = {
    "two levels, ftree": tree(4, 6),
    "two levels, updn": tree(4, 6, subnet_manager={"routing": {"engine": "updn"}}),
    "three levels, ftree": tree(2, 4, 3),
    "three levels, updn": tree(2, 4, 3, subnet_manager={"routing": {"engine": "updn"}}),
    "no fallback": tree(4, 6, subnet_manager={"routing": {"fallback": False}}),
    "torus of 5 x 5": torus("torus-2QoS", {"vls": 8, "levels": {}}),
    "a partition for IPoIB": {"partitions": {"compute": {"ipoib": True, "rate": "NDR", "mtu": 4096}}},
}


@pytest.mark.parametrize("name", SUBNETS)
def test_opensm_accepts_the_example_with_the_engine_that_is_meant(name: str, tools: Tools) -> None:
    del tools
    found = check_with_opensm(EXAMPLES / name)
    # A key that opensm does not know is a complaint.
    assert (found.complaints, found.accepted) == ((), True)
    assert found.simulated is not None
    assert (found.simulated.up, found.simulated.engine) == (True, found.intended_engine)
    assert found.credit_loops.state == "free"


def test_there_are_examples_of_infiniband() -> None:
    assert {"infiniband-256-ndr", "infiniband-256-as-published"} <= set(SUBNETS)


@pytest.mark.parametrize("name", GENERATED)
def test_opensm_accepts_what_is_rendered_of_a_generated_subnet(name: str, tools: Tools) -> None:
    subnet = subnet_of(intent_with(GENERATED[name]))
    found = check.check_with_opensm(tools, subnet, files_of(subnet))
    assert (found.complaints, found.changed, found.credits.state) == ((), (), "free")
    effective = found.reading.effective
    assert set(found.written) <= set(effective)


def test_a_subnet_of_a_thousand_hosts_is_checked(tools: Tools, tmp_path: Path) -> None:
    del tools
    path = tmp_path / "fabric.yaml"
    path.write_text(intent_with(tree(32, 32)).text, encoding="utf-8")
    found = check_with_opensm(path)
    assert found.simulated is not None
    assert found.simulated.hcas > 1024
    assert found.complaints == ()


def said_by(up: LiveSubnet, *words: str) -> str:
    program = find_program(words[0])
    assert program is not None, "infiniband-diags is installed beside opensm"
    return up.ask(program, *words[1:])


def test_partitions_lanes_and_levels_are_seen_on_the_simulated_wire(tools: Tools, tmp_path: Path) -> None:
    subnet = subnet_of(intent_with({}))
    files = files_of(subnet)
    configuration = write_files(tmp_path, files, files["opensm.conf"])
    with live(tools, ibsim_fabric(subnet), configuration, tmp_path, seat_of(subnet)) as up:
        host = f"{HOST:#018x}"
        keys = said_by(up, "smpquery", "-G", "pkeys", host).split()
        lanes = said_by(up, "smpquery", "-G", "sl2vl", host, "1")
        weights = said_by(up, "smpquery", "-G", "vlarb", host, "1")
        operational = said_by(up, "smpquery", "-G", "portinfo", host, "1")
        addresses = dict(
            line.split()[:2] for line in (tmp_path / "guid2lid").read_text().splitlines() if line
        )
        ends = [str(int(addresses[f"{HOST + 2 * index:#018x}"], 16)) for index in range(2)]
        path = said_by(up, "saquery", "PR", "--slid", ends[0], "--dlid", ends[1], "--pkey", "0x8002")
    # Limited in Default and in storage, full in compute; its own level is SL 1 on VL 1, of VL0 to VL3.
    assert {"0x7fff", "0x8002", "0x0003"} <= set(keys)
    assert "| 0| 1| 2| 0|" in lanes
    assert "|0x1 |0x0 |" in weights
    assert "VL0-3" in operational
    assert "sl......................0x1" in path
