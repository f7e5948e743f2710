"""Fabrics with rails: which leaves are one, and that traffic stays in its rail unless any destination is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.study.verdict import describe
from lossless.model.fabric.cluster import PATTERNS
from tests.analysis.simulation.fabrics import declared, example, put
from tests.analysis.storm.nets import of

if TYPE_CHECKING:
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.model.fabric.cluster import Pattern
    from lossless.model.fabric.view import View

CABLES = {"host": "3m", "uplink": "30m"}


def rails(units: int, hosts: int, count: int = 4) -> View:
    """Return a rail-optimized fabric: a leaf for each rail of a unit, all leaves at all spines."""
    shape = {"units": units, "rails": count, "spines": 2, "hosts_per_unit": hosts, "uplinks": "2 x 800G"}
    shape |= {"host_links": f"{count} x 400G", "cables": CABLES}
    return declared(
        {"hardware": {"switch": "nvidia-sn5600"}, "topology": {"leaf_spine": None, "rail_optimised": shape}}
    )


def ends(found: Scenario) -> set[tuple[str, str]]:
    """Return the ports of hosts at both ends of each flow."""
    made = instantiate(found, 1)
    names = ((made.names[flow.path[0]], made.names[flow.path[-1]]) for flow in made.network.flows)
    return {(source.partition(":")[2], target.partition(":")[2]) for source, target in names}


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ("rails", {"leaf1": 0, "leaf2": 1, "leaf3": 0, "leaf4": 1}),
        ("rails by plane", {f"leaf{n}": rail for n, rail in zip(range(1, 9), [0, 0, 1, 1] * 2, strict=True)}),
        ("rails in three tiers", {"leaf1": 0, "leaf2": 1, "leaf3": 0, "leaf4": 1}),
        ("leaf-spine", {}),
        ("three tiers", {}),
        ("torus", {}),
    ],
)
def test_a_rail_is_the_leaves_with_the_same_ports_of_hosts(shape: str, found: dict[str, int]) -> None:
    assert of(shape).rail_of == found


def test_several_adapters_of_a_host_on_a_rail_are_one_rail() -> None:
    shape = {"units": 1, "rails": 2, "spines": 2, "hosts_per_unit": 4, "host_links": "4 x 400G"}
    shape |= {"uplinks": "2 x 800G", "cables": CABLES}
    view = declared({"topology": {"leaf_spine": None, "rail_optimised": shape}})
    assert view.rail_of == {"leaf1": 0, "leaf2": 1}


def test_the_two_leaves_of_a_dual_tor_are_no_rails() -> None:
    shape = {"leaves": 2, "spines": 2, "hosts_per_leaf": 4, "host_links": "2 x 400G", "uplinks": "2 x 800G"}
    view = declared({"topology": {"leaf_spine": shape | {"dual_tor": "on", "cables": CABLES}}})
    assert view.rail_of == {}


def test_leaves_that_share_a_part_of_the_ports_of_hosts_are_no_rails() -> None:
    """One host has both of its adapters at the first leaf, so that it has ports of both rails."""
    link = {"links": "1 x 400G", "cable": "3m"}
    hosts = [("leaf1", "host1"), ("leaf2", "host1"), ("leaf1", "host2"), ("leaf2", "host2")]
    links = [{"a": leaf, "b": host, **link} for leaf, host in hosts]
    links += [{"a": leaf, "b": "spine1", **link, "links": "2 x 400G"} for leaf in ("leaf1", "leaf2")]
    roles = {
        "leaf1": "leaf",
        "leaf2": "leaf",
        "spine1": "spine",
        "host1": "host",
        "host2": "host",
        "host3": "host",
    }
    devices = {name: {"role": role} for name, role in roles.items()}
    topology = {"leaf_spine": None, "devices": devices}
    mixed = [*links, {"a": "leaf1", "b": "host3", **link, "links": "2 x 400G"}]
    hardware = {"switch": "nvidia-sn5600"}
    clean = {name: value for name, value in devices.items() if name != "host3"}
    assert declared(
        {"topology": topology | {"devices": clean, "links": links}, "hardware": hardware}
    ).rail_of == {
        "leaf1": 0,
        "leaf2": 1,
    }
    assert declared({"topology": topology | {"links": mixed}, "hardware": hardware}).rail_of == {}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_traffic_stays_in_its_rail_unless_any_is_asked_for(pattern: Pattern) -> None:
    view = rails(2, 8)
    within = put(view, pattern=pattern, nics=32)
    assert {source == target for source, target in ends(within)} == {True}
    across = put(view, pattern=pattern, nics=32, traffic="any")
    assert any(source != target for source, target in ends(across))
    assert ", traffic within rails" in describe(within)
    assert ", traffic across rails" in describe(across)
    assert any(text.startswith("traffic within rails: ") for text in within.assumed)


def test_the_largest_incast_of_a_rail_is_that_of_one_port_of_each_host() -> None:
    view = rails(2, 8)
    assert [len(put(view).nics), len(put(view, traffic="any").nics)] == [16, 64]
    second = put(view, target="host3:port2")
    assert {second.topology.names[nic] for nic in second.nics} == {
        f"host{number}:port2" for number in range(1, 17)
    }


def test_few_nic_ports_are_those_of_one_rail_at_all_of_its_leaves() -> None:
    view = rails(2, 8)
    found = put(view, pattern="all-to-all", nics=8, target="host1:port3")
    assert ends(found) == {("port3", "port3")}
    assert {found.topology.names[found.topology.leaf(nic)] for nic in found.nics} == {"leaf3", "leaf7"}
    assert len(found.nics) == 8


def test_a_load_on_rails_is_that_of_whole_rails_up_to_512_nics() -> None:
    """Leaves of one rail share no links with those of another, so that a few rails stand for all."""
    view = rails(6, 32, count=4)
    found = put(view, pattern="permutation", whole_leaves=True)
    assert len(found.nics) == 384
    assert {source for source, _ in ends(found)} == {"port1", "port2"}


def test_a_fabric_without_rails_says_nothing_of_them() -> None:
    found = put(example(), pattern="permutation")
    assert "rails" not in describe(found)
    assert not any("rail" in text for text in found.assumed)
    assert put(example(), traffic="any").nics == put(example()).nics
