"""Arista EOS: running configurations and AVD's structured configuration, and the commands between two configurations.

Structured configuration is that of ``eos_cli_config_gen``.

The commands are those of a configuration session: first the new settings, then the removals. A session copies the
running configuration, takes commands, and is committed at once, with a timer that rolls back by itself (Arista, User
Manual, "Configure Session", arista.com/en/um-eos/eos-configure-session: ``commit timer``, ``abort``, ``show
session-config diffs``). A line is negated as it is printed; ``default`` gives a port its own value back, where ``no``
means that it trusts no mark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.contract import (
    CARRIED_BY_ALL,
    CARRIED_BY_NONE,
    NO_ADAPTIVE_ROUTING,
    NOT_APPLICABLE_TO_ANY,
    Carrying,
    ConfigurationFile,
    Dialect,
)
from lossless.formats.switches.eos.from_model import structured
from lossless.formats.switches.eos.read.structured import (
    config_of,
    config_of_data,
    looks_like_eos,
    looks_structured,
    read_running_config,
)
from lossless.formats.switches.eos.to_model import DEFAULT_CLASS, SwitchReader, is_port, refusals
from lossless.formats.switches.other_systems import as_text, block, new_commands
from lossless.ground.basics.findings import Origin, grouped, natural_key
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.command_lines import CommandDocument
from lossless.model.fabric.configured_switch import (
    ReadSwitch,
    RefusedSetting,
    Rewrite,
    Tunnel,
    UnboundObject,
    UndefinedName,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.eos.read.grammar import EosConfig, Key, Settings
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch


_INDENT = "   "
_PFC = "priority-flow-control"
_OF_SWITCH = {
    "dscp": "no qos map dscp {}",
    "cos": "no qos map cos {}",
    "tx-queue": "qos map traffic-class {0} to tx-queue {0}",
}
_OF_QUEUE = {
    "strict": "no priority",
    "percent": "no bandwidth percent",
    "guaranteed": "no bandwidth guaranteed",
    "ecn": "no random-detect ecn",
}


def session(running: Document, wanted: Document) -> tuple[str, ...]:
    """Return the commands from a running to a wanted configuration; ports that the wanted one does not name stay.

    A setting that the dialect's files never have may stay too.

    Raises:
        InputError: a configuration is no text.
    """
    old, new = as_text(running), as_text(wanted)
    before, after = config_of(old), config_of(new)
    added = new_commands(old, new, _INDENT)
    return (*added, *_gone(before, after))


def _gone(before: EosConfig, after: EosConfig) -> Iterator[str]:
    yield from (line for key in before.switch if key not in after.switch for line in _of_switch(key))
    for name in sorted(before.interfaces.keys() & after.interfaces.keys(), key=natural_key):
        own, new = before.interfaces[name], after.interfaces[name]
        yield from block((f"interface {name}",), [*_of_port(own, new, "default")], _INDENT)
        yield from _of_queues((f"interface {name}",), own, new)
    kept = {_profile(own) for name, own in before.interfaces.items() if name not in after.interfaces}
    for name, own in before.profiles.items():
        if name in after.profiles:
            opening = (f"qos profile {name}",)
            yield from block(opening, [*_of_port(own, after.profiles[name], "no")], _INDENT)
            yield from _of_queues(opening, own, after.profiles[name])
        elif name not in kept:
            yield f"no qos profile {name}"


def _profile(settings: Settings) -> str:
    bound = settings.get(("profile",))
    return str(bound.value) if bound is not None else ""


def _of_switch(key: Key) -> Iterator[str]:
    if key[0] in _OF_SWITCH and len(key) > 1:
        yield _OF_SWITCH[str(key[0])].format(key[1])
    elif key[0] == "watchdog":
        yield f"no {_PFC} pause watchdog {'action' if key[1] == 'action' else f'default {key[1]}'}"
    elif key[0] == "all-off":
        yield f"no {_PFC} all off"


def _of_port(own: Settings, new: Settings, back: str) -> Iterator[str]:
    """Yield the commands that undo settings of PFC, watchdog, trust and profile that an interface or profile lost."""
    gone = {key: setting.value for key, setting in own.items() if key not in new}
    for key, value in gone.items():
        if key[0] == "no-drop" and value:
            yield f"no {_PFC} priority {key[1]} no-drop"
        elif key == ("pfc",):
            yield f"{back} {_PFC}"
        elif key == ("watchdog",):
            yield f"{_PFC} pause watchdog"
        elif key == ("trust",):
            yield "default qos trust"
        elif key == ("profile",) and value is not None:
            yield "no service-profile"
    if any(key[:1] == ("watchdog",) and key[1:] not in ((), ("action",)) for key in gone):
        yield f"no {_PFC} pause watchdog port timer"
    if ("watchdog", "action") in gone:
        yield f"no {_PFC} pause watchdog port action"


def _of_queues(opening: tuple[str, ...], own: Settings, new: Settings) -> Iterator[str]:
    for number in sorted({int(key[1]) for key in own if key[0] == "queue" and len(key) > 1}):
        lines = [
            line
            for word, line in _OF_QUEUE.items()
            if (key := ("queue", number, word)) in own and key not in new and own[key].value
        ]
        yield from block((*opening, f"uc-tx-queue {number}"), lines, _INDENT)


_COMPUTED = "the chip computes headroom and pools; neither a cable length nor a headroom row is configured"
_BY_COS = (
    "EOS derives from one map which class a priority pauses and which queue it stops: they cannot disagree"
)
_OWN_LIMITS = "limits and defaults are those of SONiC; the limits of EOS are checked by CFG014"
_NO_HEADROOM = "headroom and pools stand in platform commands, which are not read"
NOT_APPLICABLE = {
    **NOT_APPLICABLE_TO_ANY,
    "BUF002": _NO_HEADROOM,
    "BUF003": _COMPUTED,
    "BUF004": _COMPUTED,
    "BUF007": _COMPUTED,
    "CLS010": "without a line VXLAN packets carry outside what a map of the platform makes of the class: not checked",
    "WD002": "EOS has no mask of watched priorities: every no-drop priority of a port is watched",
    "WD003": _OWN_LIMITS,
    "WD004": _OWN_LIMITS,
    "WD005": "what EOS does without a recovery time was found in no source",
    "WD010": _OWN_LIMITS,
    "WD012": "the chip-wide action is how SONiC programs some chips",
    "WD013": _OWN_LIMITS,
    "PFC005": _BY_COS,
    "ECN004": _NO_HEADROOM,
    "ECN005": _NO_HEADROOM,
}
"""Rules of fabrics that have no meaning for EOS, each with the reason."""
_ECN = "random-detect ecn minimum-threshold 500 kbytes maximum-threshold 2000 kbytes max-mark-probability 10"
WORDS = {
    "WD001": Words(
        message="PFC is on, and no watchdog timeout is set for the port",
        note="the line 'priority-flow-control pause watchdog' stands by default and sets no timer; "
        "a stuck NIC then pauses the port permanently, and the pause propagates through the fabric",
        help="set one: priority-flow-control pause watchdog default timeout 0.2, with recovery-time, "
        "polling-interval and action",
    ),
    "WD011": Words(help="priority-flow-control pause watchdog action drop"),
    "ECN001": Words(
        message="a lossless queue has no random-detect ecn line: congestion is not marked",
        help=f"below tx-queue of that queue: {_ECN} weight 0",
    ),
    "ECN001 error": Words(help=f"mark instead of dropping, below tx-queue of that queue: {_ECN} weight 0"),
    "SCH005": Words(help="no shape rate, or the speed of the port"),
    "ECN009": Words(help="give ports of each speed a qos profile of their own"),
    "PFC001": Words(
        help="set priority-flow-control priority N no-drop for the priorities of lossless classes alone"
    ),
    "PFC002": Words(help="set priority-flow-control priority N drop for all but two priorities"),
    "CLS009": Words(help="write the DSCP of the class: qos map traffic-class 3 to dscp 26"),
    "CLS007": Words(help="map it to a lossy class of its own: qos map dscp 48 to traffic-class 6"),
}
"""Words of rules' messages, in the commands of EOS."""


