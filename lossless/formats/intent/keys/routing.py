"""What the keys of an intent mean: routing and bridging."""

from __future__ import annotations

from lossless.formats.intent.keys.table import Key

ROUTING: dict[str, dict[str, Key]] = {
    "Topology": {
        "routing": Key(
            "How packets find their way. Left out: up and then down, as a Clos is routed.",
            ({"policy": "shortest-path"},),
        ),
        "bridging": Key(
            "Given where leaves bridge RDMA traffic between hosts and uplinks. Left out: they route it.",
            ({"arp_timeout": "300s", "mac_aging": "600s"},),
        ),
    },
    "RoutingChoice": {
        "policy": Key(
            "`up-down`: never up again after a way down; `shortest-path`: any shortest way, around failures too."
        ),
        "bounce": Key(
            "Switches that send up again what came to them from above, where the way down is blocked. Left out: none.",
            (["leaf3"],),
        ),
    },
    "BridgingChoice": {
        "unknown_unicast": Key(
            "What becomes of packets whose MAC address a leaf has forgotten: `flood` or `drop`."
        ),
        "arp_timeout": Key(
            "How long a leaf knows the MAC address of an IP address, with its unit. Left out: nothing is said.",
            ("300s",),
        ),
        "mac_aging": Key(
            "How long a leaf knows the port of a silent MAC address, with its unit. Left out: nothing is said.",
            ("600s",),
        ),
    },
}
