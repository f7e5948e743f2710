"""NVIDIA NVUE (Cumulus Linux): ``nv set`` commands, and the tree of ``nv config`` as YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.contract import (
    CARRIED_BY_ALL,
    CARRIED_BY_NONE,
    NOT_APPLICABLE_TO_ANY,
    Carrying,
    ConfigurationFile,
    Dialect,
)
from lossless.formats.switches.nvue.defaults import ON
from lossless.formats.switches.nvue.from_model.commands import commands
from lossless.formats.switches.nvue.from_model.tree import tree
from lossless.formats.switches.nvue.grammar import PROFILED, impossible, unread
from lossless.formats.switches.nvue.read.tree import (
    looks_like_commands,
    looks_structured,
    read_commands,
    tree_of,
)
from lossless.formats.switches.nvue.refusals import refusals
from lossless.formats.switches.nvue.session import session
from lossless.formats.switches.nvue.to_model.switch import GLOBAL, OTHERS, NvueSwitch
from lossless.formats.switches.written_numbers import DSCP_NAMES, indexes
from lossless.ground.basics.known import UNKNOWN
from lossless.model.fabric.configured_switch import (
    ReadSwitch,
    Rewrite,
    Tunnel,
    UnboundObject,
    UndefinedName,
    Words,
)
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nvue.read.tree import Node
    from lossless.ground.basics.known import Maybe
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Switch

_COMPUTED = "the switch computes headroom and pools from the cable length of the PFC profile"
_PLATFORM = "the size of the buffer and the computed headroom are not in the configuration"
_OWN_LIMITS = "limits and defaults are those of SONiC"
_POLLS = "detection is a number of polls"
_NO_RECOVERY = "a recovery interval came with Cumulus Linux 5.19, and has a default"
_NO_ACTION = "the watchdog has no action to choose"
NOT_APPLICABLE = {
    **NOT_APPLICABLE_TO_ANY,
    "BUF002": _PLATFORM,
    "BUF003": _COMPUTED,
    "BUF004": _COMPUTED,
    "BUF007": _COMPUTED,
    "ECN004": _PLATFORM,
    "ECN005": _PLATFORM,
    "PFC005": "the switch priority of a class is the one that is paused: they cannot disagree",
    "WD002": "NVUE has no mask of watched priorities",
    "WD003": _OWN_LIMITS,
    "WD004": _POLLS,
    "WD005": _NO_RECOVERY,
    "WD006": _NO_RECOVERY,
    "WD010": _POLLS,
    "WD011": _NO_ACTION,
    "WD012": _NO_ACTION,
    "WD013": _OWN_LIMITS,
}
"""Rules of fabrics that have no meaning for NVUE, each with the reason."""
WORDS = {
    "WD001": Words(
        message="PFC is on, and no watchdog is on for the port",
        note="'qos roce' does not imply the watchdog; a stuck NIC then pauses the port permanently, and the pause "
        "propagates through the fabric",
        help="nv set interface swp1 qos pfc-watchdog, for every port with PFC",
    ),
    "ECN001": Words(
        message="a lossless traffic class marks nothing: congestion-control has ecn on for other classes",
        help="nv set qos congestion-control default-global traffic-class 3 ecn enable",
    ),
    "ECN001 error": Words(
        help="mark instead of dropping: nv set qos congestion-control default-global traffic-class 3 ecn enable"
    ),
    "SCH005": Words(help="nv unset qos egress-shaper, or set the speed of the port, in kb/s"),
    "ECN009": Words(help="bind a congestion-control profile of its own to the ports of each speed"),
    "PFC001": Words(
        help="nv set qos pfc default-global switch-priority with the priorities of lossless classes alone"
    ),
    "CLS007": Words(help="nv set qos mapping default-global dscp 48 switch-priority 6"),
    "CLS010": Words(help="nv set nve vxlan encapsulation dscp action copy"),
    "CLS012": Words(
        help="nv set qos mapping default-global dscp 0 switch-priority 0, and PFC on other priorities"
    ),
}
"""Words of rules' messages, in the commands of NVUE."""
_OF_CLASS = ("pfc", "mapping")
"""The profiles that decide whether a class is lossless."""