def _document(text: str, file: str) -> Document:
    return read_running_config(text, file)[0]


def _read(document: Document, rdma_dscps: tuple[int, ...]) -> ReadSwitch:
    structured = not isinstance(document, CommandDocument)
    config = config_of_data(document) if structured else config_of(document)  # type: ignore[arg-type]
    reader = SwitchReader(config, rdma_dscps)
    return ReadSwitch(
        switch=reader.switch(),
        maps=reader.maps,
        trusts={name: reader.trust_of(name) for name in config.interfaces},
        undefined=tuple(_undefined(config)),
        unbound=tuple(_unbound(config)),
        refused=tuple(_refused(config)),
        silent=tuple(_silent(config, reader)),
        untagged=frozenset(name for name in config.interfaces if _untagged(config, reader, name)),
        unread=tuple(
            f"line {document.locate(origin.path).line}: {text!r} is not read"
            for origin, text in config.unread
        ),
        product=_product(document.text),
        tunnels=tuple(_tunnels(document)),
        taking_part=frozenset(
            name for name in filter(is_port, config.interfaces) if _takes_part(reader, name)
        ),
        rest=reader.rest(),
        rewrites=tuple(_rewrites(config)),
        shapers=tuple(reader.shapers()),
        mtus={name: s[("mtu",)].origin for name, s in config.interfaces.items() if ("mtu",) in s},
    )


