"""Shapes to fabrics: what is added within the room re-plugs nothing, and names and ports of ones own are kept to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.shapes import shape_plan
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from tests.strategies import fabric_of, intents, loaded_of

Data = dict[str, Any]
CLOS = {"host_links": "2 x 400G", "uplinks": "2 x 800G", "cables": {"host": "3m", "uplink": "30m"}}


def declared(shape: str, numbers: Data, **beside: Any) -> Data:
    data: Data = {"lossless": "v1", "fabric": "f", "transport": "rocev2", "preset": "nvidia"}
    data["hardware"] = {"switch": "nvidia-sn5600", "nic": "connectx-7"}
    return {**data, "topology": {shape: numbers, **beside}}


def value_at(data: Any, path: Sequence[str | int]) -> Any:
    return value_at(data[path[0]], path[1:]) if path else data


def fabric(shape: str, numbers: Data, **beside: Any) -> Fabric:
    return fabric_of(declared(shape, numbers, **beside))


def wired(found: Fabric) -> set[tuple[Any, ...]]:
    return {tuple(link) for link in found.links}


SHAPES: dict[str, tuple[Data, dict[str, int]]] = {
    "leaf_spine": (CLOS, {"leaves": 1, "spines": 1, "hosts_per_leaf": 1}),
    "three_tier": (
        {
            **CLOS,
            "spine_uplinks": "1 x 800G",
            "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "100m"},
        },
        {"pods": 1, "leaves_per_pod": 1, "spines_per_pod": 1, "super_spines": 1, "hosts_per_leaf": 1},
    ),
    "rail_optimised": ({**CLOS, "rails": 2}, {"units": 1, "spines": 1, "hosts_per_unit": 1}),
    "dragonfly": (
        {
            "switches": 2,
            "host_links": "1 x 400G",
            "local_links": "1 x 400G",
            "global_links": "3 x 800G",
            "cables": {"host": "3m", "local": "10m", "global": "100m"},
        },
        {"groups": 2, "hosts_per_switch": 1},
    ),
    "dragonfly_plus": (
        {
            "spines": 2,
            "global_links": "3 x 800G",
            "host_links": "1 x 800G",
            "uplinks": "1 x 800G",
            "cables": {"host": "3m", "uplink": "10m", "global": "100m"},
        },
        {"groups": 2, "leaves": 1, "hosts_per_leaf": 1},
    ),
    "torus": (
        {
            "sides": [3, 2],
            "links": "2 x 400G",
            "host_links": "1 x 400G",
            "cables": {"host": "3m", "link": "10m"},
        },
        {"hosts_per_switch": 1},
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_whatever_is_added_within_the_room_renames_and_replugs_nothing(shape: str, data: Any) -> None:
    fixed, least = SHAPES[shape]
    room = {name: number + data.draw(st.integers(0, 3)) for name, number in least.items()}
    later = {name: data.draw(st.integers(least[name], most)) for name, most in room.items()}
    now = {name: data.draw(st.integers(least[name], most)) for name, most in later.items()}
    small, large = (fabric(shape, {**fixed, **numbers, "room": room}) for numbers in (now, later))
    assert wired(small) <= wired(large)
    assert {s.name for s in small.switches} <= {s.name for s in large.switches}
    assert {h.name for h in small.hosts} <= {h.name for h in large.hosts}
    for switch in small.switches:
        assert all(port.placed for port in switch.ports)
        used = {port.name for port in switch.ports}
        assert used.isdisjoint(spec.name for spec in switch.unused)


@pytest.mark.parametrize("shape", SHAPES)
def test_speed_and_length_of_every_link_are_those_written_at_its_origins(shape: str) -> None:
    fixed, least = SHAPES[shape]
    data = declared(shape, {**fixed, **least})
    plan = shape_plan(loaded_of(data))
    assert plan is not None
    for bundle in plan.bundles:
        links, cable = (value_at(data, origin.path) for origin in (bundle.origin, bundle.cable_origin))
        assert str(links).endswith(f" x {bundle.speed_bps // 10**9}G")
        assert cable == f"{bundle.cable_m}m"
    stated = fixed["cables"].keys() & {"host", "uplink", "spine_uplink", "local", "global", "link"}
    assert {bundle.cable_origin.path[-1] for bundle in plan.bundles} == stated


@pytest.mark.parametrize("shape", SHAPES)
def test_the_room_itself_is_the_shape_when_it_is_full(shape: str) -> None:
    fixed, least = SHAPES[shape]
    full = {name: number + 2 for name, number in least.items()}
    assert wired(fabric(shape, {**fixed, **full, "room": full})) == wired(fabric(shape, {**fixed, **full}))


def test_ports_that_are_kept_free_are_unused_and_stay_down() -> None:
    numbers = {**CLOS, "leaves": 1, "spines": 1, "hosts_per_leaf": 2}
    plain, roomy = (fabric("leaf_spine", numbers | more) for more in ({}, {"room": {"hosts_per_leaf": 4}}))
    leaf, with_room = (found.switches[0] for found in (plain, roomy))
    assert [port.name for port in leaf.ports] == [f"Ethernet{n}" for n in (0, 4, 8, 12, 16, 24)]
    assert [port.name for port in with_room.ports] == [f"Ethernet{n}" for n in (0, 4, 8, 12, 32, 40)]
    assert {"Ethernet16", "Ethernet20", "Ethernet24", "Ethernet28"} <= {s.name for s in with_room.unused}
    assert sum(d.ports for d in with_room.demand) == 6


def test_links_have_the_ports_that_are_stated_and_devices_their_names() -> None:
    numbers = {**CLOS, "leaves": 2, "spines": 1, "hosts_per_leaf": 1}
    own = {"tor-a:spine1": ["Ethernet448", "Ethernet456"], "spine1:leaf2": ["Ethernet64", "Ethernet8"]}
    found = fabric("leaf_spine", numbers, names={"leaf1": "tor-a", "host2": "gpu-7"}, ports=own)
    assert [s.name for s in found.switches] == ["tor-a", "leaf2", "spine1"]
    assert [h.name for h in found.hosts] == ["host1", "gpu-7"]
    between = {(link.a, link.a_port, link.b, link.b_port) for link in found.links if not link.to_host}
    assert between == {
        ("tor-a", "Ethernet448", "spine1", "Ethernet0"),
        ("tor-a", "Ethernet456", "spine1", "Ethernet16"),
        ("leaf2", "Ethernet8", "spine1", "Ethernet64"),
        ("leaf2", "Ethernet16", "spine1", "Ethernet8"),
    }


def test_adapters_of_a_host_are_numbered_by_rail() -> None:
    numbers = {**CLOS, "units": 1, "rails": 2, "spines": 1, "hosts_per_unit": 1, "host_links": "4 x 400G"}
    found = fabric("rail_optimised", numbers)
    assert [(link.a, link.b_port) for link in found.links if link.to_host] == [
        ("leaf1", "port1"),
        ("leaf1", "port3"),
        ("leaf2", "port2"),
        ("leaf2", "port4"),
    ]


def test_ports_of_an_adapter_are_in_one_plane_each() -> None:
    sizes = {"units": 2, "rails": 2, "planes": 2, "spines": 4, "hosts_per_unit": 1}
    found = fabric("rail_optimised", {**CLOS, **sizes, "host_links": "4 x 400G", "uplinks": "1 x 800G"})
    at_hosts = [(link.b, link.b_port, link.a) for link in found.links if link.to_host]
    assert at_hosts == [(f"host{1 + n // 4}", f"port{1 + n % 4}", f"leaf{1 + n}") for n in range(8)]
    above = {(link.a, link.b) for link in found.links if not link.to_host}
    first = {(leaf, spine) for leaf in ("leaf1", "leaf3", "leaf5", "leaf7") for spine in ("spine1", "spine2")}
    other = {(leaf, spine) for leaf in ("leaf2", "leaf4", "leaf6", "leaf8") for spine in ("spine3", "spine4")}
    assert above == first | other


def test_leaves_of_a_pod_share_hosts_rail_by_rail() -> None:
    sizes = {"pods": 2, "leaves_per_pod": 4, "rails": 2, "spines_per_pod": 1, "super_spines": 1}
    numbers = {**SHAPES["three_tier"][0], **sizes, "hosts_per_leaf": 1, "host_links": "4 x 400G"}
    found = fabric("three_tier", numbers)
    assert [(link.a, link.b, link.b_port) for link in found.links if link.to_host][:8] == [
        ("leaf1", "host1", "port1"),
        ("leaf1", "host1", "port3"),
        ("leaf2", "host1", "port2"),
        ("leaf2", "host1", "port4"),
        ("leaf3", "host2", "port1"),
        ("leaf3", "host2", "port3"),
        ("leaf4", "host2", "port2"),
        ("leaf4", "host2", "port4"),
    ]
    assert [host.name for host in found.hosts] == ["host1", "host2", "host3", "host4"]


def test_the_shape_of_rails_and_planes_is_hpn_as_it_is_listed_link_by_link(reference: Path) -> None:
    """Two segments of 32 hosts, eight rails, two planes: every ToR, aggregation switch and cable."""
    text = (reference / "reference/designs/hpn-dual-plane.yaml").read_text()
    listed = load_intent(load_text(text, "hpn.yaml")).intent.topology
    numbers = {"units": 2, "rails": 8, "planes": 2, "spines": 32, "hosts_per_unit": 32}
    links = {"host_links": "16 x 200G", "uplinks": "1 x 400G", "cables": {"host": "10m", "uplink": "50m"}}
    plan = shape_plan(loaded_of(declared("rail_optimised", numbers | links)))
    assert plan is not None
    called = {f"leaf{1 + n}": f"tor-s{n // 16}-r{n // 2 % 8}-p{n % 2}" for n in range(32)}
    called |= {f"spine{1 + n}": f"agg-p{n // 16}-{n % 16}" for n in range(32)}
    called |= {f"host{1 + n}": f"gpu-s{n // 32}-{n % 32}" for n in range(64)}
    assert set(called.values()) == set(listed.devices or {})
    derived = Counter((called[b.a], called[b.b], b.links, b.speed_bps, b.cable_m) for b in plan.bundles)
    assert derived == Counter((link.a, link.b, *link.links, link.cable) for link in listed.links or ())


@settings(max_examples=60, deadline=None)
@given(intents())
def test_links_are_as_many_as_a_shape_is_refused_for(data: Data) -> None:
    loaded = loaded_of(data)
    plan, shape = shape_plan(loaded), loaded.intent.topology.shape
    assert (plan is None) == (shape is None)
    if plan is not None and shape is not None:
        assert sum(bundle.links for bundle in plan.bundles) == shape.link_count()


def test_each_link_of_a_torus_is_of_the_tier_that_pfc_is_stated_for() -> None:
    numbers = SHAPES["torus"][0] | {"hosts_per_switch": 1}
    data: Data = json.loads(json.dumps({"torus": numbers}))
    text: Data = {"lossless": "v1", "fabric": "f", "transport": "rocev2", "preset": "nvidia"}
    text["hardware"] = {"switch": "nvidia-sn5600", "nic": "connectx-7"}
    found = fabric_of({**text, "pfc": {"tiers": ["links"]}, "topology": data})
    for switch in found.switches:
        pausing = {port.leads_to for port in switch.ports if port.qos and port.qos.pfc.priorities}
        assert pausing == {"switch"}


def test_stated_ports_do_not_change_what_is_said_of_a_tier() -> None:
    numbers = {**CLOS, "leaves": 1, "spines": 2, "hosts_per_leaf": 1}
    own = {"leaf1:spine1": ["Ethernet448", "Ethernet456"]}
    plain, stated = fabric("leaf_spine", numbers), fabric("leaf_spine", numbers, ports=own)
    assert [found.capacities[0].note for found in (plain, stated)] == [
        "1 host x 2 x 400G = 800 Gb/s down, 2 spines x 2 x 800G = 3.2 Tb/s up, each counted one way"
    ] * 2


def test_ports_are_stated_for_all_links_between_two_devices_in_their_order() -> None:
    numbers = {**CLOS, "units": 1, "rails": 2, "spines": 1, "hosts_per_unit": 1, "host_links": "4 x 400G"}
    found = fabric("rail_optimised", numbers, ports={"leaf1:host1": ["Ethernet40", "Ethernet36"]})
    assert [(link.a, link.a_port, link.b_port) for link in found.links if link.to_host] == [
        ("leaf1", "Ethernet40", "port1"),
        ("leaf1", "Ethernet36", "port3"),
        ("leaf2", "Ethernet0", "port2"),
        ("leaf2", "Ethernet4", "port4"),
    ]


def test_any_port_is_the_next_that_no_other_link_is_stated_to_have() -> None:
    numbers = {**CLOS, "leaves": 1, "spines": 1, "hosts_per_leaf": 1}
    own = {"leaf1:spine1": ["any", "Ethernet0"], "leaf1:host1": ["any", "any"]}
    found = fabric("leaf_spine", numbers, ports=own)
    assert [(link.b, link.a_port) for link in found.links] == [
        ("host1", "Ethernet8"),
        ("host1", "Ethernet12"),
        ("spine1", "Ethernet16"),
        ("spine1", "Ethernet0"),
    ]
