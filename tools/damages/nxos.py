"""What ports of NX-OS do, by the documented meaning of its lines, and damages of them.

A class of type qos sets the qos-group, what no class matches has 0; the network-qos policy of system qos says which
group is no-drop, and by which CoS; PFC of a port is auto without a line, and then up to DCBX: Cisco, NX-API REST SDK
guide 9.3(x), "Configuring Priority Flow Control". PFC is sent and obeyed, buffers of a pause are optional up to
100 m, the watchdog needs no-drop queues: Cisco Nexus 9000 QoS Configuration Guide 10.5(x), "Configuring Priority
Flow Control".
"""

from __future__ import annotations

import random
import re

from tools.damages.text import (
    LARGEST_FRAME,
    RDMA,
    Damage,
    Lines,
    Port,
    Site,
    System,
    after_first,
    at_ports,
    blocks,
    everywhere,
    extended,
    in_blocks,
    last,
    numbers_of,
    replaced,
    shuffled,
    without,
)

PRIORITY = "3"
"""The priority that pauses the class by the intent."""
_NAMES = {"af31": 26, "cs6": 48, "ef": 46, "cs3": 24}


def nxos_ports(lines: Lines) -> list[str]:
    """Return the ports of a switch in their order."""
    return [block[0][len("interface ") :] for block in blocks(lines) if block[0].startswith("interface Eth")]


def ports_of_nxos(lines: Lines) -> dict[str, Port]:
    """Return what each port of a switch does."""
    made = {block[0]: [line.strip() for line in block[1:]] for block in blocks(lines)}
    system = made.get("system qos", [])
    network = last(system, r"service-policy type network-qos (\S+)")
    no_drop = _nxos_classes(made.get(f"policy-map type network-qos {network[1]}", [])) if network else {}
    queuing = last(system, r"service-policy type queuing output (\S+)")
    queues = _nxos_classes(made.get(f"policy-map type queuing {queuing[1]}", [])) if queuing else {}
    watched = "priority-flow-control watch-dog-interval on" in made
    override = "priority-flow-control override-interface mode off" in made
    found = {}
    for head, own in made.items():
        if not head.startswith("interface Eth"):
            continue
        bound = last(own, r"service-policy type qos input (\S+)")
        policy = bound or last(system, r"service-policy type qos input (\S+)")
        group = _nxos_group(made, policy[1]) if policy else 0
        port = _nxos_port(own, group, no_drop)
        marks = any("ecn" in line.split() for line in queues.get(f"c-out-8q-q{group or '-default'}", []))
        if override and not port.outside:
            port = port._replace(lossy="PFC is off on all ports", unclear="")
        if policy and f"policy-map type qos {policy[1]}" not in made:
            port = port._replace(lossy="its policy does not exist", unclear="", outside=False)
        on = _mode(own) == "on"
        has = "priority-flow-control watch-dog-interval on" in own and watched
        outside = bound is None and not on and "priority-flow-control watch-dog-interval on" not in own
        if policy and _open(made, policy[1]):
            port = port._replace(lossy="", unclear="an access list matches")
            marks = True
        if policy and _policed(made, policy[1], group):
            port = port._replace(beside="the class is policed")
        marking = " ".join(queues.get("c-out-8q-q3", []))
        curve = re.search(r"minimum-threshold (\d+) kbytes maximum-threshold (\d+)", marking)
        if curve and int(curve[1]) > int(curve[2]):
            port = port._replace(beside="its curve is inverted")
        found[head.split()[1]] = port._replace(marks=marks, watched=has or not on, outside=outside)
    return found


def _nxos_classes(policy: Lines) -> dict[str, Lines]:
    """Return the lines of each class of a policy."""
    found: dict[str, Lines] = {}
    name = ""
    for line in policy:
        match = re.fullmatch(r"class (?:type \S+ )?(\S+)", line)
        if match:
            name = match[1]
            found[name] = []
        elif name:
            found[name].append(line)
    return found


def _nxos_group(made: dict[str, Lines], policy: str) -> int:
    for name, lines in _nxos_classes(made.get(f"policy-map type qos {policy}", [])).items():
        heads = (f"class-map type qos {kind} {name}" for kind in ("match-any", "match-all"))
        matching = next((made[head] for head in heads if head in made), [])
        listed = {
            number
            for line in matching
            if line.startswith("match dscp ")
            for part in line.split(" ", 2)[2].split(",")
            for number in ({_NAMES[part]} if part in _NAMES else numbers_of(part))
        }
        if RDMA in listed or name == "class-default":
            stated = last(lines, r"set qos-group (\d)")
            return int(stated[1]) if stated else 0
    return 0


