"""Kinds of faults of EOS, NVUE and NX-OS: each case and its variations are found, and a healthy text is silent."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from lossless.api import Options, lint_documents
from lossless.formats.inputs.switches import configuration_in


class Kind(NamedTuple):
    """Texts of one system that draw a rule whose message has some words, and those that do not."""

    name: str
    system: str
    code: str
    words: str
    faults: tuple[str, ...]
    healthy: tuple[str, ...]


def lines(text: str) -> str:
    return text.replace("; ", "\n") + "\n"


NETWORK = """\
policy-map type network-qos N
  class type network-qos {0}
    pause pfc-cos 3
class-map type qos match-any RDMA
  match {1}
policy-map type qos MARKS
  class RDMA
    set qos-group 3
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 300 kbytes maximum-threshold {2} kbytes drop-probability 100 weight 0 ecn
system qos
  service-policy type network-qos N
  service-policy type queuing output OUT
"""
PORT = "interface Ethernet1/1-1/2\n  switchport mode trunk\n  priority-flow-control mode {0}\n  {1}\n"
BOUND = "service-policy type qos input MARKS"
STEP = "marking jumps from none to all"
SCHEDULER = "nv set qos egress-scheduler default-global traffic-class {0} mode {1}; "
STRICT = "unmarked traffic is served strictly"
ROUTED = "qos map dscp 0 to traffic-class 1\ninterface Ethernet1\n   no switchport\n"
SHARED = (
    "   tx-queue {}\n      priority strict\n   tx-queue {}\n      no priority\n      bandwidth percent 40\n"
)
PFC = "   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"
PAUSED = f"interface Ethernet1-2\n   no switchport\n{PFC}"
CLASSES = (
    "class-map type qos match-any A\n{}"
    "policy-map type quality-of-service P\n   class A\n      set traffic-class 3\n"
)
NO_TAGS = "gets no VLAN tags"
TRUNK = (
    NETWORK.format("c-8q-nq3", "cos 3", 900)
    + PORT.format("on", BOUND)
    + "  switchport trunk native vlan {}\n  switchport trunk allowed vlan {}\n"
)
VLANS = (
    f"interface Ethernet1\n   switchport mode trunk\n{PFC}"
    "   switchport trunk allowed vlan {}\n   switchport trunk native vlan {}\n"
)
PFC_3 = "nv set qos pfc default-global switch-priority 3"
NO_CLASS = "is no command of EOS"
RED = "nv set qos congestion-control red traffic-class 1 red enable; nv set interface swp1 "
DROPS = "random-detect drop minimum-threshold 800 kbytes maximum-threshold 3200 kbytes drop-probability 20"
RED_3 = "nv set qos roce; nv set qos congestion-control default-global traffic-class 3"
SHAPED = (
    "nv set qos roce; nv set interface swp1 qos egress-shaper profile slow; nv set qos egress-shaper slow"
)
KINDS = (
    Kind(
        "pfc on a port that reads nothing, while no class is no-drop",
        "nxos", "CLS004", "reads neither DSCP nor 802.1p",
        (
            NETWORK.format("MISSING", "cos 3", 900) + PORT.format("on", "mtu 9216"),
            NETWORK.format("MISSING", "dscp 26", 900) + PORT.format("on send-tlv", "mtu 9216"),
            NETWORK.format("c-8q-nq3", "cos 3", 900) + PORT.format("on", "mtu 9216"),
        ),
        (NETWORK.format("MISSING", "cos 3", 900) + PORT.format("on", BOUND), NETWORK.format("c-8q-nq3", "cos 3", 900)),
    ),
    Kind(
        "a marking step of a class that is lossless where PFC runs",
        "nxos", "ECN002", STEP,
        (
            NETWORK.format("MISSING", "cos 3", 300) + PORT.format("on", BOUND),
            NETWORK.format("c-8q-nq3", "dscp 26", 300) + PORT.format("auto", BOUND),
            NETWORK.format("c-8q-nq3", "dscp 26", 300),
        ),
        (
            NETWORK.format("MISSING", "cos 3", 900) + PORT.format("on", BOUND),
            NETWORK.format("c-8q-nq4", "cos 3", 300),
        ),
    ),
    Kind(
        "CNPs share a queue with unmarked traffic",
        "nxos", "CLS007", "shares queue 0 with unmarked traffic",
        (
            NETWORK.format("c-8q-nq3", "dscp 26", 900) + PORT.format("on", BOUND),
            NETWORK.format("c-8q-nq3", "dscp 24-31", 900) + PORT.format("on", BOUND),
        ),
        (NETWORK.format("c-8q-nq3", "dscp 26,48", 900) + PORT.format("on", BOUND),),
    ),
    Kind(
        "a profile without the word profile",
        "nvue", "CFG014", "has no word 'profile'",
        (
            lines(f"{RED}qos congestion-control red"),
            lines("nv set qos pfc mine switch-priority 3; nv set interface swp1-2 qos pfc mine"),
        ),
        (lines(f"{RED}qos congestion-control profile red"), lines("nv set interface swp1 qos pfc profile mine")),
    ),
    Kind(
        "unmarked traffic before queues with a share",
        "nvue", "SCH004", STRICT,
        (
            lines(SCHEDULER.format(0, "strict")),
            lines(SCHEDULER.format("0,7", "strict") + "nv set qos mapping default-global trust l3; "
                  "nv set qos mapping default-global dscp 0 switch-priority 0"),
            lines(SCHEDULER.format(5, "strict") + "nv set qos egress-queue-mapping default-global switch-priority 0 "
                  "traffic-class 5"),
        ),
        (lines(SCHEDULER.format(7, "strict")), lines(SCHEDULER.format("0-7", "strict"))),
    ),
    Kind(
        "unmarked traffic before queues with a share",
        "eos", "SCH004", STRICT,
        (ROUTED + SHARED.format(1, 3), ROUTED + "   qos trust cos\n" + SHARED.format(1, 5)),
        (ROUTED + SHARED.format(7, 3),),
    ),
    Kind(
        "a curve that drops in a lossless queue",
        "eos", "ECN001", "drops packets of a lossless queue",
        (
            f"{PAUSED}   tx-queue 3\n      {DROPS}\n",
            f"{PAUSED}   uc-tx-queue 3\n      {DROPS.replace('drop ', 'drop drop-precedence 1 ')} weight 4\n",
            f"qos profile R\n{PFC}   tx-queue 3\n      {DROPS}\ninterface Ethernet1\n   service-profile R\n",
        ),
        (
            f"{PAUSED}   tx-queue 1\n      {DROPS}\n",
            f"{PAUSED}   tx-queue 3\n      {DROPS}\n      no random-detect drop\n",
            f"{PAUSED}   tx-queue 3\n      {DROPS}\n      random-detect ecn minimum-threshold 1 mbytes "
            "maximum-threshold 2 mbytes\n",
        ),
    ),
    Kind(
        "a curve that drops in a lossless queue",
        "nvue", "ECN001", "drops packets of a lossless queue",
        (lines(f"{RED_3} red enable; {RED_3} ecn disable"), lines(f"{RED_3} red on; {RED_3} ecn off")),
        (lines(f"{RED_3} red enable; {RED_3} ecn enable"), lines(f"{RED_3} red disable; {RED_3} ecn disable")),
    ),
    Kind(
        "a lossless queue that is shaped",
        "eos", "SCH005", "what arrives faster is paused",
        (
            f"{PAUSED}   shape rate 1000 kbps\n",
            f"{PAUSED}   shape rate 50 percent\n",
            f"{PAUSED}   speed 400g-8\n   tx-queue 3\n      shape rate 200000000 kbps\n",
        ),
        (
            f"{PAUSED}   shape rate 100 percent\n",
            f"{PAUSED}   tx-queue 1\n      shape rate 1000 kbps\n",
            f"{PAUSED}   shape rate 1000 kbps\n   no shape rate\n",
            f"{PAUSED}   speed 400g-8\n   shape rate 400000000 kbps\n",
        ),
    ),
    Kind(
        "a lossless queue that is shaped",
        "nvue", "SCH005", "what arrives faster is paused",
        (lines(f"{SHAPED} traffic-class 3 max-rate 1000"), lines(f"{SHAPED} port-max-rate 1000")),
        (
            lines(f"{SHAPED} traffic-class 1 max-rate 1000"),
            lines(f"{SHAPED} port-max-rate 2147483647"),
            lines(f"{SHAPED} port-max-rate 1000").replace("interface swp1 ", "interface eth0 "),
        ),
    ),
    Kind(
        "a lossless queue that is shaped",
        "nxos", "SCH005", "what arrives faster is paused",
        tuple(
            NETWORK.format("c-8q-nq3", "cos 3", 900).replace("    band", f"    shape min {low} max {high}\n    band")
            + PORT.format("on", BOUND)
            for low, high in (("0 kbps", "1000 kbps"), ("1 gbps", "9 gbps"))
        ),
        (
            NETWORK.format("c-8q-nq3", "cos 3", 900).replace("    band", "    shape min 0 gbps max 400 gbps\n    band")
            + PORT.format("on", BOUND),
            NETWORK.format("c-8q-nq3", "cos 3", 900).replace(
                "    bandwidth", "    shape min 0 kbps max 1000 kbps\n    no shape\n    bandwidth")
            + PORT.format("on", BOUND),
        ),
    ),
    Kind(
        "link pause beside PFC",
        "eos", "CFG014", "link-level flow control is on beside PFC",
        (
            f"{PAUSED}   flowcontrol receive on\n",
            f"{PAUSED}   flowcontrol send on\n",
            f"qos profile R\n{PFC}interface Ethernet1\n   service-profile R\n   flowcontrol receive on\n",
        ),
        (
            f"{PAUSED}   flowcontrol receive off\n",
            "interface Ethernet1\n   service-profile R\n   flowcontrol send on\n",
        ),
    ),
    Kind(
        "a rewrite where a classification is meant",
        "eos", "CFG014", "'qos rewrite dscp' is not set",
        (
            f"qos map traffic-class 7 to dscp 48\n{PAUSED}",
            f"qos map traffic-class 3 to dscp 26\n{PAUSED}",
            f"qos map traffic-class 2 4 to dscp 10\n{PAUSED}",
        ),
        (
            f"qos rewrite dscp\nqos map traffic-class 7 to dscp 48\n{PAUSED}",
            f"qos map dscp 48 to traffic-class 7\n{PAUSED}",
        ),
    ),
    Kind(
        "lines that EOS has not",
        "eos", "CFG014", NO_CLASS,
        (
            f"{PAUSED}policy-map type tx-queue OUT\n   class tx-queue 3\n      bandwidth percent 50\n",
            f"{PAUSED}   service-policy type tx-queue output OUT\n",
            f"priority-flow-control pause watchdog default action drop timer 200 milliseconds\n{PAUSED}",
        ),
        (f"priority-flow-control pause watchdog default timeout 0.2\npriority-flow-control pause watchdog action drop\n"
         f"{PAUSED}",),
    ),
    Kind(
        "a class map that matches nothing",
        "nxos", "CFG014", "has no match line",
        (
            NETWORK.format("c-8q-nq3", "cos 3", 900).replace("  match cos 3\n", ""),
            NETWORK.format("c-8q-nq3", "cos 3", 900).replace("  match cos 3\n", "  description RDMA\n"),
            NETWORK.format("c-8q-nq4", "dscp 26", 900).replace("  match dscp 26\n", ""),
        ),
        (NETWORK.format("c-8q-nq3", "access-group name ROCE", 900), NETWORK.format("c-8q-nq3", "cos 3", 900)),
    ),
    Kind(
        "a class map that matches nothing",
        "eos", "CFG014", "has no match line",
        (CLASSES.format(""),),
        (CLASSES.format("   match dscp 26\n"), CLASSES.format("   match ip access-group ROCE\n")),
    ),
    Kind(
        "a class by CoS on frames without a tag",
        "nxos", "CLS004", NO_TAGS,
        (
            TRUNK.format("711", "711"),
            TRUNK.format("711", "711").replace("mode on", "mode on send-tlv"),
            TRUNK.format("711", "1").replace("  switchport trunk native vlan 711\n", ""),
            TRUNK.format("711", "711").replace("mode trunk", "mode access"),
        ),
        (
            TRUNK.format("99", "711"),
            TRUNK.format("711", "711,712"),
            "vlan dot1q tag native\n" + TRUNK.format("711", "711"),
        ),
    ),
    Kind(
        "a class by CoS on frames without a tag",
        "eos", "CLS004", NO_TAGS,
        (VLANS.format("711", "711"), VLANS.format("1", "1")),
        (VLANS.format("711", "99"), VLANS.format("711", "tag")),
    ),
    Kind(
        "a class by CoS on frames without a tag",
        "nvue", "CLS004", NO_TAGS,
        (lines(f"{PFC_3}; nv set interface swp1 bridge domain br_default access 10"),
         lines(f"{PFC_3}; nv set interface swp1 ip address 192.0.2.1/31")),
        (lines(f"{PFC_3}; nv set interface swp1 bridge domain br_default vlan 10"),
         lines("nv set qos roce; nv set interface swp1 bridge domain br_default access 10")),
    ),
)  # fmt: skip


def messages(kind: Kind, text: str) -> list[str]:
    document = configuration_in(text, "leaf1.cfg")
    assert document is not None
    assert document.dialect == kind.system
    report = lint_documents([document], Options())
    assert report.errors == ()
    return [finding.message for finding in report.findings if finding.code == kind.code]


def cases(part: str) -> list[object]:
    return [
        pytest.param(kind, text, id=f"{kind.system}: {kind.name} {number}")
        for kind in KINDS
        for number, text in enumerate(getattr(kind, part))
    ]


@pytest.mark.parametrize(("kind", "text"), cases("faults"))
def test_each_variation_is_found(kind: Kind, text: str) -> None:
    assert any(kind.words in message for message in messages(kind, text))


@pytest.mark.parametrize(("kind", "text"), cases("healthy"))
def test_a_healthy_configuration_is_silent(kind: Kind, text: str) -> None:
    assert not any(kind.words in message for message in messages(kind, text))
