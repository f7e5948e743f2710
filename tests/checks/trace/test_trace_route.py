"""The path: shortest, up and then down, counted by its links, and refused in words an operator uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.checks.trace.model import Trace
from lossless.checks.trace.running import trace
from lossless.ground.basics.errors import LosslessError
from lossless.model.fabric.view import View
from tests.checks.trace.tracing import device, intent, traced
from tests.strategies import fabric_of

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

Data = dict[str, Any]


def clos(**shape: Any) -> Trace:
    patch = {"topology": {"leaf_spine": shape}}
    return traced([intent(patch)], "host1", "host5")


def wired(*links: str, roles: str = "leaf leaf spine spine") -> Data:
    """Return an intent of switches a, b, c, ... with one host on the first and one on the last leaf."""
    names = dict(zip("abcdefgh", roles.split(), strict=False))
    leaves = [name for name, role in names.items() if role == "leaf"]
    hosts = {"h1": leaves[0], "h2": leaves[-1]}
    devices = {name: {"role": role} for name, role in names.items()} | {h: {"role": "host"} for h in hosts}
    entries = [{"a": leaf, "b": host, "links": "1 x 400G", "cable": "3m"} for host, leaf in hosts.items()] + [
        {"a": pair[0], "b": pair[1], "links": "1 x 800G", "cable": "30m"} for pair in links
    ]
    return {"topology": {"leaf_spine": None, "devices": devices, "links": entries}}


def switches(found: Trace) -> str:
    return "".join(hop.switch for hop in found.hops)


def follow(data: Data, via: str | None = None) -> Trace:
    return traced([intent(data)], "h1", "h2", via=via)


def test_every_parallel_link_is_a_path_of_its_own() -> None:
    found = clos(spines=3, uplinks="4 x 800G")
    assert found.choice == (3 * 4 * 4, (), True, False)
    assert [hop.switch for hop in found.hops] == ["leaf1", "spine1", "leaf2"]


def test_hosts_of_one_leaf_meet_that_leaf_alone() -> None:
    found = traced([intent({})], "host1", "host2")
    assert [hop.switch for hop in found.hops] == ["leaf1"]
    assert found.choice.equal == 1


def test_a_host_uses_the_port_that_is_named_else_its_first() -> None:
    assert traced([intent({})], "host1", "host5").source == "host1:port1"
    found = traced([intent({})], "host1:port2", "host5:port2")
    assert (found.source, found.target) == ("host1:port2", "host5:port2")


def test_a_link_between_leaves_is_shorter_than_a_spine() -> None:
    assert switches(follow(wired("ac", "bc", "ab"))) == "ab"


def test_a_packet_takes_no_valley() -> None:
    # a - c - e - d - b is the only path without the longer way over f, and e is a leaf: a valley.
    valley = wired("ac", "ce", "ed", "db", roles="leaf leaf spine spine leaf")
    valley["topology"]["links"][1]["a"] = "b"
    found = follow(valley)
    assert (switches(found), found.choice.up_down) == ("acedb", False)


def test_a_deployed_switch_with_servers_is_a_leaf_that_packets_do_not_turn_at() -> None:
    def switch(name: str, kind: str, **far: str) -> Data:
        names = {
            port: dict(zip(("name", "port"), text.split(":"), strict=True)) for port, text in far.items()
        }
        return {"DEVICE_METADATA": {"localhost": {"hostname": name, "type": kind}}, "DEVICE_NEIGHBOR": names}

    # a - s1 - c - s2 - b is the only path: across c where it is a spine as well, a valley where it is a leaf.
    c = switch("c", "LeafRouter", Ethernet0="server:eth0", Ethernet4="s1:Ethernet4", Ethernet8="s2:Ethernet8")
    rest = [
        switch("a", "ToRRouter", Ethernet8="s1:Ethernet8"),
        switch("s1", "LeafRouter", Ethernet4="c:Ethernet4"),
        switch("s2", "LeafRouter", Ethernet8="c:Ethernet8"),
        switch("b", "ToRRouter", Ethernet4="s2:Ethernet4"),
    ]

    def up_down(middle: Data) -> bool:
        documents = [device(patch, f"{number}.json") for number, patch in enumerate([*rest, middle])]
        found = traced(documents, "a:Ethernet0", "b:Ethernet0")
        assert [hop.switch for hop in found.hops] == ["a", "s1", "c", "s2", "b"]
        return found.choice.up_down

    assert up_down(c)
    assert not up_down({**c, "DEVICE_NEIGHBOR_METADATA": {"server": {"type": "Server"}}})


def test_via_chooses_among_paths_of_one_length() -> None:
    found = traced([intent({})], "host1", "host5", via="spine2")
    assert [hop.switch for hop in found.hops] == ["leaf1", "spine2", "leaf2"]
    assert found.choice == (8, (), True, False)


def test_via_can_ask_for_a_longer_path_and_is_told_so() -> None:
    found = follow(wired("ac", "bc", "ab"), via="c")
    assert (switches(found), found.choice.detour, found.choice.equal) == ("acb", True, 1)


def test_links_that_are_down_carry_nothing() -> None:
    def leaf(name: str, far: str) -> Data:
        neighbors = {
            "Ethernet0": {"name": far, "port": "Ethernet0"},
            "Ethernet8": {"name": far, "port": "Ethernet8"},
        }
        return {"DEVICE_METADATA": {"localhost": {"hostname": name}}, "DEVICE_NEIGHBOR": neighbors}

    down = {"PORT": {"Ethernet0": {"admin_status": "down"}}}
    documents = [device(leaf("a", "b"), "a.json"), device({**leaf("b", "a"), **down}, "b.json")]
    found = traced(documents, "a:Ethernet4", "b:Ethernet4")
    assert [(hop.ingress.port, hop.egress.port) for hop in found.hops] == [
        ("Ethernet4", "Ethernet8"),
        ("Ethernet8", "Ethernet4"),
    ]


def test_a_device_is_found_by_its_name_with_and_without_its_domain() -> None:
    def member(own: str, peer: str) -> Document:
        meta = {"localhost": {"hostname": own}}
        neighbor = {"Ethernet8": {"name": peer, "port": "Ethernet8"}}
        return device({"DEVICE_METADATA": meta, "DEVICE_NEIGHBOR": neighbor}, f"{own}.json")

    documents = [member("a.dc.example", "b"), member("b.dc.example", "a")]
    found = traced(documents, "a:Ethernet4", "b.dc.example:Ethernet4")
    assert (switches(found), found.source) == ("a.dc.exampleb.dc.example", "a.dc.example:Ethernet4")


def test_neighbors_without_a_file_are_ends_by_name() -> None:
    neighbors = {"Ethernet0": {"name": "gpu1", "port": "eth2"}, "Ethernet4": {"name": "gpu2", "port": "eth2"}}
    found = traced([device({"DEVICE_NEIGHBOR": neighbors})], "gpu1", "gpu2")
    assert (found.source, found.target) == ("gpu1:eth2", "gpu2:eth2")
    assert found.sender is not None
    assert found.sender.nic is None


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (
            "hots1",
            "host5",
            "no host or switch 'hots1'; did you mean host1? (others: host2, host3, host4, host5, host6 and 6 more)",
        ),
        ("zzz", "host5", "no host or switch 'zzz'; there are host1, host2, host3, host4, host5 and 7 more"),
        ("leaf1", "host5", "leaf1 is a switch; name one of its ports, like leaf1:Ethernet0"),
        (
            "leaf1:Ethernet3",
            "host5",
            "leaf1 has no port 'Ethernet3'; did you mean Ethernet32? (others: Ethernet0, "
            "Ethernet4, Ethernet8, Ethernet12, Ethernet16 and 6 more)",
        ),
        ("host1:port3", "host5", "host1 has no port 'port3'; did you mean port2? (others: port1)"),
        ("host1:port1", "host1:port1", "a packet needs two ends: both name the same port"),
    ],
)
def test_ends_that_are_none(source: str, target: str, message: str) -> None:
    with pytest.raises(LosslessError) as caught:
        traced([intent({})], source, target)
    assert str(caught.value) == message


def test_a_switch_of_via_must_exist() -> None:
    with pytest.raises(
        LosslessError, match=r"^no switch 'spine3'; did you mean spine2\? \(others: spine1, leaf1, leaf2\)$"
    ):
        traced([intent({})], "host1", "host5", via="spine3")


@pytest.mark.parametrize("dscp", [-1, 64])
def test_six_bits_hold_a_dscp(dscp: int) -> None:
    with pytest.raises(LosslessError, match=f"^{dscp} is not a DSCP; expected a number from 0 to 63$"):
        traced([intent({})], "host1", "host5", dscp)


def test_two_islands_have_no_path() -> None:
    with pytest.raises(LosslessError, match=r"^no link leads from a to b$"):
        follow(wired("ac", "bd"))
    with pytest.raises(LosslessError, match=r"^no link leads from a to b through d$"):
        follow(wired("ac", "bc"), via="d")


PLANES: Data = {
    "topology": {
        "leaf_spine": None,
        "rail_optimised": {
            "units": 2,
            "rails": 2,
            "planes": 2,
            "spines": 4,
            "hosts_per_unit": 2,
            "host_links": "4 x 400G",
            "uplinks": "1 x 800G",
            "cables": {"host": "3m", "uplink": "30m"},
        },
    }
}
"""Ports 1 and 2 of a host are its first adapter, 3 and 4 its second; odd ones are in the first plane."""


def test_rails_meet_at_spines_and_planes_nowhere() -> None:
    def path(a: str, b: str) -> tuple[str, int]:
        found = traced([intent(PLANES)], a, b)
        return switches(found), found.choice.equal

    assert path("host1:port3", "host2:port3") == ("leaf3", 1), "one rail of one unit is one leaf"
    assert path("host1:port1", "host2:port3") == ("leaf1spine1leaf3", 2), "two rails of one plane"
    assert path("host1:port2", "host3:port4") == ("leaf2spine3leaf8", 2), "two units of the other plane"
    with pytest.raises(LosslessError, match=r"^no link leads from leaf1 to leaf6$"):
        path("host1:port1", "host3:port2")


def test_rails_of_three_tiers_meet_in_their_pod() -> None:
    shape: Data = {"pods": 2, "leaves_per_pod": 4, "spines_per_pod": 2, "super_spines": 2, "planes": 2}
    shape |= {"rails": 2, "hosts_per_leaf": 2, "host_links": "2 x 400G", "uplinks": "1 x 800G"}
    shape |= {"spine_uplinks": "1 x 800G", "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "100m"}}
    topology = {"leaf_spine": None, "three_tier": shape}
    documents = [intent({"topology": topology, "hardware": {"super-spine": "nvidia-sn5600"}})]
    tiers = {"host2:port2": "leaf2", "host3:port2": "leaf2spine1leaf4", "host3:port1": "leaf2spine1leaf3"}
    for target, through in tiers.items():
        assert switches(traced(documents, "host1:port2", target)) == through
    found = traced(documents, "host1:port2", "host5:port2")
    assert (switches(found), found.choice.equal) == ("leaf2spine1superspine1spine3leaf6", 2)


def test_two_files_of_one_hostname_are_refused() -> None:
    documents = [device({}, "x/config_db.json"), device({}, "y/config_db.json")]
    with pytest.raises(LosslessError, match=r"^x/config_db.json and y/config_db.json both have the hostname"):
        traced(documents, "leaf1:Ethernet0", "leaf1:Ethernet4")


def test_thousands_of_paths_are_counted_not_walked() -> None:
    data = wired("ac", "bc")
    data["topology"]["links"][2]["links"] = data["topology"]["links"][3]["links"] = "30 x 800G"
    fabric = fabric_of(intent(data).data)
    assert trace(View(fabric), "h1", "h2", 26).choice.equal == 900


def test_what_is_out_of_service_is_no_way() -> None:
    patch = {"failures": {"out_of_service": ["spine1"]}}
    found = traced([intent(patch)], "host1", "host5")
    assert [hop.switch for hop in found.hops] == ["leaf1", "spine2", "leaf2"]
