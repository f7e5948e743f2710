"""NVIDIA NVUE (Cumulus Linux): its files, refused settings, and the commands between two configurations.

Files are ``nv set`` commands, and the tree of ``nv config`` as YAML or JSON. A refused setting is one that NVUE
refuses, or accepts without the intended effect.

Between two configurations ``nv set`` makes new settings, and ``nv unset`` removes old ones. Commands make a pending
revision, ``nv config diff`` shows it, and ``nv config apply`` brings all of it in; with ``--confirm`` it rolls back
by itself unless ``nv config confirm`` follows (NVIDIA, Cumulus Linux guides, "NVIDIA User Experience - NVUE",
"Configuration Management Commands"). ``nv unset`` removes the setting that the same ``nv set`` made (NVUE reference,
"QoS").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.switches.contract import (
    CARRIED_BY_ALL,
    CARRIED_BY_NONE,
    NO_FORCED_RECOVERY,
    NOT_APPLICABLE_TO_ANY,
    Carrying,
    ConfigurationFile,
    Dialect,
)
from lossless.formats.switches.nvue.from_model import commands, tree
from lossless.formats.switches.nvue.read import (
    ON,
    PROFILED,
    impossible,
    looks_like_commands,
    looks_structured,
    read_commands,
    tree_of,
    unread,
)
from lossless.formats.switches.nvue.to_model import GLOBAL, OTHERS, NvueSwitch
from lossless.formats.switches.written_numbers import DSCP_NAMES, indexes
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import joined
from lossless.model.fabric.configured_switch import (
    ReadSwitch,
    RefusedSetting,
    Rewrite,
    Tunnel,
    UnboundObject,
    UndefinedName,
    Words,
)
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.nvue.read import Node
    from lossless.ground.basics.findings import Origin
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch


_FRAME_BYTES = 1500
"""The payload of a standard Ethernet frame: less headroom cannot hold one."""


def refusals(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    """Yield settings that NVUE refuses, or that have another effect than their words suggest."""
    ports = reader.tree.all("interface")
    yield from _on_members(ports)
    yield from _without_profile(ports)
    yield from _unpaused_watchdogs(reader, reader.interfaces)
    yield from _paused_by_link(reader, reader.interfaces)
    yield from _small_headroom(reader)
    yield from _curves(reader)
    yield from _quota(reader)
    yield from _one_sided(reader)


def _on_members(ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    members = {name for port in ports.values() if (rows := port.at("bond", "member")) for name in rows.below}
    refused: dict[Origin, list[str]] = {}
    for name in sorted(members):
        qos = ports[name].at("qos") if name in ports else None
        kinds = [kind for kind in (qos.below if qos is not None else {}) if kind != "pfc-watchdog"]
        if qos is not None and kinds:
            refused.setdefault(qos.origin_of(kinds[0], "profile"), []).append(name)
    for origin, names in refused.items():
        yield RefusedSetting(
            f"QoS is set on {joined(names, 4)}: {'a member' if len(names) == 1 else 'members'} of a bond",
            "NVUE refuses it there",
            "set it on the bond",
            origin,
            tuple(names),
        )


def _without_profile(ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    """Yield QoS profiles that ports name without the word ``profile``, as examples of early guides do."""
    refused: dict[tuple[Origin, str, str], list[str]] = {}
    for port, node in ports.items():
        for kind in PROFILED:
            own = node.at("qos", kind)
            for word, name in (own.below if own is not None else {}).items():
                if word != "profile":
                    refused.setdefault((name.origin, kind, word), []).append(port)
    for (origin, kind, stated), names in refused.items():
        yield RefusedSetting(
            f"qos {kind} {stated} of {joined(names, 4)} has no word 'profile'",
            "NVUE refuses it, and the ports keep the profile that they had",
            f"nv set interface {names[0]} qos {kind} profile {stated}",
            origin,
            tuple(names),
        )


def _unpaused_watchdogs(reader: NvueSwitch, ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    idle: dict[Origin, list[str]] = {}
    for name, port in ports.items():
        watchdog = reader.watchdog_of(port)
        pauses = reader.pfc_of(port, port.origin).priorities or port.at("qos", "link-pause") is not None
        if watchdog is not None and not pauses:
            idle.setdefault(watchdog.origin, []).append(name)
    for origin, names in idle.items():
        yield RefusedSetting(
            f"the PFC watchdog is on at {joined(names, 4)}, without PFC or link pause",
            "NVUE takes it with one of these alone",
            "turn PFC on, with qos roce or a PFC profile",
            origin,
            tuple(names),
        )


def _paused_by_link(reader: NvueSwitch, ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    """Yield ports with a profile of link pause that pause priorities too."""
    paused: dict[Origin, list[str]] = {}
    for name, port in ports.items():
        profile = port.value("qos", "link-pause", "profile")
        if profile is not None and reader.pfc_of(port, port.origin).priorities:
            paused.setdefault(port.origin_of("qos", "link-pause", "profile"), []).append(name)
    for origin, names in paused.items():
        yield RefusedSetting(
            f"link pause is set beside PFC at {joined(names, 4)}",
            "NVUE takes one of both for a port; a pause of the link stops all classes",
            f"nv unset interface {names[0]} qos link-pause",
            origin,
            tuple(names),
        )


def _small_headroom(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    for name, profile in (reader.pfc_profiles.below if reader.pfc_profiles is not None else {}).items():
        size, xoff = profile.number("port-buffer"), profile.number("xoff-threshold")
        room = None if size is None else size - (xoff or 0)
        if room is not None and room < _FRAME_BYTES:
            yield RefusedSetting(
                f"PFC profile {name} leaves {room:,} B of port buffer above XOFF",
                "that cannot hold one frame, and what arrives after the pause is dropped",
                "leave port-buffer out, and state the cable length",
                profile.origin_of("port-buffer"),
                users := reader.users_of(name),
                bool(users),
            )


def _curves(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    profiles = reader.tree.at("qos", "congestion-control")
    for name, profile in (profiles.below if profiles is not None else {}).items():
        classes = profile.at("traffic-class")
        for number, row in (classes.below if classes is not None else {}).items():
            low, high = row.number("min-threshold"), row.number("max-threshold")
            if low is not None and high is not None and low > high:
                yield RefusedSetting(
                    f"the minimum threshold of traffic class {number} in {name} is {low:,} B, its maximum {high:,} B",
                    "a curve cannot end before it begins",
                    "exchange the thresholds",
                    row.origin_of("min-threshold"),
                )


def _quota(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    buffer = reader.tree.at("qos", "advance-buffer-config", "default-global", "egress-lossless-buffer")
    quota = buffer.number("shared-bytes") if buffer is not None else None
    if buffer is not None and quota is not None:
        yield RefusedSetting(
            f"the lossless egress buffer is limited to {quota:,} B",
            "a lossless class that reaches a limit at the egress drops",
            "leave the lossless egress buffer without a limit",
            buffer.origin_of("shared-bytes"),
        )


def _one_sided(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    for name, profile in (reader.pfc_profiles.below if reader.pfc_profiles is not None else {}).items():
        sends, obeys = (profile.value(word) not in ("disable", "off") for word in ("tx", "rx"))
        if profile.at("switch-priority") is None or sends == obeys:
            continue
        what, why = ("sent and not obeyed", "rx") if sends else ("obeyed and not sent", "tx")
        yield RefusedSetting(
            f"by PFC profile {name} pauses are {what}",
            "one direction of the link is then lossy",
            f"nv set qos pfc {name} {why} enable",
            profile.origin_of(why),
            users := reader.users_of(name),
            bool(users),
        )


_PROFILED = ("mapping", "pfc", "congestion-control", "egress-scheduler")
_OWN = ("roce", "traffic-pool", *_PROFILED, "egress-queue-mapping", "pfc-watchdog")
"""The settings below ``qos`` that are written; all others stay."""
_ADAPTIVE = "adaptive-routing"
_LISTS = frozenset({("pfc", "switch-priority"), ("traffic-pool", "switch-priority")})
"""Kinds of QoS settings, each with a word of theirs that several values may follow."""


def session(running: Document, wanted: Document) -> tuple[str, ...]:
    """Return the commands from a running to a wanted configuration; ports that the wanted one does not name stay.

    A setting that the dialect's files never have stays too.
    """
    before, after = tree_of(running), tree_of(wanted)
    unset = (f"nv unset {' '.join(path)}" for path in _gone(before, after))
    return (*commands(_new(before, after)), *unset)


def _new(before: Node | None, after: Node) -> dict[str, Any]:
    """Return the settings of the tree ``after`` that the tree ``before`` lacks, as nested dictionaries."""
    new: dict[str, Any] = {}
    for word, node in after.below.items():
        old = before.below.get(word) if before is not None else None
        below = _new(old, node)
        if below or old is None or old.removed:
            new[word] = below
    return new


def _gone(before: Node, after: Node) -> Iterator[tuple[str, ...]]:
    ports_before, ports_after = before.at("interface"), after.at("interface")
    ports = ports_before.below if ports_before is not None else {}
    wanted = ports_after.below if ports_after is not None else {}
    yield from _of_word(before.at("router"), after.at("router"), _ADAPTIVE, ("router",))
    for name in ports:
        if name in wanted:
            old, new = ports[name].at("router"), wanted[name].at("router")
            yield from _of_word(old, new, _ADAPTIVE, ("interface", name, "router"))
            for word in (*_PROFILED, "pfc-watchdog"):
                yield from _of_word(
                    ports[name].at("qos"), wanted[name].at("qos"), word, ("interface", name, "qos")
                )
    bound = {
        (kind, profile)
        for name, port in ports.items()
        if name not in wanted
        for kind in _PROFILED
        if (profile := port.value("qos", kind, "profile")) is not None
    }
    for word in _OWN:
        for path in _of_word(before.at("qos"), after.at("qos"), word, ("qos",)):
            yield from () if path[1:] in bound else (path,)


def _of_word(
    before: Node | None, after: Node | None, word: str, path: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    old = before.at(word) if before is not None else None
    new = after.at(word) if after is not None else None
    if old is None or old.removed:
        return
    if new is None and (word not in _PROFILED or path[0] == "interface"):
        yield (*path, word)
        return
    yield from _below(old, new, (*path, word))


def _below(old: Node, new: Node | None, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the shortest paths of the old tree that the new one lacks; a value that another replaces stays out."""
    for word, node in old.below.items():
        if node.removed:
            continue
        following = new.below.get(word) if new is not None else None
        if following is None:
            is_listed = (path[1:2] + path[-1:]) in _LISTS
            if node.below or new is None or not new.below or is_listed:
                yield (*path, word)
        else:
            yield from _below(node, following, (*path, word))


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
"""The kinds of QoS profiles that decide whether a class is lossless."""


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
    """Yield the VXLAN tunnel: without a line, the outer DSCP follows from the switch priority and stays in its class.

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
    """Yield the DSCPs that remark profiles in use write into packets of a switch priority.

    Source: NVIDIA, Cumulus Linux User Guide, "Quality of Service", "Mark and Remark Traffic".
    """
    ports = reader.tree.all("interface")
    for name, profile in reader.tree.all("qos", "remark").items():
        users = tuple(port for port, own in ports.items() if own.value("qos", "remark", "profile") == name)
        if profile.value("rewrite") not in ("l3", "both") or not (users or name == GLOBAL):
            continue
        for priority, row in profile.all("switch-priority").items():
            dscp = row.number("dscp")
            if (
                priority.isascii()
                and priority.isdecimal()
                and int(priority) in PRIORITIES
                and dscp is not None
                and dscp in DSCPS
            ):
                yield Rewrite(int(priority), dscp, row.origin_of("dscp"), users)


def _untagged(tree: Node) -> Iterator[str]:
    """Yield the ports that get no VLAN tags: access ports of a bridge, and ports with addresses and no bridge."""
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
"""Attributes that the files of NVUE carry."""
LOSSES = {
    "buffers": _COMPUTED,
    "watchdog.restoration": _NO_RECOVERY,
    "watchdog.action": _NO_ACTION,
    **NO_FORCED_RECOVERY,
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