def _open(made: dict[str, Lines], policy: str) -> bool:
    """Return whether a class of a policy matches by an access list."""
    classes = _nxos_classes(made.get(f"policy-map type qos {policy}", []))
    return any(
        line.startswith("match access-group")
        for head, lines in made.items()
        if head.startswith("class-map type qos") and head.split()[-1] in classes
        for line in lines
    )


def _policed(made: dict[str, Lines], policy: str, group: int) -> bool:
    classes = _nxos_classes(made.get(f"policy-map type qos {policy}", [])).values()
    return any(
        f"set qos-group {group}" in lines and any("police" in line for line in lines) for lines in classes
    )


def _mode(own: Lines) -> str:
    stated = last(own, r"(no )?priority-flow-control mode (\S+).*")
    return "auto" if stated is None or stated[1] else stated[2]


def _nxos_port(own: Lines, group: int, no_drop: dict[str, Lines]) -> Port:
    network = no_drop.get(f"c-8q-nq{group or '-default'}", []) or no_drop.get(
        "ROCE" if group == 3 else "", []
    )
    pause = next((line for line in network if line.startswith("pause ")), "")
    mode = _mode(own)
    class_mtu, mtu = last(network, r"mtu (\d+)"), last(own, r"mtu (\d+)")
    room = re.search(r"buffer-size (\d+) pause-threshold (\d+)", pause)
    lossy = unclear = beside = against = ""
    if any(line.startswith(("storm-control unicast", "flowcontrol receive on")) for line in own):
        beside = "storm control, or pauses of the link"
    if (stated := re.search(r"pfc-cos (\d)", pause)) and stated[1] != PRIORITY:
        against = f"it is paused by priority {stated[1]}"
    if not pause:
        lossy = f"qos-group {group} is not no-drop"
    elif mode == "off":
        lossy = "PFC is off"
    elif pause.endswith("receive"):
        lossy = "pauses are not sent"
    elif room and int(room[1]) - int(room[2]) < LARGEST_FRAME:
        lossy = "the headroom holds no frame"
    elif mtu and int(mtu[1]) < LARGEST_FRAME:
        lossy = "the MTU is too small"
    elif mode == "auto":
        unclear = "DCBX decides"
    elif not class_mtu or int(class_mtu[1]) < LARGEST_FRAME:
        unclear = "the effect of the MTU of a class is that of the platform"
    return Port(lossy, unclear, beside=beside, against=against)


def _nxos_provisioned(lines: Lines) -> Lines:
    add = extended("  no switchport", "  mtu 9216")
    return in_blocks(r"interface Ethernet.*", add)(Site(lines, (), random.Random()))


def _nxos_spare(*added: str) -> Damage:
    """Return a damage that adds lines in front of ``system qos``."""

    def damage(at: Site) -> Lines:
        place = at.lines.index("system qos")
        return [*at.lines[:place], *added, *at.lines[place:]]

    return damage


