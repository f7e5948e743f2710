"""How long collectives take on a fabric, and which part of it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless import api
from lossless.analysis.workloads.placement import Estimate, estimate, nic_ports, placement
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.documents import load_text
from lossless.model.fabric.cluster import Workload
from tests.checks.rules.linted import intent_view

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.model.fabric.cluster import Collective
    from lossless.model.fabric.model import Fabric

G = 10**9
PODS: dict[str, Any] = {
    "hardware": {"super-spine": "nvidia-sn5600"},
    "topology": {
        "leaf_spine": None,
        "three_tier": {
            "pods": 2,
            "leaves_per_pod": 2,
            "spines_per_pod": 2,
            "super_spines": 2,
            "hosts_per_leaf": 4,
            "host_links": "1 x 400G",
            "uplinks": "2 x 400G",
            "spine_uplinks": "1 x 400G",
            "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "40m"},
        },
    },
}


def fabric(patch: dict[str, Any] | None = None) -> Fabric:
    """Return two leaves of four hosts with 2 x 400G, two spines, 2 x 800G from each leaf to each, patched."""
    return intent_view(patch or {}).fabric


def gpus(per_host: int, domain: int = 0) -> dict[str, Any]:
    joined = {"nvlink": {"generation": 4, "domain": domain}} if domain else {}
    return {"cluster": {"gpus_per_host": per_host, **joined}}


SHARED: dict[str, Any] = {"networks": {"storage": {"on": "fabric", "class": "rdma"}}}


def times_ms(found: Estimate) -> dict[str, float]:
    return {part.name: round(part.time_ns / 1e6, 3) for part in found.parts}


def test_a_ring_crosses_each_leaf_once_and_its_host_links_decide() -> None:
    """16 GPUs, one a host link: 2 x 15/16 GB each; of those only the last of a leaf leaves it."""
    found = estimate(fabric(), Workload(size_bytes=G))
    assert (found.algorithm, found.placement.gpus, round(found.demand.fabric_bytes)) == (
        "ring",
        16,
        1_875_000_000,
    )
    assert times_ms(found) == {"host links": 37.5, "leaf": 4.688, "half": 4.688}
    assert found.limit == "host links"


def test_an_all_to_all_waits_for_oversubscribed_uplinks() -> None:
    """Half of what each sends leaves its leaf: 8 x 8/16 GB over 800 Gb/s."""
    found = estimate(fabric({"topology": {"leaf_spine": {"uplinks": "1 x 400G"}}}), Workload("all-to-all", G))
    assert times_ms(found) == {"host links": 18.75, "leaf": 40.0, "half": 40.0}
    assert found.limit == "leaf"
    assert found.time_ns == pytest.approx(40e6)


def test_pods_are_a_tier_of_their_own() -> None:
    """A pod of 8 GPUs sends half of 8 GB to the other over 4 x 400G."""
    found = estimate(fabric(PODS), Workload("all-to-all", G))
    assert times_ms(found) == {"host links": 18.75, "leaf": 15.0, "pod": 20.0, "half": 20.0}


def test_domains_carry_most_of_a_hierarchical_all_reduce() -> None:
    """8 GPUs a domain: 2 x 7/8 GB by NVLink at 3.6 Tb/s, 2 x 7/8 x 1/8 GB at 100 Gb/s by the fabric.

    The last host of a leaf sends that of all eight over 3.2 Tb/s.
    """
    found = estimate(fabric(gpus(8, 8)), Workload(size_bytes=G))
    assert found.algorithm == "hierarchical"
    assert times_ms(found) == {"domain": 3.889, "host links": 17.5, "leaf": 4.375, "half": 4.375}
    assert found.apart_ns == pytest.approx(found.time_ns + 1.75 * 8e9 / 3600)


def test_a_whole_domain_needs_no_fabric() -> None:
    found = estimate(fabric(gpus(8, 64)), Workload(size_bytes=G))
    assert not found.demand.fabric_bytes
    assert ([*times_ms(found)], found.incast) == (["domain"], None)


def test_the_slowest_host_decides() -> None:
    names = {"leaf1": "leaf", "host1": "host", "host2": "host"}
    wires = [
        {"a": "leaf1", "b": h, "links": f"1 x {g}G", "cable": "3m"}
        for h, g in (("host1", 400), ("host2", 200))
    ]
    devices = {name: {"role": role} for name, role in names.items()}
    found = estimate(
        fabric({"topology": {"leaf_spine": None, "devices": devices, "links": wires}}), Workload(size_bytes=G)
    )
    assert times_ms(found) == {"host links": 40.0}


def test_what_overlaps_is_hidden_as_long_as_there_is_something_to_compute() -> None:
    alone_ns = estimate(fabric(), Workload(size_bytes=G)).time_ns
    steps = {
        (compute_ms, overlap): estimate(
            fabric(), Workload(size_bytes=G, compute_ns=compute_ms * 10**6, overlap=overlap)
        ).step_time_ns
        for compute_ms, overlap in ((100, 0.0), (100, 0.5), (100, 1.0), (10, 1.0))
    }
    assert steps == {
        (100, 0.0): pytest.approx(100e6 + alone_ns),
        (100, 0.5): pytest.approx(100e6 + alone_ns / 2),
        (100, 1.0): pytest.approx(100e6),
        (10, 1.0): pytest.approx(alone_ns),
    }


def test_each_step_takes_what_is_stated_besides() -> None:
    plain, slow = (estimate(fabric(), Workload(size_bytes=G, step_ns=step_ns)) for step_ns in (0, 5000))
    assert slow.time_ns - plain.time_ns == pytest.approx(plain.demand.steps * 5000)


@pytest.mark.parametrize(
    ("patch", "asked", "incast"),
    [
        ({}, Workload("all-to-all", 1600), "--workload incast --nics 16 --size '100 B'"),
        (gpus(8), Workload("all-to-all", 6400), "--workload incast --nics 17 --size '1575 B'"),
        (SHARED, Workload("storage-read", 8000, sources=8), "--workload incast --nics 9 --size '1000 B'"),
        (SHARED, Workload("storage-write", 8000, sources=8), "--workload incast --nics 17 --size '1000 B'"),
        (
            SHARED | gpus(8),
            Workload("storage-write", 8000, sources=8),
            "--workload incast --nics 17 --size '4000 B'",
        ),
        (gpus(8, 8), Workload("all-to-all", 6400, "pxn"), "--workload incast --nics 3 --size '11200 B'"),
        ({}, Workload("all-reduce", 8000), None),
    ],
)
def test_what_meets_at_one_nic_port_can_be_put_to_the_buffers(
    patch: dict[str, Any], asked: Workload, incast: str | None
) -> None:
    """Of 64 GPUs four share a NIC port: what 63 send to four of them comes from 16 ports."""
    found = estimate(fabric(patch), asked).incast
    assert (str(found) if found else None) == incast


RAILS: dict[str, Any] = {
    "cluster": {"gpus_per_host": 8, "rails": 8, "nvlink": {"generation": 4, "domain": 8}},
    "topology": {
        "leaf_spine": None,
        "rail_optimised": {
            "units": 1,
            "rails": 8,
            "hosts_per_unit": 4,
            "spines": 2,
            "host_links": "8 x 400G",
            "uplinks": "1 x 800G",
            "cables": {"host": "3m", "uplink": "30m"},
        },
    },
}


@pytest.mark.parametrize(
    ("asked", "crosses"),
    [
        (Workload("all-reduce"), False),
        (Workload("all-reduce", algorithm="ring"), False),
        (Workload("all-reduce", algorithm="tree"), False),
        (Workload("all-gather"), False),
        (Workload("pipeline"), False),
        (Workload("all-to-all"), True),
        (Workload("all-to-all", algorithm="pxn"), False),
    ],
)
def test_on_rails_only_an_all_to_all_that_hands_nothing_on_needs_the_spines(
    asked: Workload, crosses: bool
) -> None:
    found = estimate(fabric(RAILS), asked)
    assert ("leaf" in times_ms(found)) is crosses


def test_rails_of_two_units_meet_in_the_spines_whatever_is_handed_on() -> None:
    """Half of what a rail of four hosts sends is for the other unit: with PXN 4 x 4/8 of 1 GB leave each leaf."""
    two = {
        "topology": {"leaf_spine": None, "rail_optimised": RAILS["topology"]["rail_optimised"] | {"units": 2}}
    }
    found = estimate(fabric(RAILS | two), Workload("all-to-all", G, "pxn"))
    leaf = next(part for part in found.parts if part.name == "leaf")
    assert (leaf.size_bytes, leaf.rate_bps) == (2 * G, 1600 * G)


def listed(wires: list[tuple[str, str, str]]) -> dict[str, Any]:
    names = dict.fromkeys(end for a, b, _ in wires for end in (a, b))
    devices = {name: {"role": name.rstrip("0123456789")} for name in names}
    links = [{"a": a, "b": b, "links": many, "cable": "3m"} for a, b, many in wires]
    return {"topology": {"leaf_spine": None, "devices": devices, "links": links}}


def test_on_rails_without_spines_what_cannot_arrive_is_said() -> None:
    wires = [(f"leaf{rail}", f"host{number}", "1 x 400G") for rail in (1, 2) for number in (1, 2, 3)]
    rails = fabric(listed(wires) | gpus(2, 2))
    told = "no links lead from some .*; on rails without spines --algorithm pxn hands on inside domains first"
    with pytest.raises(ScenarioError, match=told):
        estimate(rails, Workload("all-to-all"))
    assert estimate(rails, Workload("all-to-all", G, "pxn")).limit == "host links"
    assert estimate(rails, Workload("all-reduce", G)).limit == "host links"


def test_a_leaf_without_uplinks_is_an_island() -> None:
    wires = [("leaf1", "host1", "1 x 400G"), ("leaf2", "host2", "1 x 400G"), ("leaf1", "spine1", "1 x 400G")]
    with pytest.raises(
        ScenarioError, match=r"no links lead from some of these GPUs to others that they send to$"
    ):
        estimate(fabric(listed(wires)), Workload())


def test_a_gpu_on_two_planes_sends_half_over_each() -> None:
    """Two planes of a leaf for two hosts each: half of 2 x 3/4 GB leaves each leaf, over 800 Gb/s."""
    wires = [
        (f"leaf{2 * plane + (host + 1) // 2}", f"host{host}", "1 x 400G")
        for plane in (0, 1)
        for host in (1, 2, 3, 4)
    ]
    wires += [(f"leaf{2 * plane + at}", f"spine{plane + 1}", "1 x 800G") for plane in (0, 1) for at in (1, 2)]
    found = estimate(fabric(listed(wires) | gpus(1)), Workload(size_bytes=G))
    assert times_ms(found) == {"host links": 15.0, "leaf": 7.5, "half": 7.5}
    assert "a GPU sends an equal part over each of its 2 NICs, to the same NIC of others" in found.assumed


def test_nics_of_two_gpus_are_paired_by_plane_however_they_are_cabled() -> None:
    wires = [("leaf1", "host1", "1 x 400G"), ("leaf2", "host1", "1 x 400G"), ("leaf2", "host2", "1 x 400G"),
             ("leaf1", "host2", "1 x 400G")]  # fmt: skip
    planes = fabric(listed(wires) | gpus(1))
    leaf_of = {f"{link.b}:{link.b_port}": link.a for link in planes.links}
    ports = nic_ports(planes, placement(planes))
    assert [[leaf_of[name] for name in own] for own in ports] == [["leaf1", "leaf2"]] * 2
    assert ports[1] == ("host2:port2", "host2:port1")


def test_gradients_of_70_billion_parameters_over_64_hosts_with_a_nic_for_each_gpu() -> None:
    """140 GB in bf16. By hand: 2 x 7/8 of it by NVLink at 450 GB/s, 2 x 63/64 of an eighth by 50 GB/s NICs."""
    wide = {"topology": {"leaf_spine": {"leaves": 4, "spines": 4, "hosts_per_leaf": 16, "host_links": "8 x 400G",
            "uplinks": "16 x 800G"}}}  # fmt: skip
    found = estimate(fabric(gpus(8, 8) | wide), Workload(size_bytes=140 * G, compute_ns=10**9))
    assert found.placement.gpus == 512
    assert times_ms(found)["domain"] == pytest.approx(2 * 7 / 8 * 140 / 450 * 1000, abs=0.001)
    assert times_ms(found)["host links"] == pytest.approx(2 * 63 / 64 * 140 / 8 / 50 * 1000, abs=0.001)
    assert found.limit == "host links"
    assert found.step_time_ns == pytest.approx(1e9 + 689.0625e6)
    flat = estimate(fabric(gpus(8) | wide), Workload(size_bytes=140 * G))
    assert flat.time_ns == pytest.approx(2 * 511 / 512 * 140 / 50 * 1e9)
    assert flat.bus_bps == pytest.approx(400 * G)


def test_storage_that_has_a_network_of_its_own_is_not_asked_of_this_one() -> None:
    for collective in ("storage-read", "storage-write"):
        with pytest.raises(
            ScenarioError, match=f"networks.storage is separate: nothing of a {collective} passes"
        ):
            estimate(fabric(), Workload(collective))


def test_gpus_that_are_not_there_are_said() -> None:
    with pytest.raises(ScenarioError, match="17 GPUs are asked for; the fabric has 16"):
        estimate(fabric(), Workload(gpus=17))
    with pytest.raises(ScenarioError, match="12 GPUs are no whole number of domains of 8"):
        estimate(fabric(gpus(8, 8)), Workload(gpus=12))


def of_cloud(text: str) -> Fabric:
    (fabric,) = api.load_fabrics([load_text(f"lossless: v1\nfabric: f\n{text}", "fabric.yaml")]).fabrics
    return fabric


P5 = "transport: efa\nmachine: p5.48xlarge\n"


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        ("transport: efa\n", Workload(gpus=8), "depends on the type of the machines; state machine"),
        (P5, Workload(), "does not state how many GPUs there are; state cluster.gpus, or --gpus"),
        (
            P5 + "cluster: {gpus_per_host: 8, gpus: 16}\n",
            Workload(gpus=24),
            "24 GPUs are asked for; the cluster has 16",
        ),
        (P5, Workload(gpus=12), "12 GPUs are no whole number of domains of 8"),
    ],
)
def test_machines_of_a_cloud_that_are_not_known_are_said(text: str, asked: Workload, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        estimate(of_cloud(text), asked)


def test_the_same_machines_take_as_long_on_a_cloud_that_is_wide_enough() -> None:
    """An all-reduce of 16 hosts with 8 x 400G and NVLink 4, on a fabric without oversubscription and on p5."""
    shape = {"leaves": 2, "spines": 2, "hosts_per_leaf": 8, "host_links": "8 x 400G", "uplinks": "16 x 800G"}
    wide = gpus(8, 8) | {"topology": {"leaf_spine": shape}}
    own, rented = estimate(fabric(wide), Workload()), estimate(of_cloud(P5), Workload(gpus=128))
    assert rented.time_ns == pytest.approx(own.time_ns)
    assert times_ms(rented) == {key: times_ms(own)[key] for key in ("domain", "host links")}
    assert rented.incast is None


def test_a_domain_that_the_intent_states_counts_before_that_of_the_machine() -> None:
    text = "transport: gcp\nmachine: a4x-highgpu-4g\ncluster: {gpus_per_host: 4, nvlink: {generation: 5, domain: 36}}\n"
    assert estimate(of_cloud(text), Workload(gpus=72)).placement.domain == 36


def test_what_joins_mi300x_has_no_known_rate_and_takes_no_time() -> None:
    found = estimate(of_cloud("transport: azure\nmachine: Standard_ND96isr_MI300X_v5\n"), Workload(gpus=64))
    assert [part.name for part in found.parts] == ["host links"]
    assert "what joins MI300X in a machine takes no time: its rate one way is unknown" in found.assumed


def test_switches_of_a_cloud_are_not_said_to_reduce(tmp_path: Path) -> None:
    text = "lossless: v1\nfabric: f\ntransport: azure\nmachine: Standard_ND96isr_H100_v5\n"
    (tmp_path / "fabric.yaml").write_text(text)
    first, *_ = api.workload(tmp_path, Workload(gpus=64, algorithm="sharp")).assumed
    assert first == "switches reduce, which the provider does not say of its own"


MACHINES = "cluster: {gpus_per_host: 8, nvlink: {generation: 4, domain: 8}}\n"
ROCE = """\
lossless: v1
fabric: machines
transport: rocev2
preset: nvidia
hardware: {switch: nvidia-sn5600, nic: connectx-7}
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 16, host_links: 8 x 400G, uplinks: 32 x 800G,
    cables: {host: 3m, uplink: 30m}}
