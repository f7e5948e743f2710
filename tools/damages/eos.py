"""What ports of EOS do, by the documented meaning of its lines, and damages of them.

DSCP 0-7 to TC 1, 8-15 to TC 0, n*8 to TC n without lines; a routed port trusts DSCP, a switched one CoS; PFC is off,
and no priority is no-drop; interface lines override those of the profile: Arista, EOS User Manual, "Quality of
Service" (2020-02-10, sections 27.1.1, 27.1.5, 27.10). priority-flow-control all off overrides all ports (schema of
eos_cli_config_gen, pyavd 6.4.0). Timers switch the watchdog on: Arista, AI Network Fabric Deployment Guide.
"""

from __future__ import annotations

import random
import re

from tools.damages.text import (
    LARGEST_FRAME,
    RDMA,
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
    joined,
    last,
    numbers_of,
    replaced,
    shuffled,
    without,
)


def eos_ports(lines: Lines) -> list[str]:
    """Return the ports of a switch in their order."""
    return [block[0][len("interface ") :] for block in blocks(lines) if block[0].startswith("interface Eth")]


def ports_of_eos(lines: Lines) -> dict[str, Port]:
    """Return what each port of an EOS switch does."""
    made = [[line.strip() for line in block if line.strip() != "!"] for block in blocks(lines)]
    top = [block[0] for block in made if block]
    profiles = {block[0].split()[2]: block[1:] for block in made if block and block[0].startswith("qos prof")}
    tc = {0: 1, 1: 0}.get(RDMA // 8, RDMA // 8)
    for line in top:
        match = re.fullmatch(r"qos map dscp (.+) to traffic-class (\d)", line)
        if match and RDMA in numbers_of(match[1]):
            tc = int(match[2])
    moved = last(top, rf"qos map traffic-class {tc} to tx-queue (\d)")
    queue = int(moved[1]) if moved else tc
    timed = any("watchdog default timeout" in line for line in top)
    found = {}
    for block in made:
        if not block or not block[0].startswith("interface Eth"):
            continue
        own, bound = block[1:], last(block[1:], r"(?:no )?service-profile ?(\S*)")
        if "switchport default mode routed" in top and "switchport" not in own:
            own = ["no switchport", *own]
        port = _eos_port([*profiles.get(bound[1] if bound else "", []), *own], tc, queue, timed)
        if "priority-flow-control all off" in top and not port.outside:
            port = port._replace(lossy="PFC is off on all ports")
        if bound and bound[1] and bound[1] not in profiles:
            port = port._replace(lossy="its profile does not exist", outside=False)
        found[block[0].split()[1]] = port
    return found


def _eos_port(lines: Lines, tc: int, queue: int, timed: bool) -> Port:
    trust = last(lines, r"(?:no )?qos trust ?(\S*)")
    read = (trust[1] or "none") if trust else "dscp" if "no switchport" in lines else "cos"
    switched = last(lines, r"(no )?priority-flow-control(?: mode)?( on| off)?")
    on = bool(switched and switched[2] == " on" and not switched[1])
    paused: set[int] = set()
    for line in lines:
        match = re.fullmatch(r"(no )?priority-flow-control priority (\d)(?: (no-drop|drop))?", line)
        if match:
            paused = (
                {*paused, int(match[2])}
                if match[3] == "no-drop" and not match[1]
                else paused - {int(match[2])}
            )
    mtu = last(lines, r"mtu (\d+)")
    lossy = unclear = ""
    if any(line.startswith("service-policy ") for line in lines):
        unclear = "a policy map classifies"
    elif read == "cos" and "switchport mode trunk" in lines:
        lossy, unclear = "it trusts cos", "tags"
    elif read != "dscp":
        lossy = f"it trusts {read}"
    elif not on:
        lossy = "PFC is off"
    elif tc not in paused:
        lossy = f"TC {tc} is not no-drop"
    elif mtu and int(mtu[1]) < LARGEST_FRAME:
        lossy = "the MTU is too small"
    curve = last(lines, r"random-detect ecn minimum-threshold (\d+) kbytes maximum-threshold (\d+) kbytes .*")
    beside = "its curve is inverted" if curve and int(curve[1]) > int(curve[2]) else ""
    at_queue, marks = None, False
    for line in lines:
        opened = re.fullmatch(r"(?:uc-)?tx-queue (\d)", line)
        at_queue = int(opened[1]) if opened else at_queue
        if at_queue == queue and "random-detect ecn minimum-threshold" in line:
            marks = not line.startswith("no ")
    watched = (timed or any("watchdog port timer timeout" in line for line in lines)) and (
        "no priority-flow-control pause watchdog" not in lines
    )
    return Port(lossy, unclear, watched or not on, marks, outside=not on and not paused, beside=beside)


def _eos_provisioned(lines: Lines) -> Lines:
    add = extended("   no switchport", "   mtu 9214")
    return in_blocks(r"interface Ethernet.*", add)(Site(lines, (), random.Random()))


_EOS_PROFILE = r"qos profile LOSSLESS"
_EOS_LEGACY = [
    "qos profile LEGACY",
    "   qos trust dscp",
    "   uc-tx-queue 3",
    "      bandwidth percent 50",
    "!",
]


def _eos_legacy(at: Site) -> Lines:
    lines = at_ports(replaced(r"service-profile .*", "service-profile LEGACY"))(at)
    return [lines[0], *_EOS_LEGACY, *lines[1:]]


def _eos_flat(at: Site) -> Lines:
    """Return a switch whose ports have the lines of the profile themselves."""
    made = blocks(at.lines)
    profile = next(block[1:] for block in made if block[0].startswith("qos profile LOSSLESS"))
    return joined(
        [
            [
                line
                for each in block
                for line in (profile if each.strip() == "service-profile LOSSLESS" else [each])
            ]
            for block in made
            if not block[0].startswith("qos profile LOSSLESS")
        ]
    )


EOS = System(
    "{profile: arista-7060x6-64pe, format: eos}",
    "qos.cfg",
    _eos_provisioned,
    ports_of_eos,
    eos_ports,
    {
        "no PFC in the profile": in_blocks(_EOS_PROFILE, without("priority-flow-control on")),
        "no no-drop in the profile": in_blocks(_EOS_PROFILE, without("priority-flow-control priority .*")),
        "no PFC lines in the profile": in_blocks(_EOS_PROFILE, without("priority-flow-control .*")),
        "another priority no-drop": in_blocks(
            _EOS_PROFILE,
            replaced("priority-flow-control priority .*", "priority-flow-control priority 4 no-drop"),
        ),
        "PFC off at ports": at_ports(extended("   no priority-flow-control")),
        "priority dropped at ports": at_ports(extended("   priority-flow-control priority 3 drop")),
        "no profile at ports": at_ports(without("service-profile .*")),
        "unknown profile at ports": at_ports(replaced("service-profile .*", "service-profile ROCE")),
        "profile without PFC at ports": _eos_legacy,
        "DSCP to TC 0": everywhere(replaced("qos map dscp 26 .*", "qos map dscp 26 to traffic-class 0")),
        "DSCP to TC 4": everywhere(replaced("qos map dscp 26 .*", "qos map dscp 26 to traffic-class 4")),
        "DSCP to TC 1 again": everywhere(extended("qos map dscp 24-26 to traffic-class 1")),
        "no DSCP entry": everywhere(without("qos map dscp 26 .*")),
        "no maps": everywhere(without("qos map dscp .*")),
        "trust CoS in the profile": in_blocks(_EOS_PROFILE, replaced("qos trust dscp", "qos trust cos")),
        "trust CoS at ports": at_ports(extended("   qos trust cos")),
        "no trust at ports": at_ports(extended("   no qos trust")),
        "no trust line": in_blocks(_EOS_PROFILE, without("qos trust dscp")),
        "switched, no trust line": lambda at: at_ports(without("no switchport"))(
            at.then(in_blocks(_EOS_PROFILE, without("qos trust dscp")))
        ),
        "all off": after_first("priority-flow-control all off"),
        "small MTU": at_ports(replaced("mtu .*", "mtu 1500")),
        "TC to another queue": after_first("qos map traffic-class 3 to tx-queue 4"),
        "no ECN": in_blocks(_EOS_PROFILE, without("random-detect .*")),
        "no watchdog timers": everywhere(without("priority-flow-control pause watchdog .*")),
        "watchdog off at ports": at_ports(extended("   no priority-flow-control pause watchdog")),
        "small share": in_blocks(_EOS_PROFILE, replaced("bandwidth percent 50", "bandwidth percent 30")),
        "policy map at ports": lambda at: at_ports(extended("   service-policy type qos input BULK"))(
            at.then(
                after_first(
                    "policy-map type quality-of-service BULK",
                    "   class class-default",
                    "      set traffic-class 1",
                )
            )
        ),
        "trunks that trust CoS": at_ports(
            lambda block: [
                *without("no switchport")(block),
                "   switchport mode trunk",
                "   switchport trunk allowed vlan 100,200",
                "   qos trust cos",
            ]
        ),
        "profile taken off again": at_ports(extended("   no service-profile")),
        "priority not no-drop at ports": at_ports(extended("   no priority-flow-control priority 3")),
        "older words for off": at_ports(extended("   priority-flow-control mode off")),
        "inverted thresholds": in_blocks(
            _EOS_PROFILE,
            lambda block: [
                line.replace("minimum-threshold 800", "minimum-threshold 8000")
                if "random-detect" in line
                else line
                for line in block
            ],
        ),
        "DSCP in a range of another class": everywhere(extended("qos map dscp 20-30,40 to traffic-class 5")),
        "harmless: routed by default": lambda at: in_blocks(
            r"interface Ethernet.*", without("no switchport")
        )(
            at.then(in_blocks(_EOS_PROFILE, without("qos trust dscp"))).then(
                after_first("switchport default mode routed")
            )
        ),
        "switched among routed": lambda at: at_ports(replaced("no switchport", "switchport"))(
            at.then(in_blocks(_EOS_PROFILE, without("qos trust dscp"))).then(
                after_first("switchport default mode routed")
            )
        ),
        "harmless: no profiles": _eos_flat,
        "harmless: range of the class": everywhere(
            replaced("qos map dscp 26 .*", "qos map dscp 25-26 to traffic-class 3")
        ),
        "harmless: spare DSCP": everywhere(extended("qos map dscp 27 to traffic-class 3")),
        "harmless: MTU": at_ports(replaced("mtu .*", "mtu 9100")),
        "harmless: unused profile": after_first(*_EOS_LEGACY),
        "harmless: port without RDMA": everywhere(extended("interface Ethernet40/1", "   no switchport")),
        "harmless: description": at_ports(extended("   description server 12")),
        "harmless: comment": after_first("! changed by hand"),
        "harmless: older words": in_blocks(
            _EOS_PROFILE, replaced("priority-flow-control on", "priority-flow-control mode on")
        ),
        "harmless: order": shuffled(r"! device"),
        "harmless: said again": at_ports(
            extended("   priority-flow-control on", "   priority-flow-control priority 3 no-drop")
        ),
    },
)
