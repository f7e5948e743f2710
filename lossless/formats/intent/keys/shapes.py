"""What the keys of an intent mean: shapes of topologies, the room they keep, and names and ports of their devices."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

_LINKS = "how many, of which rate."
_LAG = KeyDoc("Whether bundles between two switches are LAGs. Left out: off.", ("on",))
_ACCEPTED = KeyDoc(
    "Accepted ratio of the bandwidth below a switch to that of its uplinks: 2 means 2:1. One number for all tiers, or "
    "one for each. Left out: 1.",
    (2,),
)
_HOST_M = KeyDoc("Length of the cables from hosts to their switches, in meters, with its unit.", ("3m",))
_UPLINK_M = KeyDoc("Length of the cables from leaves to spines, in meters, with its unit.", ("30m",))
_GLOBAL_M = KeyDoc("Length of the cables between groups, in meters, with its unit.", ("100m",))
_OTHER_FORM = "Left out: another form is given."


def _room(*, example: dict[str, int]) -> KeyDoc:
    return KeyDoc(
        "What the shape may grow to. Ports and names are kept free for it, so that none of those that exist change. "
        "Left out: no more than there is.",
        (example,),
    )


def _most(what: str, number: int) -> KeyDoc:
    return KeyDoc(f"The most {what} there may be. Left out: no more than there are.", (number,))


SHAPES: dict[str, dict[str, KeyDoc]] = {
    "Hardware": {
        "switch": KeyDoc(
            "Switch profile of every role that names none of its own, and of switches without a tier, as in a torus. "
            "Left out: each role names its own.",
            ("nvidia-sn5600",),
        ),
    },
    "Topology": {
        "rail_optimised": KeyDoc(
            f"Scalable units with a leaf for each rail of the hosts, by their numbers. {_OTHER_FORM}"
        ),
        "dragonfly": KeyDoc(f"A dragonfly by its numbers. {_OTHER_FORM}"),
        "dragonfly_plus": KeyDoc(f"A dragonfly+ by its numbers. {_OTHER_FORM}"),
        "torus": KeyDoc(f"A torus of two or three dimensions by its numbers. {_OTHER_FORM}"),
        "names": KeyDoc(
            "Names of devices of a shape, by the names that are derived. Left out: the derived ones.",
            ({"leaf1": "rack7-tor"},),
        ),
        "ports": KeyDoc(
            "Ports of links of a shape, by `DEVICE:NEIGHBOR`, in the order of its links; `any` is the next free one. "
            "Left out: derived ones.",
            ({"leaf1:spine1": ["Ethernet448", "Ethernet456"]},),
        ),
    },
    "LeafSpine": {"room": _room(example={"hosts_per_leaf": 32})},
    "LeafSpineRoom": {
        "leaves": _most("leaves", 16),
        "spines": _most("spines", 8),
        "hosts_per_leaf": _most("hosts at a leaf", 32),
    },
    "ThreeTier": {"room": _room(example={"leaves_per_pod": 32})},
    "ThreeTierRoom": {
        "pods": _most("pods", 16),
        "leaves_per_pod": _most("leaves in a pod", 32),
        "spines_per_pod": _most("spines in a pod", 16),
        "super_spines": _most("super-spines", 64),
        "hosts_per_leaf": _most("hosts at a leaf", 32),
    },
    "RailOptimised": {
        "units": KeyDoc("How many scalable units.", (4,)),
        "rails": KeyDoc("How many rails, which is how many leaves a unit has in every plane.", (8,)),
        "planes": KeyDoc(
            "Planes that no link joins: every adapter has a port in each, and each has its part of the spines.",
            (2,),
        ),
        "spines": KeyDoc("How many spine switches join all units, in all planes.", (8,)),
        "hosts_per_unit": KeyDoc("How many hosts in every unit.", (32,)),
        "host_links": KeyDoc(
            "All links of a host, shared out among its rails, adapter by adapter, and each adapter's among the planes: "
            f"{_LINKS}",
            ("8 x 400G",),
        ),
        "uplinks": KeyDoc(f"Links from each leaf to each spine: {_LINKS}", ("2 x 800G",)),
        "cables": KeyDoc("Real cable lengths by tier.", ({"host": "5m", "uplink": "30m"},)),
        "oversubscription": _ACCEPTED,
        "lag": _LAG,
        "room": _room(example={"units": 8}),
    },
    "RailRoom": {
        "units": _most("units", 8),
        "spines": _most("spines", 16),
        "hosts_per_unit": _most("hosts in a unit", 32),
    },
    "Dragonfly": {
        "groups": KeyDoc("How many groups.", (9,)),
        "switches": KeyDoc("How many switches in every group.", (4,)),
        "hosts_per_switch": KeyDoc("How many hosts at every switch.", (8,)),
        "host_links": KeyDoc(f"Links from each host to its switch: {_LINKS}", ("1 x 400G",)),
        "local_links": KeyDoc(f"Links between every two switches of a group: {_LINKS}", ("2 x 400G",)),
        "global_links": KeyDoc(
            f"Links between every two groups, shared out among their switches: {_LINKS}", ("4 x 400G",)
        ),
        "cables": KeyDoc("Real cable lengths by tier.", ({"host": "3m", "local": "10m", "global": "100m"},)),
        "oversubscription": _ACCEPTED,
        "lag": _LAG,
        "room": _room(example={"groups": 17}),
    },
    "DragonflyCables": {
        "host": _HOST_M,
        "local": KeyDoc("Length of the cables within a group, in meters, with its unit.", ("10m",)),
        "global": _GLOBAL_M,
    },
    "DragonflyRoom": {
        "groups": _most("groups", 17),
        "hosts_per_switch": _most("hosts at a switch", 16),
    },
    "DragonflyPlus": {
        "groups": KeyDoc("How many groups.", (8,)),
        "leaves": KeyDoc("How many leaf switches in every group.", (4,)),
        "spines": KeyDoc("How many spine switches in every group.", (4,)),
        "hosts_per_leaf": KeyDoc("How many hosts at every leaf.", (16,)),
        "host_links": KeyDoc(f"Links from each host to its leaf: {_LINKS}", ("2 x 400G",)),
        "uplinks": KeyDoc(f"Links from each leaf to each spine of its group: {_LINKS}", ("4 x 800G",)),
        "global_links": KeyDoc(
            f"Links between every two groups, shared out among their spines: {_LINKS}", ("4 x 800G",)
        ),
        "cables": KeyDoc("Real cable lengths by tier.", ({"host": "3m", "uplink": "30m", "global": "100m"},)),
        "oversubscription": _ACCEPTED,
        "lag": _LAG,
        "room": _room(example={"groups": 16}),
    },
    "GroupCables": {"host": _HOST_M, "uplink": _UPLINK_M, "global": _GLOBAL_M},
    "DragonflyPlusRoom": {
        "groups": _most("groups", 16),
        "leaves": _most("leaves in a group", 8),
        "hosts_per_leaf": _most("hosts at a leaf", 32),
    },
    "Torus": {
        "sides": KeyDoc("How many switches along each of two or three sides.", ([4, 4, 4],)),
        "links": KeyDoc(f"Links between every two neighbors: {_LINKS}", ("2 x 400G",)),
        "hosts_per_switch": KeyDoc("How many hosts at every switch.", (4,)),
        "host_links": KeyDoc(f"Links from each host to its switch: {_LINKS}", ("1 x 400G",)),
        "cables": KeyDoc("Real cable lengths by tier.", ({"host": "3m", "link": "10m"},)),
        "oversubscription": _ACCEPTED,
        "lag": _LAG,
        "room": _room(example={"hosts_per_switch": 8}),
    },
    "TorusCables": {
        "host": _HOST_M,
        "link": KeyDoc("Length of the cables between switches, in meters, with its unit.", ("10m",)),
    },
    "TorusRoom": {"hosts_per_switch": _most("hosts at a switch", 8)},
}