"""
INFINIBAND = """\
lossless: v1
fabric: machines
transport: infiniband
flavour: nvidia
hardware: {switch: nvidia-q3400, hca: connectx-7}
topology:
  fat_tree: {leaves: 2, spines: 2, hosts_per_leaf: 16, host_links: 8 x NDR, uplinks: 32 x XDR}
  hosts: {sm1: {at: leaf1, links: 1 x NDR, role: management}}
subnet_manager: {manager: opensm, hosts: [{on: sm1, priority: 14}], routing: {engine: ftree, roots: top}}
"""


@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "all-to-all"])
def test_the_same_machines_take_as_long_on_infiniband_as_on_roce(
    collective: Collective, tmp_path: Path
) -> None:
    """32 hosts of 8 GPUs that NVLink joins, each GPU with a port of 400 Gb/s."""
    found = []
    for text in (ROCE, INFINIBAND):
        (tmp_path / "fabric.yaml").write_text(text + MACHINES)
        found.append(api.workload(tmp_path, Workload(collective, 1 << 30)))
    roce, infiniband = found
    assert infiniband.time_ns == pytest.approx(roce.time_ns, rel=1e-6)
    assert (infiniband.placement.gpus, infiniband.placement.domain) == (256, 8)
    (tmp_path / "fabric.yaml").write_text(INFINIBAND)
    assert api.workload(tmp_path, Workload(collective, 1 << 30)).placement.domain == 1
