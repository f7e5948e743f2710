"""How long collectives take on a fabric, and which part of it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.errors import ScenarioError
from lossless.workloads.estimate import Estimate, Workload, estimate
from tests.rules.linted import intent_view

if TYPE_CHECKING:
    from lossless.fabric.model import Fabric

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
    assert estimate(fabric(patch), asked).to_data()["incast"] == incast


def test_gpus_that_are_not_there_are_said() -> None:
    with pytest.raises(ScenarioError, match="17 GPUs are asked for; the fabric has 16"):
        estimate(fabric(), Workload(gpus=17))
    with pytest.raises(ScenarioError, match="12 GPUs are no whole number of domains of 8"):
        estimate(fabric(gpus(8, 8)), Workload(gpus=12))
