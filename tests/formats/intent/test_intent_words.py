"""Names and words: each mistake in an intent, and exactly what is said of it."""

from __future__ import annotations

import pytest

from tests.formats.intent.intent_texts import SHAPE, TOPOLOGY, said_of, spoilt

WORDS: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "transport": (
        [("transport: rocev2", "transport: roce")],
        [
            "3:12: transport: 'roce' is not one of rocev2, uec, infiniband, efa, gcp or azure; did you mean rocev2?"
        ],
    ),
    "transport-of-nobody": (
        [("transport: rocev2", "transport: 7")],
        ["3:12: transport: 7 is not one of rocev2, uec, infiniband, efa, gcp or azure"],
    ),
    "action": (
        [("action: drop", "action: dorp")],
        [("9:75: pfc.watchdog.action: 'dorp' is not one of drop, forward or alert; did you mean drop?")],
    ),
    "scheduling": (
        [("scheduling: strict", "scheduling: sp")],
        ["6:44: classes.cnp.scheduling: 'sp' is not one of dwrr or strict"],
    ),
    "fabric-name": (
        [("fabric: base", "fabric: a/b")],
        [
            (
                "2:9: fabric: 'a/b' is not a name; expected at most 63 letters, digits, '.', '_' "
                "and '-', beginning with a letter or digit"
            )
        ],
    ),
    "class-name": (
        [("cnp: {", '"c np": {')],
        [
            (
                "6:3: classes.c np: 'c np' is not a name; expected at most 24 letters, digits, "
                "'_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "class-name-too-long": (
        [("cnp: {", "abcdefghijklmnopqrstuvwxyz: {")],
        [
            (
                "6:3: classes.abcdefghijklmnopqrstuvwxyz: 'abcdefghijklmnopqrstuvwxyz' is not a "
                "name; expected at most 24 letters, digits, '_' and '-', beginning with a letter "
                "or digit"
            )
        ],
    ),
    "network-name": (
        [("storage: {", "../storage: {")],
        [
            (
                "22:3: networks.../storage: '../storage' is not a name; expected at most 63 "
                "letters, digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "interface": (
        [("networks:", 'hosts: {interfaces: ["a b"]}\nnetworks:')],
        [
            (
                "21:21: hosts.interfaces: 'a b' is not an interface name; expected at most 15 "
                "letters, digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "interface-too-long": (
        [("networks:", "hosts: {interfaces: [abcdefghijklmnop]}\nnetworks:")],
        [
            (
                "21:21: hosts.interfaces: 'abcdefghijklmnop' is not an interface name; expected "
                "at most 15 letters, digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "interface-parent": (
        [("networks:", "hosts: {interfaces: [..]}\nnetworks:")],
        [
            (
                "21:21: hosts.interfaces: '..' is not an interface name; expected at most 15 "
                "letters, digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "interface-shell": (
        [("networks:", 'hosts: {interfaces: ["eth0; rm -rf /"]}\nnetworks:')],
        [
            (
                "21:21: hosts.interfaces: 'eth0; rm -rf /' is not an interface name; expected at most 15 "
                "letters, digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "interface-path": (
        [("networks:", "hosts: {interfaces: [eth0, ../../x]}\nnetworks:")],
        [
            (
                "21:21: hosts.interfaces: '../../x' is not an interface name; expected at most 15 "
                "letters, digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "tool": (
        [("networks:", "hosts: {tool: mlnx-qos}\nnetworks:")],
        ["21:15: hosts.tool: 'mlnx-qos' is not one of auto, mlnx_qos, dcb or niccli; did you mean mlnx_qos?"],
    ),
    "tool-of-another-nic": (
        [("networks:", "hosts: {tool: niccli}\nnetworks:")],
        ["21:15: hosts.tool: niccli cannot set connectx-7; expected mlnx_qos or dcb"],
    ),
    "tool-and-firmware": (
        [("networks:", "hosts: {tool: dcb, dcbx: firmware}\nnetworks:")],
        ["21:26: hosts.dcbx: dcb sets what firmware that speaks DCBX would write over; expected os"],
    ),
    "rdma-device-option": (
        [("networks:", "hosts: {rdma_devices: [-rf]}\nnetworks:")],
        [
            (
                "21:23: hosts.rdma_devices: '-rf' is not an RDMA device name; expected at most 63 "
                "letters, digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "trust": (
        [("networks:", "hosts: {trust: vlan}\nnetworks:")],
        ["21:16: hosts.trust: 'vlan' is not one of dscp or pcp"],
    ),
    "dcbx": (
        [("networks:", "hosts: {dcbx: firmwear}\nnetworks:")],
        ["21:15: hosts.dcbx: 'firmwear' is not one of os or firmware; did you mean firmware?"],
    ),
    "applied-by": (
        [("networks:", "hosts: {applied_by: hands}\nnetworks:")],
        ["21:21: hosts.applied_by: 'hands' is not one of unit, other or hand; did you mean hand?"],
    ),
    "alert": (
        [("networks:", "telemetry: {alerts: [watchdogs]}\nnetworks:")],
        ["21:22: telemetry.alerts.0: 'watchdogs' is not one of watchdog or pauses; did you mean watchdog?"],
    ),
    "prefix-host-bits": (
        [("10.20.0.0/16", "10.20.0.1/16")],
        [
            (
                "22:38: networks.storage.prefixes.0: '10.20.0.1/16' has host bits set; the "
                "prefix is 10.20.0.0/16"
            )
        ],
    ),
    "prefix-v6-host-bits": (
        [("10.20.0.0/16", '"2001:db8::1/48"')],
        [
            (
                "22:38: networks.storage.prefixes.0: '2001:db8::1/48' has host bits set; the "
                "prefix is 2001:db8::/48"
            )
        ],
    ),
    "prefix-word": (
        [("10.20.0.0/16", "x")],
        [
            (
                "22:38: networks.storage.prefixes.0: 'x' is not an IP prefix; write it like "
                "10.20.0.0/16 or 2001:db8::/48"
            )
        ],
    ),
    "prefix-address": (
        [("10.20.0.0/16", "10.20.0.1")],
        [
            (
                "22:38: networks.storage.prefixes.0: '10.20.0.1' is not an IP prefix; write it "
                "like 10.20.0.0/16 or 2001:db8::/48"
            )
        ],
    ),
    "prefix-second": (
        [("[10.20.0.0/16]", "[10.20.0.0/16, 10.0.0.0/33]")],
        [
            (
                "22:52: networks.storage.prefixes.1: '10.0.0.0/33' is not an IP prefix; write it "
                "like 10.20.0.0/16 or 2001:db8::/48"
            )
        ],
    ),
    "network-class": (
        [("on: separate", "on: fabric, class: rdm")],
        ["22:32: networks.storage.class: no class 'rdm'; did you mean rdma? (others: cnp, default)"],
    ),
    "network-class-unlike": (
        [("on: separate", "on: fabric, class: zzz")],
        ["22:32: networks.storage.class: no class 'zzz'; there are cnp, default, rdma"],
    ),
    "profile": (
        [("spine: nvidia-sn5600", "spine: nvidia-sn5601")],
        [
            (
                "12:40: hardware.spine: no switch profile is called 'nvidia-sn5601'; did you mean nvidia-sn"
                "5640? (others: nvidia-sn5600, nvidia-sn4600c, nvidia-sn2410, nvidia-sn2700, nvidia-sn3700 "
                "and 19 more, see lossless profiles)"
            )
        ],
    ),
    "hwsku": (
        [("leaf: nvidia-sn5600", "leaf: {profile: nvidia-sn5600, hwsku: ACS-SN560}")],
        [
            (
                "12:50: hardware.leaf: nvidia-sn5600 has no HWSKU 'ACS-SN560'; did you mean "
                "ACS-SN5600? (others: Mellanox-SN5600-O128, Mellanox-SN5600-V256, "
                "Mellanox-SN5600-C224O8, Mellanox-SN5600-C256S1)"
            )
        ],
    ),
    "hwsku-of-another": (
        [("leaf: nvidia-sn5600", "leaf: {profile: nvidia-sn3700, hwsku: V64}")],
        ["12:50: hardware.leaf: nvidia-sn3700 has no HWSKU 'V64'; there is ACS-MSN3700"],
    ),
    "nic": (
        [("connectx-7", "connectx-9")],
        [
            (
                "12:60: hardware.nic: no network adapter profile is called 'connectx-9'; did you mean conne"
                "ctx-8? (others: connectx-7, connectx-6-dx, amd-pollara-400, bluefield-3, broadcom-thor-2)"
            )
        ],
    ),
    "profile-in-mapping": (
        [("leaf: nvidia-sn5600", "leaf: {profile: nvidia-sn5601}")],
        [
            (
                "12:28: hardware.leaf: no switch profile is called 'nvidia-sn5601'; did you mean nvidia-sn5"
                "640? (others: nvidia-sn5600, nvidia-sn4600c, nvidia-sn2410, nvidia-sn2700, nvidia-sn3700 a"
                "nd 19 more, see lossless profiles)"
            )
        ],
    ),
    "lossy-hwsku": (
        [("leaf: nvidia-sn5600", "leaf: {profile: arista-7060x6-64pe, hwsku: Arista-7060X6-64PE-C256S2}")],
        [
            (
                "12:18: HWSKU Arista-7060X6-64PE-C256S2 ships no buffers for lossless groups; "
                "HWSKUs of arista-7060x6-64pe that do: Arista-7060X6-64PE-256x200G, "
                "Arista-7060X6-64PE-O128S2, Arista-7060X6-64PE-O128"
            )
        ],
    ),
    "virtual-output-queues": (
        [("leaf: nvidia-sn5600", "leaf: nexthop-5010")],
        [
            (
                "12:18: nexthop-5010 has virtual output queues, whose buffers an intent cannot declare; lint, "
                "trace and verify read the files of such a switch"
            )
        ],
    ),
    "nic-without-dcqcn-parameters": (
        [("nic: connectx-7", "nic: broadcom-thor-2")],
        [
            (
                "11:25: congestion_control.dcqcn.cnp_interval: broadcom-thor-2 has no such "
                "parameter that is known"
            )
        ],
    ),
    "preset": (
        [("transport", "preset: nvida\ntransport")],
        ["3:9: preset: 'nvida' is no preset; did you mean nvidia? (others: azure, pfc-only)"],
    ),
    "preset-unlike": (
        [("transport", "preset: zzz\ntransport")],
        ["3:9: preset: 'zzz' is no preset; there are azure, nvidia, pfc-only"],
    ),
    "preset-list": (
        [("transport", "preset: [nvidia]\ntransport")],
        ["3:9: preset: a list is no preset; there are azure, nvidia, pfc-only"],
    ),
    "version-missing": (
        [("lossless: v1\n", "")],
        ["1:1: not an intent: it does not begin with lossless: v1"],
    ),
    "load-balancing": (
        [(TOPOLOGY, f"{TOPOLOGY}  routing: {{load_balancing: fast}}\n")],
        [
            "21:29: topology.routing.load_balancing: 'fast' is not one of ecmp, flowlet, adaptive, spray or dlb"
        ],
    ),
    "load-balancing-of-a-tier": (
        [(TOPOLOGY, f"{TOPOLOGY}  routing: {{load_balancing: {{leaf: fast}}}}\n")],
        [
            "21:36: topology.routing.load_balancing.leaf: 'fast' is not one of ecmp, flowlet, adaptive, spray or dlb"
        ],
    ),
    "load-balancing-of-no-tier": (
        [(TOPOLOGY, f"{TOPOLOGY}  routing: {{load_balancing: {{laef: ecmp}}}}\n")],
        ["21:30: 'laef' is no role of a switch; did you mean leaf? (others: spine, super-spine, switch)"],
    ),
    "load-balancing-of-nothing": (
        [(TOPOLOGY, f"{TOPOLOGY}  routing: {{load_balancing: {{}}}}\n")],
        [
            "21:29: topology.routing.load_balancing: an empty mapping; write how all switches choose, or each tier"
        ],
    ),
    "extra-hops": (
        [(TOPOLOGY, f"{TOPOLOGY}  routing: {{extra_hops: 9}}\n")],
        [
            "21:25: topology.routing.extra_hops: 9 is not a number of extra hops; expected a whole number from 0 to 8"
        ],
    ),
    "version-2": (
        [("lossless: v1", "lossless: v2")],
        ["1:11: lossless: 'v2' is no version this release reads; it reads v1"],
    ),
    "version-number": (
        [("lossless: v1", "lossless: 1")],
        ["1:11: lossless: 1 is no version this release reads; it reads v1"],
    ),
    "version-list": (
        [("lossless: v1", "lossless: [v1]")],
        ["1:11: lossless: a list is no version this release reads; it reads v1"],
    ),
}


@pytest.mark.parametrize("case", WORDS)
def test_names_and_words_are_those_that_exist(case: str) -> None:
    changes, said = WORDS[case]
    assert said_of(spoilt(SHAPE, *changes)) == said