def _tunnels(document: Document) -> Iterator[Tunnel]:
    """Yield VXLAN tunnels: the outer DSCP and ECN of packets are known if lines copy the inner ones.

    Without them the marks come from the traffic class, by a map of the platform. Source: Arista, EOS User Manual,
    "VXLAN DSCP Mapping"; keys of eos_cli_config_gen of AVD.
    """
    if isinstance(document, CommandDocument):
        for command in document.top:
            below = [line.text for line in command.below]
            carries = any(line.startswith(("vxlan vlan ", "vxlan vrf ")) for line in below)
            if command.text.startswith("interface Vxlan") and carries:
                copied = all(line in below for line in _COPIED.values())
                yield Tunnel(
                    command.text.split()[1], None if copied else UNKNOWN, Origin(document.name, command.path)
                )
    elif isinstance(overlay := document.data.get("vxlan_interface"), dict):
        for name, row in overlay.items():
            vxlan = row.get("vxlan") if isinstance(row, dict) else None
            qos = vxlan.get("qos") if isinstance(vxlan, dict) else None
            copied = isinstance(qos, dict) and all(qos.get(key) is True for key in _COPIED)
            origin = Origin(document.name, ("vxlan_interface", name))
            yield Tunnel(str(name), None if copied else UNKNOWN, origin)


_COPIED = {
    "dscp_propagation_encapsulation": "vxlan qos dscp propagation encapsulation",
    "ecn_propagation": "vxlan qos ecn propagation",
}


def _rewrites(config: EosConfig) -> Iterator[Rewrite]:
    """Yield the DSCP that the switch writes for each traffic class; none without the line ``qos rewrite dscp``."""
    for key, setting in config.switch.items() if ("rewrites",) in config.switch else ():
        if key[:2] == ("rewrite", "dscp"):
            yield Rewrite(int(key[2]), setting.value, setting.origin)


_HEAD = re.compile(r"(?m)^! device: \S+ \((?:DCS-)?([^,\n]+), EOS")


def _product(text: str) -> str:
    """Return the product name in the line ``! device:`` of a running configuration, empty if it has none."""
    head = _HEAD.search(text)
    return head[1] if head is not None else ""


def _undefined(config: EosConfig) -> Iterator[UndefinedName]:
    if not config.complete:
        return
    bound = grouped(
        (profile.value, (name, profile.origin))
        for name, settings in config.interfaces.items()
        if (profile := settings.get(("profile",))) is not None and profile.value is not None
    )
    for profile, users in bound.items():
        if profile not in config.profiles:
            ports = tuple(name for name, _ in users if config.whole and is_port(name))
            yield UndefinedName("qos profile", profile, users[0][1], ports)
    yield from _undefined_maps(config)


def _undefined_maps(config: EosConfig) -> Iterator[UndefinedName]:
    """Yield undefined policy maps that are bound, and undefined class maps of policies.

    A part of a configuration that has no such map at all is not checked for it."""
    used: dict[str, tuple[Origin, list[str]]] = {}
    for owner, settings in (*config.profiles.items(), *config.interfaces.items()):
        bound = settings.get(("policy",))
        if bound is not None and bound.value is not None and bound.value not in config.policies:
            ports = used.setdefault(bound.value, (bound.origin, []))[1]
            ports += [owner] if config.whole and owner in config.interfaces and is_port(owner) else []
    for name, (origin, ports) in used.items() if config.policies or config.whole else ():
        yield UndefinedName("policy-map type quality-of-service", name, origin, tuple(ports))
    for policy, classes in config.policies.items():
        for cls in classes if config.class_maps or config.whole else ():
            if cls != DEFAULT_CLASS and cls not in config.class_maps:
                yield UndefinedName("class-map type qos", cls, config.places["policy", policy])


def _unbound(config: EosConfig) -> Iterator[UnboundObject]:
    used = {
        settings[("profile",)].value for settings in config.interfaces.values() if ("profile",) in settings
    }
    for name in config.profiles:
        if name not in used and config.interfaces:
            yield UnboundObject("qos profile", name, config.places[("profile", name)])


