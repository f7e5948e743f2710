"""Switches of all systems but SONiC: systems that are not read, parts common to all dialects, new commands.

A system whose configurations are not read is recognized by commands that no supported system has. Texts of different
vendors share lines (``priority-flow-control priority 3 no-drop``, ``class-map type network-qos``): such a sign
outweighs those of EOS, NX-OS and NVUE. The texts are not read; a sign gives the name for a message. Source for H3C:
S9825 and S9855 command references, release 913x, "PFC commands"; the other signs are QoS commands, port names
and first lines of running configurations of these systems, without a published source.

The model of a switch of a dialect lacks buffers, hardware and neighbors, of which configurations declare at most parts
(a pause buffer, pools, a product name). New commands are the part of a
configuration session that one configuration has and another one lacks, mode by mode; each dialect adds removals.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.command_lines import CommandDocument
from lossless.model.fabric.model import ClassSet, Switch, SwitchQos, TrafficClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.command_lines import Command
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Port, WatchdogPoll
    from lossless.model.fabric.qos import Watchdog


_SIGNS = (
    (
        "the Enterprise SONiC command line",
        r"[ \t]*(?:qos (?:map (?:dscp|dot1p|tc|pfc)-|(?:scheduler|wred)-policy )|scheduler-policy |roce enable"
        r"|queue [0-7] wred-policy |priority-flow-control asymmetric\b)|interface Eth[0-9]+/[0-9]",
    ),
    (
        "Dell OS10",
        r"[ \t]*(?:qos-map (?:dscp|dot1p|tc|traffic-class|pfc)|trust-map |trust (?:dot1p|dscp)-map |pfc-cos [0-7]"
        r"|ets mode |wred (?:ecn|ecn-profile)\b|wred-profile |queue qos-group |match queue [0-7]"
        r"|dcbx (?:enable|version )|policy-map type application )|interface (?:range )?ethernet[0-9]+/"
        r"[0-9]+/[0-9]+(?::[0-9])?[ \t]*(?:[-,].*)?\r?$",
    ),
    (
        "Dell OS9",
        r"[ \t]*(?:dcb-map |dcb enable|dcb-buffer-threshold |priority-pgid |priority-group [0-7] bandwidth "
        r"|service-class dot1p-mapping)",
    ),
    (
        "H3C Comware",
        r"[ \t]*(?:priority-flow-control (?:enable|no-drop dot1p|dot1p )|qos wred (?:queue|table|apply))"
        r"|interface (?:Ten-GigabitEthernet|Twenty-FiveGigE|FortyGigE|TwoHundredGigE)[0-9]+/[0-9]+/[0-9]+\r?$",
    ),
    (
        "Huawei VRP",
        r"[ \t]*(?:dcb pfc\b|drop-profile |qos queue [0-7] (?:wred|ecn)|qos buffer )"
        r"|interface (?:10|25|40|50|100|200|400)GE[0-9]+/",
    ),
    (
        "Juniper Junos",
        r"[ \t]*(?:class-of-service \{|congestion-notification-profile )"
        r"|set (?:class-of-service |interfaces (?:et-|xe-|ge-|ae)[0-9]|system host-name |chassis )"
        r"|[ \t]*(?:et|xe|ge)-[0-9]+/[0-9]+/[0-9]+ \{",
    ),
    (
        "Nokia SR Linux",
        r"[ \t]*interface ethernet-[0-9]+/[0-9]+ \{|set / (?:interface|qos|system|network-instance) ",
    ),
    (
        "MikroTik RouterOS",
        r"#.*\bRouterOS\b|/interface (?:ethernet|bridge|vlan)\b|/system (?:identity|package)\b",
    ),
    (
        "NVIDIA Onyx",
        r"[ \t]*(?:dcb priority-flow-control|traffic pool |interface ethernet [0-9]+/[0-9]+ (?:qos|dcb|traffic-class) )"
        r"|## Running database|roce lossless\r?$",
    ),
    (
        "Cisco IOS XR",
        r"!! IOS XR|interface (?:Hundred|FourHundred|TwentyFive|Ten)GigE[0-9]+/[0-9]+/[0-9]+/[0-9]",
    ),
    (
        "Cisco IOS XE",
        r"boot-start-marker|platform punt-keepalive|interface (?:FortyGigabit|TenGigabit|TwentyFive)"
        r"(?:GigE|Ethernet)[0-9]+/[0-9]+(?:/[0-9]+)?\r?$",
    ),
    (
        "H3C Comware or Cisco IOS XE",
        r"interface (?:Hundred|FourHundred)GigE[0-9]+/[0-9]+/[0-9]+\r?$",
    ),
    ("ArubaOS-CX", r"!Version ArubaOS-CX|[ \t]*(?:flow-control (?:priority|rxtx)|qos dcbp trust)"),
    ("ExtremeXOS", r"(?:create|configure) qosprofile "),
    (
        "Cumulus Linux before NVUE",
        r"(?:pfc|link_pause|ecn_red|flow_control)\.[\w-]+\.(?:port_set|cos_list) *=",
    ),
)
"""The systems that are not read, and a pattern of commands of each at the beginning of a line."""


def other_system(text: str) -> str:
    """Return the unsupported system whose configuration a text is, empty if it is none of these."""
    match = _signs().search(text)
    return "" if match is None else _SIGNS[int(str(match.lastgroup)[1:])][0]


@cache
def _signs() -> re.Pattern[str]:
    alternatives = "|".join(f"(?P<s{number}>{sign})" for number, (_, sign) in enumerate(_SIGNS))
    return re.compile(f"^(?:{alternatives})", re.MULTILINE)


_INTERFACE = re.compile(r"^interface (?:range )?[A-Za-z][-A-Za-z]*+ ?[0-9]", re.MULTILINE)
_OF_QOS = re.compile(
    r"^[ \t]*(?:[a-z]+ )?(?:priority-flow-control|flow-control|pfc|wred|dcb|dcbx|qos|ecn)\b", re.MULTILINE
)


def seems_of_switch(text: str) -> bool:
    """Return whether a text has ``interface NAME NUMBER`` and commands of QoS, as many systems of switches have."""
    return _INTERFACE.search(text) is not None and _OF_QOS.search(text) is not None


def usual_watchdog(ports: Iterable[Port]) -> Watchdog | None:
    """Return the watchdog that most watched ports have, None without one; a tie goes to the first of them."""
    watched = grouped(
        (port.qos.watchdog.settings, port.qos.watchdog)
        for port in ports
        if port.qos is not None and port.qos.watchdog is not None
    )
    return max(watched.values(), key=len)[0] if watched else None


def plain_switch(
    name: str, ports: tuple[Port, ...], poll: WatchdogPoll, rdma_dscps: tuple[int, ...], origin: Origin
) -> Switch:
    """Return a switch of the fabric model with these ports, and without buffers, hardware and tier.

    ``rdma_dscps`` names the DSCPs that must be lossless; without them, lossless classes follow from PFC."""
    return Switch(
        name=name,
        tier=UNKNOWN,
        hwsku_name=UNKNOWN,
        profile=None,
        hwsku=None,
        classes=_classes(ports, rdma_dscps, origin),
        ports=ports,
        demand=(),
        qos=SwitchQos(
            buffer_model="traditional",
            pools=(),
            poll=poll,
            counters=(),
            global_dscp_map=None,
            database_version=None,
            headroom_oversubscription=None,
            storage_backend=False,
            voq=False,
            origin=origin,
        ),
        origin=origin,
    )


def _classes(ports: Sequence[Port], rdma_dscps: tuple[int, ...], origin: Origin) -> ClassSet:
    """Return the class of the DSCPs that are named, else one for each priority with PFC at a port that is not down."""
    if rdma_dscps:
        named = TrafficClass("rdma", rdma_dscps, rest=False, priority=None, lossless=True, origin=origin)
        return ClassSet("named", (named,))
    dscps: dict[int, set[int]] = {}
    for qos in {id(port.qos): port.qos for port in ports if port.qos and port.admin_up is not False}.values():
        for priority in qos.pfc.priorities:
            sources = qos.dscp_to_tc.sources(qos.pausing_group(priority)) if qos.dscp_to_tc else ()
            dscps.setdefault(priority, set()).update(sources)
    return ClassSet(
        "inferred",
        tuple(
            TrafficClass(
                f"priority {p}", tuple(sorted(of)), rest=False, priority=p, lossless=True, origin=origin
            )
            for p, of in sorted(dscps.items())
        ),
    )


def as_text(document: Document) -> CommandDocument:
    """Return a configuration as the text of commands that it is.

    Raises:
        InputError: it is structured, and does not say which lines the switch has.
    """
    if not isinstance(document, CommandDocument):
        says = "structured; a session is made for the text that the switch prints: name its running configuration"
        raise InputError([Problem(document.file, None, None, says)])
    return document


def new_commands(running: CommandDocument, wanted: CommandDocument, indent: str) -> Iterator[str]:
    """Yield the commands of ``wanted`` that ``running`` does not have, each below the commands that open its mode.

    A text as a switch prints it has each setting once, so a command that both have is not new.
    """
    known = {command.path for top in running.top for command in (top, *top.all())}
    for command in wanted.top:
        yield from _new(command, known, indent, 0)


def _new(command: Command, known: set[tuple[str | int, ...]], indent: str, depth: int) -> Iterator[str]:
    below = [line for each in command.below for line in _new(each, known, indent, depth + 1)]
    if below or command.path not in known:
        yield f"{indent * depth}{command.text}"
        yield from below


def block(opening: Sequence[str], commands: Sequence[str], indent: str) -> Iterator[str]:
    """Yield commands below those that open their mode; none if there are no commands."""
    if commands:
        yield from (f"{indent * depth}{line}" for depth, line in enumerate(opening))
        yield from (f"{indent * len(opening)}{line}" for line in commands)