_IN, _NETWORK = r"policy-map type qos LOSSLESS-IN", r"policy-map type network-qos .*"
_GROUP_3, _OUT = r"class-map type qos match-any LOSSLESS-GROUP-3", r"policy-map type queuing .*"
NXOS = System(
    "cisco-9332d-gx2b",
    "qos.cfg",
    _nxos_provisioned,
    ports_of_nxos,
    nxos_ports,
    {
        "no PFC line at ports": at_ports(without("priority-flow-control mode on")),
        "PFC off at ports": at_ports(
            replaced("priority-flow-control mode on", "priority-flow-control mode off")
        ),
        "PFC auto at ports": at_ports(
            replaced("priority-flow-control mode on", "priority-flow-control mode auto")
        ),
        "no policy at ports": at_ports(without("service-policy type qos .*")),
        "nothing at ports": at_ports(without("(?:service-policy|priority-flow-control) .*")),
        "unknown policy at ports": at_ports(
            replaced("service-policy type qos .*", "service-policy type qos input ROCE-IN")
        ),
        "no pause": in_blocks(_NETWORK, without("pause .*")),
        "pause without buffer": in_blocks(
            _NETWORK,
            replaced(
                "pause .*", "pause buffer-size 20000 pause-threshold 18000 resume-threshold 9000 pfc-cos 3"
            ),
        ),
        "pauses obeyed alone": in_blocks(_NETWORK, replaced("pause .*", "pause pfc-cos 3 receive")),
        "no-drop of another group": in_blocks(
            _NETWORK, replaced("class type network-qos c-8q-nq3", "class type network-qos c-8q-nq4")
        ),
        "network-qos not applied": in_blocks("system qos", without("service-policy type network-qos .*")),
        "default network-qos": in_blocks(
            "system qos",
            replaced(
                "service-policy type network-qos .*", "service-policy type network-qos default-nq-policy"
            ),
        ),
        "no system qos": in_blocks("system qos", without(".*")),
        "another qos-group": in_blocks(_IN, replaced("set qos-group 3", "set qos-group 4")),
        "no qos-group": in_blocks(_IN, without("set qos-group 3")),
        "DSCP not matched": in_blocks(_GROUP_3, replaced("match dscp 26", "match dscp 24")),
        "CoS matched": in_blocks(_GROUP_3, replaced("match dscp 26", "match cos 3")),
        "an earlier class takes it": lambda at: in_blocks(
            _IN, lambda block: [block[0], "  class BULK", "    set qos-group 0", *block[1:]]
        )(at.then(after_first("class-map type qos match-any BULK", "  match dscp 20-30"))),
        "all off": after_first("priority-flow-control override-interface mode off"),
        "small MTU": at_ports(replaced("mtu .*", "mtu 1500")),
        "no MTU of the class": in_blocks(_NETWORK, without("mtu .*")),
        "no ECN": in_blocks(_OUT, without("random-detect .*")),
        "drops instead of marks": in_blocks(
            _OUT,
            lambda block: [line.removesuffix(" ecn") if "random-detect" in line else line for line in block],
        ),
        "queuing not applied": in_blocks("system qos", without("service-policy type queuing .*")),
        "no watchdog of the switch": everywhere(
            lambda lines: [line for line in lines if line != "priority-flow-control watch-dog-interval on"]
        ),
        "no watchdog at ports": at_ports(without("priority-flow-control watch-dog-interval on")),
        "small share": in_blocks(
            _OUT, replaced("bandwidth remaining percent 50", "bandwidth remaining percent 30")
        ),
        "pause of another priority": in_blocks(_NETWORK, replaced("pause pfc-cos 3", "pause pfc-cos 4")),
        "access list instead of marks": in_blocks(
            _GROUP_3, replaced("match dscp 26", "match access-group name ROCE")
        ),
        "policed": in_blocks(
            _IN,
            lambda block: [
                part
                for line in block
                for part in (
                    [line, "    police cir 10 gbps"] if line.strip() == "set qos-group 3" else [line]
                )
            ],
        ),
        "unicast limited": at_ports(extended("  storm-control unicast level 40")),
        "link-level pause": at_ports(extended("  flowcontrol receive on")),
        "inverted thresholds": in_blocks(
            _OUT,
            lambda block: [
                line.replace("minimum-threshold 800 k", "minimum-threshold 8000 k") for line in block
            ],
        ),
        "PFC line taken back": at_ports(extended("  no priority-flow-control mode on")),
        "policy of the switch taken away": lambda at: in_blocks(
            r"interface Ethernet.*", without("service-policy type qos .*")
        )(at),
        "harmless: policy of the switch": lambda at: in_blocks(
            "system qos", extended("  service-policy type qos input LOSSLESS-IN")
        )(at.then(in_blocks(r"interface Ethernet.*", without("service-policy type qos .*")))),
        "harmless: all of": everywhere(
            lambda lines: [
                line.replace("match-any LOSSLESS-GROUP-3", "match-all LOSSLESS-GROUP-3") for line in lines
            ]
        ),
        "harmless: told to hosts": at_ports(
            replaced("priority-flow-control mode on", "priority-flow-control mode on send-tlv")
        ),
        "harmless: own class map": lambda at: in_blocks(
            _NETWORK, replaced("class type network-qos c-8q-nq3", "class type network-qos ROCE")
        )(at.then(after_first("class-map type network-qos match-any ROCE", "  match qos-group 3"))),
        "harmless: spare DSCP": in_blocks(_GROUP_3, replaced("match dscp 26", "match dscp 26,27")),
        "harmless: DSCP by name": in_blocks(_GROUP_3, replaced("match dscp 26", "match dscp af31")),
        "harmless: MTU": at_ports(replaced("mtu .*", "mtu 9100")),
        "harmless: unused policy": _nxos_spare(
            "policy-map type qos SPARE", "  class class-default", "    set qos-group 0"
        ),
        "harmless: port without RDMA": everywhere(extended("interface Ethernet1/30", "  no switchport")),
        "harmless: description": at_ports(extended("  description server 12")),
        "harmless: comment": after_first("! changed by hand"),
        "harmless: order": shuffled(r"! |class-map|policy-map|system"),
        "harmless: large pause buffer": in_blocks(
            _NETWORK,
            replaced(
                "pause .*", "pause buffer-size 200000 pause-threshold 60000 resume-threshold 30000 pfc-cos 3"
            ),
        ),
    },
)