def _read(document: Document, rdma_dscps: tuple[int, ...]) -> ReadSwitch:
    tree = tree_of(document)
    reader = NvueSwitch(tree, document.shown, rdma_dscps)
    switch = reader.switch()
    return ReadSwitch(
        switch=switch,
        maps=reader.maps,
        trusts=reader.trusts(),
        undefined=tuple(_undefined(reader)),
        unbound=tuple(_unbound(reader)),
        refused=(*impossible(tree), *refusals(reader)),
        untagged=frozenset(_untagged(tree)),
        unread=tuple(unread(tree)),
        tunnels=tuple(_tunnels(tree)),
        taking_part=frozenset(
            port.name for port in switch.ports if port.name != OTHERS and port.qos and port.qos.watchdog
        ),
        rest=next((port for port in switch.ports if port.name == OTHERS), None),
        unstated=frozenset() if reader.whole else frozenset(port.name for port in switch.ports),
        rewrites=tuple(_rewrites(reader)),
        shapers=tuple(reader.shapers()),
        mtus={port.name: tree.origin_of("interface", port.name, "link", "mtu") for port in switch.ports},
    )


def _tunnels(tree: Node) -> Iterator[Tunnel]:
    """Yield the overlay: without a line the outer DSCP is derived from the switch priority, and stays in its class.

    Source: NVIDIA, Cumulus Linux 5.3 User Guide, "VXLAN Tunnel DSCP Operations" (derive by default, copy or set).
    """
    vxlan = tree.at("nve", "vxlan")
    if vxlan is None or (vxlan.value("state") or vxlan.value("enable") or "enabled") not in ON:
        return
    said = ("encapsulation", "dscp")
    is_set = vxlan.value(*said, "action") == "set"
    numbers = indexes(vxlan.value(*said, "value") or "", DSCPS[-1], DSCP_NAMES)
    bridged = tuple(
        name for name, port in tree.all("interface").items() if port.at("bridge", "domain") is not None
    )
    dscp: Maybe[int] = None if not is_set else numbers[0] if numbers else UNKNOWN
    yield Tunnel("VXLAN", dscp, vxlan.origin_of(*said, "value" if numbers else "action"), bridged)


def _rewrites(reader: NvueSwitch) -> Iterator[Rewrite]:
    """Yield the DSCPs that profiles of remarking write into packets of a switch priority.

    Source: NVIDIA, Cumulus Linux User Guide, "Quality of Service", "Mark and Remark Traffic".
    """
    ports = reader.tree.all("interface")
    for name, profile in reader.tree.all("qos", "remark").items():
        users = tuple(port for port, own in ports.items() if own.value("qos", "remark", "profile") == name)
        if profile.value("rewrite") not in ("l3", "both") or not (users or name == GLOBAL):
            continue
        for priority, row in profile.all("switch-priority").items():
            dscp = row.number("dscp")
            if priority.isdecimal() and int(priority) in PRIORITIES and dscp is not None and dscp in DSCPS:
                yield Rewrite(int(priority), dscp, row.origin_of("dscp"), users)


def _untagged(tree: Node) -> Iterator[str]:
    """Yield the ports that get no VLAN tags: access ports of a bridge, and routed ones."""
    for name, port in tree.all("interface").items():
        domains = port.all("bridge", "domain").values()
        addressed = any(port.at(key, "address") is not None for key in ("ip", "ipv4", "ipv6"))
        if any(domain.at("access") is not None for domain in domains) or (addressed and not domains):
            yield name


