"""Tiers, rails and ports to hosts, as scrapes label them."""

from __future__ import annotations

import json

from lossless.formats.telemetry.collection import host_facing, switch_places, tiers
from lossless.formats.telemetry.prometheus.files import fabric_files
from tests.formats.telemetry.subjects import example, rails, torus


def test_switches_are_labeled_by_tier() -> None:
    assert [(place.name, place.tier) for place in switch_places(example("roce-256"))] == [
        ("leaf1", "leaf"),
        ("leaf2", "leaf"),
        ("spine1", "spine"),
        ("spine2", "spine"),
    ]


def test_switches_of_a_torus_have_one_tier() -> None:
    assert tiers(torus()) == ("switch",)


def test_a_leaf_serves_the_rail_of_the_port_that_every_host_has_there() -> None:
    found = {place.name: place.rail for place in switch_places(rails(1))}
    assert [found[f"leaf{number}"] for number in range(1, 9)] == ["0", "1", "2", "3", "0", "1", "2", "3"]
    assert found["spine1"] == ""


def test_both_ports_of_an_adapter_are_on_one_rail_in_two_planes() -> None:
    found = {place.name: place.rail for place in switch_places(rails(2))}
    assert [found[f"leaf{number}"] for number in range(1, 5)] == ["0", "0", "1", "1"]


def test_where_leaves_have_whole_hosts_there_are_no_rails() -> None:
    assert {place.rail for place in switch_places(example("roce-256"))} == {""}


def test_ports_to_hosts_are_those_of_leaves() -> None:
    ((tier, names),) = host_facing(example("roce-256"))
    links = {link.a_port for link in example("roce-256").links if link.to_host}
    assert (tier, set(names)) == ("leaf", links)


def test_targets_have_the_labels_by_which_dashboards_choose() -> None:
    targets = json.loads(fabric_files(rails(1))["prometheus/targets/switches.json"])
    labels = {target["labels"]["switch"]: target["labels"] for target in targets}
    assert labels["leaf2"] == {"fabric": "rails", "switch": "leaf2", "tier": "leaf", "rail": "1"}
    assert labels["spine1"] == {"fabric": "rails", "switch": "spine1", "tier": "spine"}
