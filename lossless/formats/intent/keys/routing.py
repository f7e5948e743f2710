"""What the keys of an intent mean: routing and bridging."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

ROUTING: dict[str, dict[str, KeyDoc]] = {
    "Topology": {
        "routing": KeyDoc(
            "How packets are routed. Left out: up and then down, as in a Clos.",
            ({"policy": "shortest-path"},),
        ),
        "bridging": KeyDoc(
            "Given where leaves bridge RDMA traffic between hosts and uplinks. Left out: they route it.",
            ({"arp_timeout": "300s", "mac_aging": "600s"},),
        ),
    },
    "RoutingChoice": {
        "policy": KeyDoc(
            "`up-down`: paths without a valley; `shortest-path`: any shortest path, also around failures."
        ),
        "extra_hops": KeyDoc(
            "How many hops more than the shortest path that the policy allows a packet may take: non-minimal routing, "
            "as over alternative paths of adaptive routing or through a third group of a dragonfly. No packet turns "
            "straight back. 0: shortest paths alone, also where routing among them is adaptive. It is checked by "
            "TOP004 and TOP005, and neither simulated nor rendered.",
            (2,),
        ),
        "load_balancing": KeyDoc(
            "How switches choose among equal paths, all of them or those of each tier: `ecmp`, by a hash of the flow; "
            "`flowlet`, the less loaded after a gap; `adaptive`, the less loaded one for each packet; `spray`, at "
            "random for each packet; `dlb`, dynamic load balancing of which the intent does not say whether its mode "
            "is that of `flowlet` or of `adaptive`. Tiers that are left out have `ecmp`. It is checked and simulated; "
            "what is rendered is `adaptive` for Cumulus Linux alone.",
            ("adaptive", {"leaf": "adaptive", "spine": "ecmp"}),
        ),
        "bounce": KeyDoc(
            "Switches that bounce: with the path down blocked, they send packets from a higher tier back up. "
            "Left out: none.",
            (["leaf3"],),
        ),
    },
    "BridgingChoice": {
        "unknown_unicast": KeyDoc(
            "What a leaf does with packets whose MAC address it has forgotten: `flood` or `drop`."
        ),
        "arp_timeout": KeyDoc(
            "How long a leaf knows the MAC address of an IP address, with its unit. Left out: nothing is said.",
            ("300s",),
        ),
        "mac_aging": KeyDoc(
            "How long a leaf knows the port of a silent MAC address, with its unit. Left out: nothing is said.",
            ("600s",),
        ),
    },
}
