"""Rails, dragonflies, tori, the room they keep, their names and ports: each mistake, and exactly what is said of it."""

from __future__ import annotations

import pytest

from tests.formats.intent.intent_texts import NAMED, SHAPE, TOPOLOGY, said_of, spoilt

Changes = list[tuple[str, str]]
HARDWARE = ("{leaf: nvidia-sn5600, spine: nvidia-sn5600, nic", "{switch: nvidia-sn5600, nic")
RAILS = """\
topology:
  rail_optimised:
    units: 2
    rails: 4
    spines: 2
    hosts_per_unit: 8
    host_links: 4 x 400G
    uplinks: 2 x 800G
    cables: {host: 5m, uplink: 30m}
"""
PODS = """\
topology:
  three_tier:
    pods: 2
    leaves_per_pod: 4
    spines_per_pod: 2
    super_spines: 2
    planes: 2
    rails: 2
    hosts_per_leaf: 8
    host_links: 2 x 400G
    uplinks: 2 x 800G
    spine_uplinks: 4 x 800G
    cables: {host: 5m, uplink: 30m, spine_uplink: 100m}
"""
FLY = """\
topology:
  dragonfly:
    groups: 3
    switches: 2
    hosts_per_switch: 4
    host_links: 1 x 400G
    local_links: 2 x 400G
    global_links: 2 x 400G
    cables: {host: 3m, local: 10m, global: 100m}
"""
FLY_PLUS = """\
topology:
  dragonfly_plus:
    groups: 3
    leaves: 2
    spines: 2
    hosts_per_leaf: 4
    host_links: 1 x 400G
    uplinks: 2 x 400G
    global_links: 2 x 400G
    cables: {host: 3m, uplink: 10m, global: 100m}
"""
TORUS = """\
topology:
  torus:
    sides: [3, 4]
    links: 2 x 400G
    hosts_per_switch: 4
    host_links: 1 x 400G
    cables: {host: 3m, link: 10m}
"""


def of(topology: str) -> str:
    return spoilt(SHAPE, (TOPOLOGY, topology), HARDWARE)


@pytest.mark.parametrize("topology", [RAILS, PODS, FLY, FLY_PLUS, TORUS])
def test_every_shape_is_an_intent_with_one_product_for_all_switches(topology: str) -> None:
    assert said_of(of(topology)) == []


