"""What the keys of an intent mean: routing and bridging."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

ROUTING: dict[str, dict[str, KeyDoc]] = {
    "Topology": {
        "routing": KeyDoc(
            "How packets find their way. Left out: up and then down, as a Clos is routed.",
            ({"policy": "shortest-path"},),
        ),
        "bridging": KeyDoc(
            "Given where leaves bridge RDMA traffic between hosts and uplinks. Left out: they route it.",
            ({"arp_timeout": "300s", "mac_aging": "600s"},),
        ),
    },
    "RoutingChoice": {
        "policy": KeyDoc(
            "`up-down`: never up again after a way down; `shortest-path`: any shortest way, around failures too."
        ),
        "bounce": KeyDoc(
            "Switches that send up again what came to them from above, where the way down is blocked. Left out: none.",
            (["leaf3"],),
        ),
    },
    "BridgingChoice": {
        "unknown_unicast": KeyDoc(
            "What becomes of packets whose MAC address a leaf has forgotten: `flood` or `drop`."
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