def _refused(config: EosConfig) -> Iterator[RefusedSetting]:
    return refusals(config)


def _silent(config: EosConfig, reader: SwitchReader) -> Iterator[tuple[str, Origin]]:
    if ("all-off",) in config.switch:
        return
    for name in filter(is_port, config.interfaces):
        settings = reader.settings_of(name)
        on, up = settings.get(("pfc",)), settings.get(("up",))
        if up is not None and not up.value:
            continue
        paused = any(key[0] == "no-drop" and setting.value for key, setting in settings.items())
        if on is not None and on.value and not paused:
            yield name, on.origin


def _takes_part(reader: SwitchReader, name: str) -> bool:
    """Return whether an interface has PFC on, or a priority that is no-drop."""
    settings = reader.settings_of(name)
    on = settings.get(("pfc",))
    return (on is not None and bool(on.value)) or any(
        key[0] == "no-drop" and setting.value for key, setting in settings.items()
    )


def _untagged(config: EosConfig, reader: SwitchReader, name: str) -> bool:
    """Return whether a port gets no VLAN tags: a routed one, one of the native VLAN alone, or an access port.

    A switched port is an access port of VLAN 1 unless a line makes it a trunk (Arista, EOS User Manual, "VLANs").
    """
    settings = reader.settings_of(name)
    vlans, native = settings.get(("tagged",)), settings.get(("native",))
    if reader.is_routed(settings):
        return True
    if vlans is None:
        return config.whole and ("trunk",) not in settings
    return vlans.value in (None, native.value if native is not None else "1")


CARRIES = CARRIED_BY_ALL | {
    f"watchdog.{key}" for key in ("detection", "restoration", "forced", "action", "poll")
}
"""Attributes that the files of EOS carry."""
LOSSES = {
    "buffers": _COMPUTED,
    "cable": _COMPUTED,
    **CARRIED_BY_NONE,
    **NO_ADAPTIVE_ROUTING,
}
"""Attributes that the files of EOS do not carry, with why."""
_APPLY = (
    "configure session lossless",
    "show session-config diffs",
    "commit timer 00:10:00",
    "configure session lossless commit",
)
_WHY = (
    "what is in the file is set, and what else is configured stays; paste it in the session before its diffs are "
    "shown. On platforms that watch queues with guaranteed bandwidth alone, the watchdog needs that too: show "
    "priority-flow-control status says which queues are watched"
)
_AVD = "structured configuration of the device in AVD, which renders and deploys it"


def _files(switch: Switch) -> tuple[ConfigurationFile, ...]:
    data = structured(switch)
    text = {
        "device": switch.name,
        "product": switch.profile.product if switch.profile is not None else "unknown",
        "watchdog": data.get("priority_flow_control", {}).get("watchdog", {}),
        "timers": [
            (name.replace("-", "_"), name) for name in ("timeout", "recovery-time", "polling-interval")
        ],
        "map": data.get("qos", {}).get("map", {}),
        "maps": [("dscp", "dscp"), ("cos", "cos"), ("traffic_class", "traffic-class")],
        "profiles": data.get("qos_profiles", []),
        "interfaces": data.get("ethernet_interfaces", []),
    }
    avd = {"comment": [f"{switch.name}: keys of eos_cli_config_gen"], "data": data}
    return (
        ConfigurationFile("qos.cfg", "eos/qos.cfg.j2", text, "running-config", _APPLY, _WHY),
        ConfigurationFile("avd.yml", "data.yml.j2", avd, "", (), _AVD),
    )


CARRYING = Carrying(
    file="session.cfg",
    begin=("configure session {name}",),
    commit=("show session-config diffs", "commit timer 00:10:00"),
    check=("show running-config section qos", "show running-config section priority-flow-control"),
    confirm=("configure session {name} commit",),
    back=("configure session {name} abort",),
    why="the session is committed at once, and goes back by itself after ten minutes without the second commit; what "
    "the chip does to packets meanwhile is not known",
)
"""How EOS takes a change (Arista, User Manual, "Configure Session")."""


DIALECT = Dialect(
    reads="show running-config; structured configuration of AVD",
    writes="qos.cfg, avd.yml",
    checked_with="pyavd 6.4.0",
    recognizes=looks_like_eos,
    recognizes_data=looks_structured,
    document=_document,
    read=_read,
    not_applicable=NOT_APPLICABLE,
    words=WORDS,
    files=_files,
    carries=CARRIES,
    losses=LOSSES,
    session=session,
    carrying=CARRYING,
    shares_in_percent=True,
)