def _undefined(reader: NvueSwitch) -> Iterator[UndefinedName]:
    if not reader.whole:
        return
    for interface, port in reader.tree.all("interface").items():
        for kind in PROFILED:
            name = port.value("qos", kind, "profile")
            if (
                name is not None
                and not name.startswith("default")
                and reader.tree.at("qos", kind, name) is None
                and any(reader.tree.says("qos", word) for word in ("roce", "pfc", "mapping", kind))
            ):
                ports = (interface,) if kind in _OF_CLASS and interface.startswith("swp") else ()
                yield UndefinedName(
                    f"{kind} profile", name, port.origin_of("qos", kind, "profile", name), ports
                )


def _unbound(reader: NvueSwitch) -> Iterator[UnboundObject]:
    interfaces = reader.tree.at("interface")
    ports = tuple(interfaces.below.values()) if interfaces is not None else ()
    if not ports:
        return
    for kind in PROFILED:
        profiles = reader.tree.at("qos", kind)
        used = {port.value("qos", kind, "profile") for port in ports}
        # A name without the word 'profile' is another matter: it is refused, and named there.
        used |= {word for port in ports if (own := port.at("qos", kind)) for word in own.below}
        for name, profile in (profiles.below if profiles is not None else {}).items():
            if name not in used and not name.startswith("default"):
                yield UnboundObject(f"{kind} profile", name, profile.origin)


CARRIES = CARRIED_BY_ALL | {"watchdog.detection", "watchdog.poll", "cable", "adaptive"}
"""Attributes that the files carry."""
LOSSES = {
    "buffers": _COMPUTED,
    "watchdog.restoration": _NO_RECOVERY,
    "watchdog.action": _NO_ACTION,
    **CARRIED_BY_NONE,
}
"""Attributes that the files of NVUE do not carry, with why."""
_SAVE = ("nv config diff", "nv config apply", "nv config save")
_WHY = "what is in the file is set, and what else is configured stays; nv config diff says what changes"
_RELOADS = "turning adaptive routing on or off reloads switchd"


def _files(switch: Switch) -> tuple[ConfigurationFile, ...]:
    data = tree(switch)
    why = f"{_WHY}; {_RELOADS}" if "router" in data else _WHY
    product = switch.profile.product if switch.profile is not None else "unknown"
    text = {"device": switch.name, "product": product, "commands": list(commands(data))}
    comment = [f"{switch.name}: {product}, Cumulus Linux 5.15 or later"]
    return (
        ConfigurationFile("qos.nv", "nvue/qos.nv.j2", text, "", _SAVE, f"commands to run; {why}"),
        ConfigurationFile(
            "qos.yaml",
            "data.yml.j2",
            {"comment": comment, "data": [{"set": data}]},
            "qos.yaml",
            ("nv config patch qos.yaml", *_SAVE),
            why,
        ),
    )


CARRYING = Carrying(
    file="session.nv",
    begin=("nv config detach",),
    commit=("nv config diff", "nv config apply --confirm 10"),
    check=("nv config show -o commands",),
    confirm=("nv config confirm", "nv config save"),
    back=(
        "nv config apply --confirm-status",
        "wait until the time of --confirm is over: it rolls back by itself",
    ),
    why="the revision is applied as a whole, and rolls back by itself after ten minutes without nv config confirm; "
    "what the chip does to packets meanwhile is not known",
)
"""How NVUE takes a change (NVIDIA, NVUE reference, "Config Commands")."""


DIALECT = Dialect(
    reads="nv set commands; YAML and JSON of nv config show",
    writes="qos.nv, qos.yaml",
    checked_with="public configurations, and reading back",
    recognizes=looks_like_commands,
    recognizes_data=looks_structured,
    document=read_commands,
    read=_read,
    not_applicable=NOT_APPLICABLE,
    words=WORDS,
    files=_files,
    carries=CARRIES,
    losses=LOSSES,
    session=session,
    carrying=CARRYING,
    in_json=True,
)
