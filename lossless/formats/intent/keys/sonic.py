"""What the keys of an intent mean: releases, buffer models, tiers, pods, LAGs and devices outside."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc
from lossless.model.fabric.tier import SWITCH_ROLES

_LINKS = "how many, of which rate."


def _by_role(what: str) -> dict[str, KeyDoc]:
    return {
        role: KeyDoc(f"{what} of switches of this role. Left out: what holds for all.")
        for role in SWITCH_ROLES
    }


SONIC: dict[str, dict[str, KeyDoc]] = {
    "Intent": {
        "sonic": KeyDoc(
            "Which release of SONiC the switches run. Left out: what the base of a switch says, else 202411.",
            ({"release": "202405"},),
        ),
    },
    "Sonic": {
        "release": KeyDoc(
            "Release of SONiC, one for all or one for each role. Left out: what the base says, else 202411.",
            ("202405", {"leaf": "202405", "spine": "202411"}),
        ),
        "devices": KeyDoc(
            "Switches by name that run another release. Left out: none does.", ({"leaf1": "202311"},)
        ),
    },
    "release": _by_role("The release"),
    "model": _by_role("The buffer model"),
    "pools": _by_role("The form of the pools"),
    "unused_ports": _by_role("What becomes of unused ports"),
    "Buffers": {
        "model": KeyDoc(
            "Who computes headroom and pools: `traditional` takes the rows of the HWSKU, in the `dynamic` model the "
            "switch does (NVIDIA, Barefoot). One word, or one for each role. Left out: traditional.",
            ("dynamic", {"leaf": "dynamic", "spine": "traditional"}),
        ),
        "lossless_mtu": KeyDoc(
            "Largest frame of lossless traffic in the dynamic model, in bytes or with a unit. Left out: 1024.",
            (4096,),
        ),
        "small_packets": KeyDoc(
            "Part of lossless packets that are small, in percent, in the dynamic model. Left out: 100%.",
            ("50%",),
        ),
        "pools": KeyDoc(
            "`single` or `split` ingress pools, where the product ships both. Left out: those of the HWSKU.",
            ("single",),
        ),
        "unused_ports": KeyDoc(
            "`reclaim` says that ports without a link are down, and gives their buffer back. Left out: keep, and "
            "pools leave room for what such ports take while they are up.",
            ("reclaim",),
        ),
    },
    "Pfc": {
        "tiers": KeyDoc(
            "Which links pause: `hosts`, `uplinks` (of leaves), `spine_uplinks`, `links` (of a torus), `local_links` "
            "and `global_links` (of groups). On others lossless packets can be dropped. Left out: all.",
            (["hosts", "uplinks"],),
        ),
        "asymmetric": KeyDoc(
            "Whether ports obey pauses of all priorities and send their own. Left out: off.", ("on",)
        ),
    },
    "SwitchChoice": {
        "breakout": KeyDoc(
            "Cages and how they are split: how many ports, of which rate. Left out: as the links need it.",
            ({"Ethernet0": "4x200G"},),
        ),
        "down": KeyDoc("Ports that are kept down. Left out: none.", (["Ethernet504"],)),
    },
    "breakout": {},
    "oversubscription": {
        tier: KeyDoc(f"The accepted ratio of a {tier}. Left out: 1.", (2,)) for tier in ("leaf", "spine")
    },
    "Hardware": {
        "super-spine": KeyDoc(
            "Switch profile of the super-spines. Left out: that of `switch`, if any.", ("nvidia-sn5600",)
        ),
    },
    "PodCables": {
        "host": KeyDoc("Length of the cables from hosts to leaves, in meters, with its unit.", ("3m",)),
        "uplink": KeyDoc("Length of the cables from leaves to spines, in meters, with its unit.", ("30m",)),
        "spine_uplink": KeyDoc(
            "Length of the cables from spines to super-spines, in meters, with its unit.", ("300m",)
        ),
    },
    "LeafSpine": {
        "lag": KeyDoc("Whether the uplinks between two switches are one LAG. Left out: off.", ("on",)),
        "dual_tor": KeyDoc(
            "Whether hosts are attached to pairs of leaves that tunnel to each other. Left out: off.", ("on",)
        ),
    },
    "ThreeTier": {
        "pods": KeyDoc("How many pods.", (4,)),
        "leaves_per_pod": KeyDoc("How many leaf switches in every pod.", (4,)),
        "spines_per_pod": KeyDoc("How many spine switches in every pod.", (4,)),
        "super_spines": KeyDoc("How many super-spine switches.", (4,)),
        "planes": KeyDoc("Planes that spines and super-spines are divided into.", (1,)),
        "rails": KeyDoc(
            "How many leaves of a pod share their hosts: adapter n of each is at the leaf of rail n.", (8,)
        ),
        "hosts_per_leaf": KeyDoc(
            "How many hosts at every leaf; with several rails, at every leaf that shares them.", (16,)
        ),
        "host_links": KeyDoc(
            f"Links from each host to its leaf, with several rails to all its leaves: {_LINKS}", ("2 x 400G",)
        ),
        "uplinks": KeyDoc(f"Links from each leaf to each spine of its pod: {_LINKS}", ("4 x 800G",)),
        "spine_uplinks": KeyDoc(
            f"Links from each spine to each super-spine of its plane: {_LINKS}", ("2 x 800G",)
        ),
        "cables": KeyDoc(
            "Real cable lengths by tier.", ({"host": "3m", "uplink": "30m", "spine_uplink": "300m"},)
        ),
        "oversubscription": KeyDoc(
            "Accepted ratio of the bandwidth below a switch to that of its uplinks: 2 means 2:1. One number for all "
            "tiers, or one for each. Left out: 1.",
            (2, {"leaf": 1, "spine": 7}),
        ),
        "lag": KeyDoc("Whether the uplinks between two switches are one LAG. Left out: off.", ("on",)),
        "dual_tor": KeyDoc(
            "Whether hosts are attached to pairs of leaves that tunnel to each other. Left out: off.", ("on",)
        ),
    },
    "DeviceChoice": {
        "dual_tor": KeyDoc(
            "Whether this leaf shares its hosts with another and tunnels to it. Left out: off.", ("on",)
        ),
        "outside": KeyDoc(
            "Whether it is configured elsewhere: only links to it count. Left out: off.", ("on",)
        ),
    },
    "LinkChoice": {
        "lag": KeyDoc(
            "`true` makes a LAG of this bundle, a name joins bundles between the same two switches. Left out: none.",
            (True, "uplink1"),
        ),
    },
    "Topology": {
        "three_tier": KeyDoc("A three-tier Clos of pods by its numbers. Left out: another form is given."),
    },
}