WRONG: dict[str, tuple[str, Changes, list[str]]] = {
    "rails-that-do-not-divide": (
        RAILS,
        [("rails: 4", "rails: 3")],
        ["16:12: topology.rail_optimised.rails: 3 rails do not divide 4 links of a host"],
    ),
    "planes-that-do-not-divide-spines": (
        RAILS,
        [("rails: 4", "rails: 2\n    planes: 2"), ("spines: 2", "spines: 3")],
        ["17:13: topology.rail_optimised.planes: 2 planes do not divide 3 spines"],
    ),
    "planes-that-do-not-divide-adapters": (
        RAILS,
        [("rails: 4", "rails: 4\n    planes: 2")],
        ["17:13: topology.rail_optimised.planes: 2 planes do not divide 1 link of a host on each rail"],
    ),
    "planes-that-do-not-divide-room": (
        RAILS,
        [("rails: 4", "rails: 2\n    planes: 2\n    room: {spines: 5}")],
        ["18:20: topology.rail_optimised.room.spines: 2 planes do not divide 5 spines"],
    ),
    "rails-that-do-not-divide-leaves": (
        PODS,
        [("rails: 2", "rails: 3"), ("host_links: 2", "host_links: 3")],
        ["20:12: topology.three_tier.rails: 3 rails do not divide 4 leaves_per_pod"],
    ),
    "rails-that-do-not-divide-links": (
        PODS,
        [("host_links: 2", "host_links: 3")],
        ["20:12: topology.three_tier.rails: 2 rails do not divide 3 links of a host"],
    ),
    "rails-that-do-not-divide-room": (
        PODS,
        [("rails: 2", "rails: 2\n    room: {leaves_per_pod: 5}")],
        ["21:28: topology.three_tier.room.leaves_per_pod: 2 rails do not divide 5 leaves_per_pod"],
    ),
    "too-many-links-of-rails": (
        PODS,
        [("pods: 2", "pods: 50000"), ("hosts_per_leaf: 8", "hosts_per_leaf: 9")],
        ["15:5: topology.three_tier: 3,000,000 links; the most that is laid out is 2,000,000"],
    ),
    "one-group": (
        FLY,
        [("groups: 3", "groups: 1")],
        ["15:13: topology.dragonfly.groups: one group is no dragonfly; it has two or more"],
    ),
    "one-switch": (
        FLY,
        [("switches: 2", "switches: 1")],
        ["16:15: topology.dragonfly.switches: one switch to a group is no dragonfly; it has two or more"],
    ),
    "no-global-cable": (
        FLY,
        [(", global: 100m", "")],
        ["21:5: topology.dragonfly.cables: global is missing"],
    ),
    "one-group-plus": (
        FLY_PLUS,
        [("groups: 3", "groups: 1")],
        ["15:13: topology.dragonfly_plus.groups: one group is a leaf_spine; a dragonfly+ has two or more"],
    ),
    "one-side": (
        TORUS,
        [("[3, 4]", "[4]")],
        ["15:12: topology.torus.sides: expected two or three sides, found 1"],
    ),
    "four-sides": (
        TORUS,
        [("[3, 4]", "[2, 2, 2, 2]")],
        ["15:12: topology.torus.sides: expected two or three sides, found 4"],
    ),
    "side-of-one": (
        TORUS,
        [("[3, 4]", "[3, 1]")],
        ["15:16: topology.torus.sides.1: a side of one switch is no side; leave it out"],
    ),
    "side-of-none": (
        TORUS,
        [("[3, 4]", "[3, 0]")],
        ["15:16: topology.torus.sides.1: 0 is not a count; expected a whole number from 1 to 1000000"],
    ),
    "torus-too-large": (
        TORUS,
        [("[3, 4]", "[800, 800]")],
        ["15:5: topology.torus: 5,120,000 links; the most that is laid out is 2,000,000"],
    ),
    "two-shapes": (
        TORUS,
        [("topology:\n", RAILS)],
        ["14:3: topology: give either rail_optimised or torus, not both"],
    ),
    "no-product": (
        TORUS,
        [(HARDWARE[1], HARDWARE[0])],
        ["12:1: hardware: switch is missing; sw-0-0 is a switch"],
    ),
    "no-leaf": (
        RAILS,
        [("{switch: nvidia-sn5600, nic", "{spine: nvidia-sn5600, nic")],
        ["12:1: hardware: leaf is missing; leaf1 is a leaf"],
    ),
    "no-such-product": (
        TORUS,
        [("{switch: nvidia-sn5600", "{switch: nvidia-sn5601")],
        [
            (
                "12:20: hardware.switch: no switch profile is called 'nvidia-sn5601'; did you mean nvidia-s"
                "n5640? (others: nvidia-sn5600, nvidia-sn4600c, nvidia-sn2410, nvidia-sn2700, nvidia-sn3700"
                " and 19 more, see lossless profiles)"
            )
        ],
    ),
    "room-too-small": (
        TORUS,
        [("    links:", "    room: {hosts_per_switch: 2}\n    links:")],
        ["16:30: topology.torus.room.hosts_per_switch: room for 2 hosts_per_switch, and there are 4 already"],
    ),
    "room-of-what-is-fixed": (
        RAILS,
        [("    rails:", "    room: {rails: 8}\n    rails:")],
        ["16:12: unknown key 'rails'; there are units, spines, hosts_per_unit"],
    ),
    "room-beyond-the-switch": (
        RAILS,
        [("    rails:", "    room: {hosts_per_unit: 200}\n    rails:")],
        [
            "16:11: topology.rail_optimised.room: a leaf (ACS-SN5600) has no 400G port left for links that may come"
        ],
    ),
    "room-that-is-too-large": (
        RAILS,
        [("    rails:", "    room: {units: 100000}\n    rails:")],
        ["15:5: topology.rail_optimised: 4,800,000 links; the most that is laid out is 2,000,000"],
    ),
    "tier-of-another-shape": (
        TORUS,
        [("pfc:\n", "pfc:\n  tiers: [hosts, uplinks]\n")],
        ["9:18: pfc.tiers.1: no link of this fabric is one of uplinks; there are hosts, links"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_shapes_that_cannot_be(case: str) -> None:
    topology, changes, said = WRONG[case]
    assert said_of(spoilt(of(topology), *changes)) == said


def test_planes_part_the_room_too() -> None:
    pods = TOPOLOGY.replace("leaf_spine:", "three_tier:").replace("leaves: 2", "leaves_per_pod: 2")
    pods = pods.replace("spines: 2", "pods: 2\n    planes: 2\n    spines_per_pod: 2\n    super_spines: 2")
    pods = pods.replace("uplink: 30m", "uplink: 30m, spine_uplink: 100m")
    pods += "    spine_uplinks: 1 x 800G\n    room: {super_spines: 3}\n"
    text = spoilt(SHAPE, (TOPOLOGY, pods), HARDWARE)
    assert said_of(text) == [
        "25:26: topology.three_tier.room.super_spines: 2 planes do not divide 3 super_spines"
    ]


OWN: dict[str, tuple[str, list[str]]] = {
    "names": ("  names: {leaf1: rack7-tor, host3: gpu-a}\n", []),
    "swapped-names": ("  names: {leaf1: leaf2, leaf2: leaf1}\n", []),
    "name-of-nothing": (
        "  names: {leaf3: tor}\n",
        [
            "21:11: topology.names: the shape has no device 'leaf3'; did you mean leaf2? (others: leaf1"
            ", host1, host2, host3, host4 and 6 more)"
        ],
    ),
    "name-of-another": (
        "  names: {leaf1: leaf2}\n",
        ["21:18: topology.names.leaf1: another device is called leaf2 already"],
    ),
    "name-given-twice": (
        "  names: {leaf1: tor, leaf2: tor}\n",
        ["21:30: topology.names.leaf2: another device is called tor already"],
    ),
    "name-that-is-none": (
        "  names: {leaf1: a/b}\n",
        [
            "21:18: topology.names.leaf1: 'a/b' is not a name; expected at most 63 letters, digits, '.', '_' and "
            "'-', beginning with a letter or digit"
        ],
    ),
    "ports": ('  ports: {"leaf1:spine1": [Ethernet448, Ethernet456]}\n', []),
    "ports-of-own-names": (
        '  names: {leaf1: tor}\n  ports: {"tor:spine1": [Ethernet448, Ethernet456]}\n',
        [],
    ),
    "ports-to-nobody": (
        '  ports: {"leaf1:leaf2": [Ethernet448]}\n',
        [
            "21:11: topology.ports: no links lead as 'leaf1:leaf2' says, DEVICE:NEIGHBOR; did you "
            "mean leaf1:spine2? (others: leaf1:host2, leaf1:spine1, leaf1:host1, leaf1:host3, leaf1:host4)"
        ],
    ),
    "too-few-ports": (
        '  ports: {"leaf1:spine1": [Ethernet448]}\n',
        ["21:27: topology.ports.leaf1:spine1: 1 port for 2 links between the two"],
    ),
    "one-port-twice": (
        '  ports: {"leaf1:spine1": [Ethernet448, Ethernet448]}\n',
        ["21:27: topology.ports.leaf1:spine1: leaf1:Ethernet448 already has a link, that of leaf1:spine1"],
    ),
    "port-of-another-link": (
        '  ports: {"leaf1:spine1": [Ethernet448, Ethernet456], "leaf1:spine2": [Ethernet456, Ethernet464]}\n',
        ["21:71: topology.ports.leaf1:spine2: leaf1:Ethernet456 already has a link, that of leaf1:spine1"],
    ),
    "port-that-is-none": (
        '  ports: {"leaf1:spine1": ["Ethernet1/a", Ethernet456]}\n',
        [
            "21:28: topology.ports.leaf1:spine1.0: 'Ethernet1/a' is not the name of a port; expected one like "
            "Ethernet8, swp1s0 or Ethernet1/1"
        ],
    ),
}


@pytest.mark.parametrize("case", OWN)
def test_names_and_ports_of_ones_own(case: str) -> None:
    added, said = OWN[case]
    assert said_of(spoilt(SHAPE, (TOPOLOGY, TOPOLOGY + added))) == said


def test_devices_that_are_listed_have_their_own_names_already() -> None:
    text = spoilt(NAMED, ("  links:\n", "  names: {leaf1: tor}\n  links:\n"))
    assert said_of(text) == [
        "19:3: names is for what a shape derives; devices and links that are listed name their own"
    ]
