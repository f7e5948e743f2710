"""What a leaf can send down and up, each counted one way."""

from __future__ import annotations

from typing import Any

from lossless.analysis.topology.bisection import fabric_capacity
from tests.strategies import fabric_of

EXPLICIT: dict[str, Any] = {
    "lossless": "v1",
    "fabric": "pair",
    "transport": "rocev2",
    "preset": "nvidia",
    "hardware": {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": "connectx-7"},
    "topology": {
        "devices": {name: {"role": name[:-1]} for name in ("leaf1", "leaf2", "spine1", "host1", "host2")},
        "links": [
            {"a": "leaf1", "b": "host1", "links": "4 x 400G", "cable": "3m"},
            {"a": "leaf2", "b": "host2", "links": "4 x 400G", "cable": "3m"},
            {"a": "leaf1", "b": "spine1", "links": "2 x 400G", "cable": "30m"},
            {"a": "spine1", "b": "leaf2", "links": "2 x 400G", "cable": "30m"},
            {"a": "leaf1", "b": "leaf2", "links": "2 x 400G", "cable": "3m"},
        ],
    },
}


def test_a_link_between_two_leaves_is_no_uplink() -> None:
    found = fabric_of(EXPLICIT).capacities
    assert [(c.leaf, c.down_bps // 10**9, c.up_bps // 10**9) for c in found] == [
        ("leaf1", 1600, 800),
        ("leaf2", 1600, 800),
    ]
    assert found[0].note == (
        "1 host x 4 x 400G = 1.6 Tb/s down, 1 spine x 2 x 400G = 800 Gb/s up, each counted one way"
    )


def test_leaves_with_the_same_figures_are_one_line_wherever_their_links_are_written() -> None:
    found = fabric_capacity(fabric_of(EXPLICIT)).tiers
    assert [(tier.switches, tier.down_bps, tier.up_bps) for tier in found] == [
        (("leaf1", "leaf2"), 1600 * 10**9, 800 * 10**9)
    ]
    topology = EXPLICIT["topology"]
    wider = [*topology["links"], {"a": "leaf2", "b": "spine1", "links": "1 x 800G", "cable": "30m"}]
    found = fabric_capacity(fabric_of({**EXPLICIT, "topology": {**topology, "links": wider}})).tiers
    assert [(tier.switches, tier.up_bps // 10**9) for tier in found] == [
        (("leaf1",), 800),
        (("leaf2",), 1600),
    ]


def test_a_link_to_a_switch_without_a_tier_is_neither_uplink_nor_downlink() -> None:
    topology = EXPLICIT["topology"]
    link = {"a": "leaf1", "b": "management", "links": "1 x 400G", "cable": "3m"}
    devices = {**topology["devices"], "management": {"role": "switch", "outside": True}}
    intent = {**EXPLICIT, "topology": {"devices": devices, "links": [*topology["links"], link]}}
    leaf1 = next(capacity for capacity in fabric_of(intent).capacities if capacity.leaf == "leaf1")
    assert (leaf1.down_bps // 10**9, leaf1.up_bps // 10**9) == (1600, 800)
