"""Figures that articles on GPU networks print, right or wrong: what the fabric they describe really gives.

Every figure comes from an intent as any other does; nothing is computed here but units. No counterpart
has what no fabric decides: PCIe against NVLink, petaflops, prices, latency, how often GPUs synchronise, how fast a
buffer of so many bytes fills.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from lossless.analysis.topology.bisection import FabricCapacity, fabric_capacity
from lossless.analysis.workloads.placement import Estimate, estimate
from lossless.api import lint, lint_documents, load_fabrics, topology
from lossless.ground.documents import load_text
from lossless.model.fabric.cluster import Workload
from lossless.model.fabric.infiniband.qos_policy import RATES
from lossless.model.hardware.infiniband import load_infiniband_switch
from tests.checks.rules.linted import intent_view
from tests.paths import ROOT

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric

EXAMPLES = ROOT / "examples"
PUBLISHED = EXAMPLES / "roce-256-as-published" / "fabric.yaml"
SUBNET = EXAMPLES / "infiniband-256-as-published" / "fabric.yaml"
G, T = 10**9, 10**12
GB = 10**9


def published(*changes: tuple[str, str]) -> Fabric:
    """Return the 256-GPU reference as it was printed, with lines read another way."""
    (fabric,) = load_fabrics([load_text(_changed(PUBLISHED, changes), "fabric.yaml")]).fabrics
    return fabric


def _changed(path: Path, changes: tuple[tuple[str, str], ...]) -> str:
    text = path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


class Reading(NamedTuple):
    """What the article can be read to mean, and what that gives: per leaf, across, and for each GPU."""

    changes: tuple[tuple[str, str], ...]
    down_bps: float
    up_bps: float
    ratio: float
    bisection_bps: float
    gpu_bps: float


READINGS = {
    "one 800G to each spine": Reading((), 12.8 * T, 1.6 * T, 8, 1.6 * T, 12.5 * G),
    "800G in total": Reading((("1 x 800G", "1 x 400G"),), 12.8 * T, 0.8 * T, 16, 0.8 * T, 6.25 * G),
    "ports split over four leaves": Reading(
        (("leaves: 2 ", "leaves: 4 "), ("hosts_per_leaf: 16", "hosts_per_leaf: 8")),
        6.4 * T, 1.6 * T, 4, 3.2 * T, 25 * G,
    ),
    "1:1, as it advises": Reading((("1 x 800G", "8 x 800G"),), 12.8 * T, 12.8 * T, 1, 12.8 * T, 100 * G),
}  # fmt: skip


@pytest.mark.parametrize("reading", READINGS.values(), ids=list(READINGS))
def test_each_reading_of_the_reference_architecture_has_its_figures(reading: Reading) -> None:
    found = fabric_capacity(published(*reading.changes))
    (tier,) = found.tiers
    assert found.bisection is not None
    assert found.per_gpu is not None
    assert (tier.down_bps, tier.up_bps, tier.down_bps / tier.up_bps) == reading[1:4]
    assert (found.bisection.one_way_bps, found.per_gpu.half_bps, found.per_gpu.leaf_bps) == (
        reading.bisection_bps,
        reading.gpu_bps,
        reading.gpu_bps,
    )


def test_its_3_2_terabit_of_bisection_are_both_directions_added() -> None:
    found = fabric_capacity(published()).bisection
    assert found is not None
    assert 2 * found.one_way_bps == 3.2 * T


def test_it_counts_32_servers_4_switches_64_host_cables_and_4_uplinks() -> None:
    found = topology(PUBLISHED).summary
    assert sum(group.hosts for group in found.hosts) == 32
    assert sum(group.switches for group in found.switches) == 4
    assert [(group.tier, group.links, group.speed_bps) for group in found.links] == [
        ("hosts", 64, 400 * G),
        ("uplinks", 4, 800 * G),
    ]


def test_access_alone_fills_the_switch_and_four_ports_are_missing() -> None:
    found = {finding.code: finding for finding in lint([PUBLISHED]).findings}
    assert found["TOP002"].data == {"needed": 36, "available": 32, "missing": 4}
    assert (found["TOP003"].data["speed_bps"], found["TOP003"].data["fastest_bps"]) == (800 * G, 400 * G)
    assert found["TOP001"].data["ratio"] == 8


def test_a_gpu_has_100_gigabit_a_quarter_of_a_node_with_a_400g_nic_for_each() -> None:
    found = fabric_capacity(published()).per_gpu
    assert found is not None
    assert (found.gpus, 4 * found.host_bps) == (256, 400 * G)
    text = PUBLISHED.read_text() + "  bandwidth_per_gpu: 400G\n"
    told = [one.data for one in lint_documents([load_text(text, "f.yaml")]).findings if one.code == "TOP014"]
    assert told == [{"per_gpu_bps": 100 * G, "stated_bps": 400 * G}]


def test_at_hdr_a_leaf_of_40_ports_is_full_at_4_to_1() -> None:
    """32 + 8 = 40 ports, 6.4 Tb/s below 1.6: what the hardware it names can have, but for the subnet manager's host,
    which switches without one need.
    """
    text = _changed(SUBNET, (("2 x NDR ", "2 x HDR "), ("1 x XDR ", "4 x HDR ")))
    assert [(one.code, one.data) for one in lint_documents([load_text(text, "fabric.yaml")]).findings] == [
        ("IB006", {"asked": {"HDR": 41}, "have": {"HDR": 40}, "product": "QM8790"}),
        ("IB040", {"ratio": 4.0, "down_bps": 6400 * G, "up_bps": 1600 * G}),
    ]


def wide(gpus_per_host: int, hosts: int, host_links: str, **cluster: Any) -> Fabric:
    """Return a leaf-spine without oversubscription: 8 leaves, 8 spines, as much above as below."""
    number, rate = host_links.split(" x ")
    shape = {"leaves": 8, "spines": 8, "hosts_per_leaf": hosts // 8, "host_links": host_links}
    uplinks = f"{max(1, hosts // 8 * int(number) // 8)} x {rate}"
    keys = {"gpus_per_host": gpus_per_host, **cluster}
    patch = {"cluster": keys, "topology": {"leaf_spine": shape | {"uplinks": uplinks}}}
    return intent_view(patch).fabric


def all_reduce(fabric: Fabric, **asked: Any) -> Estimate:
    return estimate(fabric, Workload(size_bytes=140 * GB, **asked))


def test_140_gb_of_gradients_take_22_4_s_at_100_gigabit_not_11() -> None:
    """70 billion parameters in bf16 over 1,024 GPUs: the wire carries nearly twice the buffer."""
    found = all_reduce(wide(1, 1024, "1 x 100G"))
    assert (found.placement.gpus, round(float(found.demand.fabric_bytes) / GB, 1)) == (1024, 279.7)
    assert round(found.time_ns / 1e9, 1) == 22.4


def test_the_buffer_counted_once_is_what_switches_that_reduce_would_take() -> None:
    found = all_reduce(wide(1, 1024, "1 x 100G"), algorithm="sharp")
    assert found.demand.fabric_bytes == 140 * GB
    assert round(found.time_ns / 1e9, 1) == 11.2


def test_a_ring_of_more_gpus_sends_hardly_more() -> None:
    few, many = (all_reduce(wide(1, hosts, "1 x 100G")).demand.fabric_bytes for hosts in (64, 1024))
    assert few < many < 2 * 140 * GB < few * 1.02


def test_1024_gpus_at_400g_inject_409_6_terabit_and_half_of_that_crosses_the_middle() -> None:
    found = whole(wide(8, 128, "8 x 400G"))
    assert found.per_gpu is not None
    assert found.bisection is not None
    assert (found.per_gpu.gpus, found.per_gpu.gpus * found.per_gpu.host_bps) == (1024, 409.6 * T)
    assert found.bisection.one_way_bps == 204.8 * T


def whole(fabric: Fabric) -> FabricCapacity:
    found = fabric_capacity(fabric)
    assert [tier.down_bps / tier.up_bps for tier in found.tiers] == [1]
    return found


def inside_bps(**joined: Any) -> int:
    found = fabric_capacity(wide(8, 64, "8 x 800G", **joined)).per_gpu
    assert found is not None
    assert found.inside_bps is not None
    assert found.host_bps == 800 * G
    return found.inside_bps


def test_nvlink_is_printed_in_both_directions_and_ualink_in_bits() -> None:
    """900 GB/s of NVLink 4 and 1.8 TB/s of NVLink 5 are both directions; four lanes of 200G are 100 GB/s, not 800."""
    assert 2 * inside_bps(nvlink={"generation": 4, "domain": 8}) == 900 * 8 * G
    five = inside_bps(nvlink={"generation": 5, "domain": 72})
    assert 2 * five == 1.8 * 8 * T
    assert inside_bps(ualink={"rate": "800G", "domain": 8}) == 100 * 8 * G
    # "well over 2x" an 800G NIC:
    assert five / (800 * G) == 9


def test_a_rack_of_72_has_129_6_terabyte_a_second_1_8_is_what_one_gpu_has() -> None:
    found = fabric_capacity(wide(4, 72 * 8 // 4, "4 x 400G", nvlink={"generation": 5, "domain": 72})).per_gpu
    assert found is not None
    assert found.inside_bps is not None
    assert found.domain_gpus * 2 * found.inside_bps == 129.6 * 8 * T


@pytest.mark.parametrize(
    ("transport", "machine", "together_bps", "gpu_bps"),
    [
        ("efa", "p4d.24xlarge", 400 * G, 50 * G),
        ("efa", "p5.48xlarge", 3200 * G, 400 * G),
        ("gcp", "a3-highgpu-8g", 800 * G, 100 * G),
        ("azure", "Standard_ND96asr_v4", 1600 * G, 200 * G),
        ("azure", "Standard_ND96isr_H100_v5", 3200 * G, 400 * G),
        ("azure", "Standard_ND96isr_MI300X_v5", 3200 * G, 400 * G),
    ],
)
def test_3_2_terabit_of_a_cloud_are_those_of_a_machine_and_one_gpu_has_an_eighth(
    transport: str, machine: str, together_bps: int, gpu_bps: int
) -> None:
    text = f"lossless: v1\nfabric: f\ntransport: {transport}\nmachine: {machine}\n"
    (fabric,) = load_fabrics([load_text(text, "fabric.yaml")]).fabrics
    found = all_reduce(fabric, gpus=1024)
    assert (found.placement.rate_bps, found.placement.rate_bps * 8) == (gpu_bps, together_bps)
    # 2 (128 - 1) / 128 of the eighth that a rank of each domain has.
    assert found.parts[-1].time_ns == pytest.approx(2 * 127 / 128 * 140 / 8 * GB * 8e9 / gpu_bps)


def test_18_machines_of_a_gb200_rack_have_28_8_terabit_and_are_one_domain() -> None:
    for transport, machine in (
        ("efa", "p6e-gb200.36xlarge"),
        ("gcp", "a4x-highgpu-4g"),
        ("azure", "Standard_ND128isr_NDR_GB200_v6"),
    ):
        text = f"lossless: v1\nfabric: f\ntransport: {transport}\nmachine: {machine}\n"
        (fabric,) = load_fabrics([load_text(text, "fabric.yaml")]).fabrics
        found = all_reduce(fabric, gpus=72)
        assert (found.placement.rate_bps * 72, found.placement.domain) == (28.8 * T, 72)
        assert found.demand.fabric_bytes == 0


def test_quantum_2_has_51_2_terabit_in_both_directions() -> None:
    ports = load_infiniband_switch("nvidia-qm9700").ports
    assert 2 * ports["NDR"] * RATES["NDR"].bits_per_second == 51.2 * T
