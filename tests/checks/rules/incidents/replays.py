"""Published failures of lossless fabrics: what each was, and how it is put into the example, or why it cannot be.

``tools/incident_page.py`` writes ``docs/incidents.md`` from this list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lossless.ground.documents.text import Document
from tests.checks.rules.incidents.example import Patch, devices, intent, ports, subnet


class Replay(NamedTuple):
    """One way to see an incident: what is injected (in words), the documents, and the rule that must speak."""

    injected: str
    documents: Callable[[], list[Document]]
    code: str
    rdma_dscps: tuple[int, ...] = ()


class Incident(NamedTuple):
    """One failure; ``unseen`` says what no file that is read today can show."""

    number: str
    what: str
    source: str
    replays: tuple[Replay, ...] = ()
    unseen: str = ""


def _intent(injected: str, code: str, patch: Patch) -> Replay:
    return Replay(injected, lambda: intent(patch), code)


def _subnet(injected: str, code: str, patch: Patch) -> Replay:
    return Replay(injected, lambda: subnet(patch), code)


def _leaf(injected: str, code: str, patch: Patch | Callable[[], Patch], *rdma_dscps: int) -> Replay:
    return Replay(
        injected, lambda: devices({"leaf1": patch() if callable(patch) else patch}), code, rdma_dscps
    )


def _all_ports(table: str, fields: dict[str, str | None]) -> Callable[[], Patch]:
    return lambda: {table: dict.fromkeys(ports("leaf1"), fields)}


def _all_queues(fields: dict[str, str | None]) -> Callable[[], Patch]:
    return lambda: {"QUEUE": {f"{port}|3": fields for port in ports("leaf1")}}


_STOCK = {"green_min_threshold": "1048576", "green_max_threshold": "2097152", "green_drop_probability": "5"}
_ARTICLE = "GPU Cluster Networking: InfiniBand, RoCE, RDMA (an article on cloud architecture)"
_HDR = {"hardware": {"leaf": "nvidia-qm8790", "spine": "nvidia-qm8790", "hca": "connectx-6"}}
_NARROW_SUBNET = {"topology": {"fat_tree": {"uplinks": "1 x NDR"}}}
_MANAGER_AT_WORK = {
    "subnet_manager": {
        "hosts": [{"on": "host1", "priority": 14}, {"on": "sm2", "priority": 13, "standby": True}]
    },
    "sharp": {"manager": "host1"},
}
_NARROW = {"topology": {"leaf_spine": {"spines": 1, "uplinks": "4 x 400G"}}}


def _macsec(port: str, mode: str) -> Patch:
    profile = {"cipher_suite": "GCM-AES-XPN-256", "policy": "security", "priority": "64"}
    row = {"macsec": "fabric", "pfc_encryption_mode": mode}
    return {"MACSEC_PROFILE": {"fabric": profile}, "PORT": {port: row}}


def _two_nics() -> list[Document]:
    """Return the example with its leaf-spine shape written out link by link, one of its hosts with older NICs."""
    roles = {"leaf": ("leaf1", "leaf2"), "spine": ("spine1", "spine2")}
    named = {name: {"role": role} for role, names in roles.items() for name in names}
    hosts = {f"host{number}": {"role": "host"} for number in range(1, 33)}
    hosts["host1"]["nic"] = "connectx-6-dx"
    down = [
        {"a": f"leaf{1 + number % 2}", "b": host, "links": "2 x 200G", "cable": "3m"}
        for number, host in enumerate(hosts)
    ]
    up = [
        {"a": leaf, "b": spine, "links": "8 x 800G", "cable": "30m"}
        for leaf in roles["leaf"]
        for spine in roles["spine"]
    ]
    return intent({"topology": {"leaf_spine": None, "devices": {**named, **hosts}, "links": down + up}})


INCIDENTS = (
    Incident(
        "INC01",
        "GPU-initiated queue pairs left on DSCP 0, the fabric was lossless for another DSCP only",
        "NVIDIA/nccl issue 2383",
        (
            _intent(
                "hosts.traffic_class: unset, NCCL_IB_TC unset",
                "HST001",
                {"hosts": {"traffic_class": "unset"}},
            ),
        ),
    ),
    Incident(
        "INC02",
        "one library marked its packets, but the responses came back unmarked",
        "openucx/ucx issue 10325",
        (
            _intent(
                "UCX marks its own packets, nothing marks the responses",
                "HST003",
                {"hosts": {"traffic_class": "unset", "nccl": {"ib_tc": 106}, "ucx": {"traffic_class": 106}}},
            ),
        ),
    ),
    Incident(
        "INC03",
        "a provider of queue pairs ignored the traffic class it was given",
        "ROCm/mori pull request 362",
        (_intent("MORI's own traffic class is 0", "NIC011", {"hosts": {"mori": {"traffic_class": 0}}}),),
    ),
    Incident(
        "INC04",
        "a block of eight DSCPs was lossless, and storage used one of them",
        "CumulusNetworks/docs, RDMA over Converged Ethernet",
        (
            _leaf(
                "DSCP 24 to 31 to TC 3 on a leaf",
                "CLS002",
                {"DSCP_TO_TC_MAP": {"AZURE": {str(dscp): "3" for dscp in range(24, 32)}}},
                26,
            ),
        ),
    ),
    Incident(
        "INC05",
        "priorities were read from the VLAN tag, which routing and PXE do not keep",
        "Guo et al., SIGCOMM 2016, section 3",
        (
            _leaf(
                "ports of a routed leaf trust 802.1p instead of DSCP",
                "CLS004",
                lambda: {
                    "DOT1P_TO_TC_MAP": {"AZURE": {str(n): str(n) for n in range(8)}},
                    "PORT_QOS_MAP": {
                        **{
                            port: {"dscp_to_tc_map": None, "dot1p_to_tc_map": "AZURE"}
                            for port in ports("leaf1")
                        },
                        "global": None,
                    },
                },
            ),
        ),
    ),
    Incident(
        "INC06",
        "a published snippet called DSCP 26 CS3, which is 24",
        "Juniper/jvd rdma-rocev2-lossless.conf @005ab34",
        (_intent("rdma on dscp {CS3: 26}", "CLS005", {"classes": {"rdma": {"dscp": {"CS3": 26}}}}),),
    ),
    Incident(
        "INC07",
        "a ToS byte was taken for a DSCP, or the other way round",
        "dmf-mxl/mxl pull request 603, chimera-nas/chimera issue 617",
        (_intent("hosts.traffic_class: 26", "CLS006", {"hosts": {"traffic_class": 26}}),),
    ),
    Incident(
        "INC08",
        "CNPs shared a queue with bulk traffic and came too late",
        "sonic-buildimage files/build_templates/qos_config.j2 @086b03b",
        (
            _intent(
                "cnp served by DWRR",
                "CLS007",
                {
                    "classes": {
                        "cnp": {"scheduling": None, "bandwidth": "10%"},
                        "default": {"bandwidth": "40%"},
                    }
                },
            ),
        ),
    ),
    Incident(
        "INC09",
        "an operator put DSCP 4 on CNPs, which stock SONiC pauses",
        "Mellanox/nic-configuration-operator @8bfbeb3",
        (_intent("dcqcn.cnp_dscp: 4", "CLS008", {"congestion_control": {"dcqcn": {"cnp_dscp": 4}}}),),
    ),
    Incident(
        "INC10",
        "the egress of a leaf rewrote the RDMA class to another DSCP",
        "Juniper/jvd storage-leaf1_qfx5130 @005ab34",
        (
            _leaf(
                "TC 3 rewritten to DSCP 8 on the uplinks",
                "CLS009",
                lambda: {
                    "TC_TO_DSCP_MAP": {"AZURE": {"3": "8"}},
                    "PORT_QOS_MAP": {port: {"tc_to_dscp_map": "AZURE"} for port in ports("leaf1")},
                },
            ),
        ),
    ),
    Incident(
        "INC11",
        "storage and probes shared the class of the training traffic",
        _ARTICLE,
        (
            _intent(
                "storage on the fabric, in the class rdma",
                "CLS011",
                {"networks": {"storage": {"on": "fabric", "class": "rdma"}}},
            ),
        ),
    ),
    Incident(
        "INC12",
        "a dead server's packets were flooded, and a cyclic buffer dependency became a PFC deadlock",
        "Guo et al., SIGCOMM 2016, section 4.2",
        (
            _leaf(
                "a server port and an uplink with PFC in one VLAN",
                "CLS013",
                {
                    "DEVICE_NEIGHBOR_METADATA": {"spine1": {"type": "SpineRouter"}},
                    "VLAN": {"Vlan10": {"vlanid": "10"}},
                    "VLAN_MEMBER": {
                        "Vlan10|Ethernet0": {"tagging_mode": "untagged"},
                        "Vlan10|Ethernet128": {"tagging_mode": "tagged"},
                    },
                },
            ),
            _intent(
                "leaves that bridge, with the timers of that network",
                "TOP007",
                {"topology": {"bridging": {"arp_timeout": "14400s", "mac_aging": "300s"}}},
            ),
        ),
    ),
    Incident(
        "INC13",
        "PFC was on for six priorities",
        "Oracle roce_config defaults",
        (
            _leaf(
                "pfc_enable 1,2,3,4,5,6 on every port of a leaf",
                "PFC001",
                _all_ports("PORT_QOS_MAP", {"pfc_enable": "1,2,3,4,5,6", "pfcwd_sw_enable": "1,2,3,4,5,6"}),
                26,
            ),
            _leaf(
                "the same, without naming the RDMA DSCP",
                "PFC002",
                _all_ports("PORT_QOS_MAP", {"pfc_enable": "1,2,3,4,5,6", "pfcwd_sw_enable": "1,2,3,4,5,6"}),
            ),
        ),
    ),
    Incident(
        "INC14",
        "PFC at one end of the link only",
        "NVIDIA/nccl issues 306 and 378",
        (
            _intent("hosts.pfc: none", "PFC003", {"hosts": {"pfc": []}}),
            _leaf(
                "an uplink of leaf1 without PFC",
                "PFC003",
                {"PORT_QOS_MAP": {"Ethernet128": {"pfc_enable": "", "pfcwd_sw_enable": ""}}},
            ),
        ),
    ),
    Incident(
        "INC15",
        "link-level pause beside PFC stopped every class",
        "nic-configuration-operator API comment",
        (_intent("hosts.global_pause: on", "PFC006", {"hosts": {"global_pause": True}}),),
    ),
    Incident(
        "INC16",
        "documents disagree on the tiers that pause: all of them, or one after the other",
        "Juniper/jvd aiml_multitenancy_backend @005ab34; Guo et al., SIGCOMM 2016, section 6.1",
        unseen="a spine that pauses by accident: an intent puts a lossless class on every tier, and a file of a spine "
        "does not say who decided it",
    ),
    Incident(
        "INC17",
        "pauses propagated over oversubscribed uplinks",
        _ARTICLE,
        (
            _intent(
                "8:1 leaves, no ECN",
                "PFC009",
                {
                    **_NARROW,
                    "classes": {"rdma": {"ecn": "off"}},
                    "congestion_control": "pfc-only",
                },
            ),
        ),
    ),
    Incident(
        "INC18",
        "DCBX let the peer override the NIC's PFC",
        "mlxconfig dumps (DCBX_WILLING)",
        (_intent("hosts.dcbx: firmware", "PFC010", {"hosts": {"dcbx": "firmware"}}),),
    ),
    Incident(
        "INC19",
        "the two ends of a MACsec link treated PFC frames differently",
        "Bai et al., NSDI 2023, section 8.3",
        (
            Replay(
                "MACsec on a link, strict_encrypt at one end and bypass at the other",
                lambda: devices(
                    {
                        "leaf1": _macsec("Ethernet128", "strict_encrypt"),
                        "spine1": _macsec("Ethernet0", "bypass"),
                    }
                ),
                "PFC013",
            ),
        ),
    ),
    Incident(
        "INC20",
        "one dead server sent 2,000 pauses a second and half of the servers stalled",
        "Guo et al., SIGCOMM 2016, sections 4.3 and 6.2",
        (
            _leaf("no PFC_WD row for a server port", "WD001", {"PFC_WD": {"Ethernet4": None}}),
            _intent("the NICs may storm for 8 s", "WD015", {"hosts": {"pfc_prevention": "8000ms"}}),
        ),
    ),
    Incident(
        "INC21",
        "the watchdog's mask was empty, so it never started",
        "edge-core/sonic-buildimage issues 689 and 697",
        (
            _leaf(
                "no pfcwd_sw_enable on a leaf", "WD002", _all_ports("PORT_QOS_MAP", {"pfcwd_sw_enable": None})
            ),
        ),
    ),
    Incident(
        "INC22",
        "the transport gave up before the queue was restored",
        "NVIDIA/nccl src/transport/net_ib/connect.cc @5067397",
        (_intent("restoration after 60 s", "WD008", {"pfc": {"watchdog": {"restoration": "60000ms"}}}),),
    ),
    Incident(
        "INC23",
        "the watchdog triggered later than its timers say",
        "sonic-buildimage issue 3964",
        (
            _leaf(
                "detection of 700 ms, polled every 600 ms",
                "WD010",
                lambda: {
                    "PFC_WD": {
                        port: {"detection_time": "700", "restoration_time": "1200"} for port in ports("leaf1")
                    }
                },
            ),
        ),
    ),
    Incident(
        "INC24",
        "bounced traffic came back in the queue it had left, and the pauses became permanent",
        "sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md; sonic-buildimage issue 10608",
        (
            _leaf(
                "a dual ToR whose tunnel to its peer has no maps",
                "TOP006",
                {
                    "DEVICE_METADATA": {"localhost": {"subtype": "DualToR"}},
                    "PEER_SWITCH": {"leaf2": {"address_ipv4": "10.1.0.33"}},
                    "TUNNEL": {
                        "MuxTunnel0": {
                            "tunnel_type": "IPINIP",
                            "dst_ip": "10.1.0.32",
                            "dscp_mode": "uniform",
                            "ecn_mode": "copy_from_outer",
                            "encap_ecn_mode": "standard",
                            "ttl_mode": "pipe",
                        }
                    },
                },
            ),
            _intent(
                "two leaves that bounce in one priority",
                "TOP005",
                {"topology": {"routing": {"bounce": ["leaf1", "leaf2"]}}},
            ),
        ),
    ),
    Incident(
        "INC25",
        "a queue stayed in the storm state when XOFF became XON",
        "sonic-swss issue 4581",
        unseen="a defect of the software on every device with the watchdog; no row distinguishes an affected one",
    ),
    Incident(
        "INC26",
        "congestion control was off, on purpose in one place and by accident in others",
        "Gangidi et al., SIGCOMM 2024, section 5.2.1",
        (
            _intent("ECN off, DCQCN declared", "ECN001", {"classes": {"rdma": {"ecn": "off"}}}),
            _leaf(
                "no WRED profile on the RDMA queues of a leaf", "ECN001", _all_queues({"wred_profile": None})
            ),
        ),
    ),
    Incident(
        "INC27",
        "a checker recommended a marking probability of 0",
        "a public analyzer of configurations",
        (
            _leaf(
                "probability 0 on a leaf",
                "ECN003",
                {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_drop_probability": "0"}}},
            ),
        ),
    ),
    Incident(
        "INC28",
        "ECN thresholds of a storage network at 40G were used at 400G",
        "Bai et al., NSDI 2023, appendix B; sonic-buildimage qos_config.j2 @086b03b",
        (_leaf("1 MiB, 2 MiB, 5 % on a leaf", "ECN010", {"WRED_PROFILE": {"AZURE_LOSSLESS": _STOCK}}),),
    ),
    Incident(
        "INC29",
        "WRED dropped lossless packets before PFC could pause",
        "sonic-buildimage issue 27606",
        (
            _leaf(
                "WRED without ECN on the RDMA queues",
                "ECN001",
                {"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}},
            ),
        ),
    ),
    Incident(
        "INC30",
        "marking began at 1 percent of the buffer",
        "Juniper/jvd @005ab34",
        unseen="a fill level in percent is used by Junos; SONiC and intents state bytes, and ECN007 reports a curve "
        "of a few bytes",
    ),
    Incident(
        "INC31",
        "congestion control was on for other priorities than RDMA's",
        "nic-configuration-operator (ROCE_CC_PRIO_MASK)",
        (_intent("DCQCN on priority 4", "NIC001", {"congestion_control": {"dcqcn": {"priorities": [4]}}}),),
    ),
    Incident(
        "INC32",
        "NICs of two generations answered congestion differently",
        "Bai et al., NSDI 2023, section 7.2",
        (Replay("host1 has a ConnectX-6 Dx, the others a ConnectX-7", _two_nics, "NIC003"),),
    ),
    Incident(
        "INC33",
        "settings of the NIC were gone after a reboot",
        "nic-configuration-operator README @8bfbeb3",
        (_intent("settings applied by hand", "NIC010", {"hosts": {"applied_by": "hand"}}),),
    ),
    Incident(
        "INC34",
        "RDMA within a host made its NIC a slow receiver",
        "Bai et al., NSDI 2023, section 8.3",
        (_intent("hosts.loopback_rdma: true", "NIC018", {"hosts": {"loopback_rdma": True}}),),
    ),
    Incident(
        "INC35",
        "a headroom row was smaller than the bytes in flight on the fiber",
        "sonic-buildimage device files of the SN4700 @086b03b; issue 25862",
        (
            _leaf(
                "a headroom of 10,000 B on 40 m",
                "BUF001",
                {"BUFFER_PROFILE": {"pg_lossless_800000_40m_profile": {"xoff": "10000", "size": "48912"}}},
            ),
        ),
    ),
    Incident(
        "INC36",
        "there was no headroom row for the speed and the cable",
        "sonic-buildimage issues 5837, 24903 and 25606",
        (
            _leaf(
                "a cable of 700m on an uplink, whose group the device makes itself",
                "BUF003",
                {
                    "CABLE_LENGTH": {"AZURE": {"Ethernet128": "700m"}},
                    "BUFFER_PG": {"Ethernet128|3": None},
                },
            ),
        ),
    ),
    Incident(
        "INC37",
        "PFC was on and the headroom was 0",
        "sonic-net/SONiC issue 480; sonic-swss issue 3548",
        (
            _leaf(
                "a cable of 0m, and no group of its own",
                "BUF004",
                {"CABLE_LENGTH": {"AZURE": {"Ethernet128": "0m"}}, "BUFFER_PG": {"Ethernet128|3": None}},
            ),
        ),
    ),
    Incident(
        "INC38",
        "the headroom of a port exceeded what the chip gives one port",
        "sonic-mgmt issue 8041",
        unseen="the limit: the switch learns it from its driver and keeps it in STATE_DB (BUFFER_MAX_PARAM)",
    ),
    Incident(
        "INC39",
        "a new switch model had another alpha than the rest of its tier",
        "Guo et al., SIGCOMM 2016, section 6.2",
        (
            _leaf(
                "dynamic_th -6 on one leaf, 0 on the other",
                "BUF010",
                {
                    "BUFFER_PROFILE": {
                        "pg_lossless_400000_5m_profile": {"dynamic_th": "-6"},
                        "pg_lossless_800000_40m_profile": {"dynamic_th": "-6"},
                    }
                },
            ),
        ),
    ),
    Incident(
        "INC40",
        "a reference architecture did not fit its own switches",
        _ARTICLE,
        (
            _intent("one spine, 4 x 400G", "TOP001", _NARROW),
            _subnet("HDR adapters and QM8790 switches at 400 Gb/s", "IB006", _HDR),
            _subnet("one link of 400 Gb/s to each spine", "IB040", _NARROW_SUBNET),
        ),
    ),
    Incident(
        "INC41",
        "few flows hashed onto few links",
        "Gangidi et al., SIGCOMM 2024",
        (
            _intent(
                "one queue pair a connection",
                "HST004",
                {"hosts": {"nccl": {"ib_qps_per_connection": 1}}},
            ),
        ),
    ),
    Incident(
        "INC42",
        "the job got stuck every half hour and no counter showed why",
        _ARTICLE,
        (
            _intent("no telemetry", "TEL001", {"telemetry": "off"}),
            _intent("the watchdog is off", "WD001", {"pfc": {"watchdog": "off"}}),
        ),
    ),
    Incident(
        "INC43",
        "the aggregation manager of SHARP ran on another host than the master subnet manager",
        "NVIDIA/nccl issues 1425 and 1219",
        (
            _subnet("the aggregation manager on the standby's host", "IB008", {"sharp": {"manager": "sm2"}}),
            _subnet("the subnet manager on a host that reduces", "IB009", _MANAGER_AT_WORK),
        ),
    ),
    Incident(
        "INC44",
        "two jobs wanted the one streaming tree of SHARP",
        "Mellanox/nccl-rdma-sharp-plugins issue 151",
        (_subnet("two jobs and one tree", "IB010", {"sharp": {"manager": "sm1", "trees": 1, "jobs": 2}}),),
    ),
    Incident(
        "INC45",
        "a threshold was shipped with a leading blank",
        "sonic-buildimage device files of the 7060X6-64PE-B-C512S2 @086b03b",
        (
            _leaf(
                'a threshold of " 819200"',
                "CFG001",
                {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": " 819200"}}},
            ),
        ),
    ),
)
