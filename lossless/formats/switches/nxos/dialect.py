"""Cisco NX-OS: configurations as text, and the object model (DME) as JSON."""

from __future__ import annotations

from itertools import islice
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
from lossless.formats.switches.nxos.from_model import INPUT, NETWORK, object_model, policies
from lossless.formats.switches.nxos.policies import default_mtus, refusals
from lossless.formats.switches.nxos.read.dme import (
    config_of,
    config_of_data,
    looks_like_nxos,
    looks_structured,
    read_modes,
)
from lossless.formats.switches.nxos.read.grammar import NETWORK as NETWORK_QOS, QOS, QUEUING, TYPES, is_port
from lossless.formats.switches.nxos.session import exists, is_built_in, qos_group, session
from lossless.formats.switches.nxos.to_model import NxosSwitch
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.command_lines import CommandDocument
from lossless.model.fabric.configured_switch import (
    IntendedLossless,
    ReadSwitch,
    Rewrite,
    Tunnel,
    UnboundObject,
    UndefinedName,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nxos.read.grammar import Key, NxosConfig, NxosSetting, Settings
    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch

_PLATFORM = "the buffer of the chip is not in the configuration, and without a pause buffer headroom is the platform's"
_NO_LENGTH = "NX-OS has no cable lengths"
_OWN_LIMITS = "limits and defaults are those of SONiC"
_INTERVALS = "detection and restoration are whole numbers of the watchdog's interval"
_DEFAULTED = "its time follows from the interval, and one of them is left at the default of the release"
_FIXED = "what it adds to the rule by which a queue is restored was found in no source: unknown"
_NO_HEADROOM = (
    "the buffer of the chip is not in the configuration; what `pause buffer-size` leaves above its threshold is "
    "checked by CFG014"
)
NOT_APPLICABLE = {
    **NOT_APPLICABLE_TO_ANY,
    "BUF002": _NO_HEADROOM,
    "BUF003": _NO_LENGTH,
    "BUF004": _NO_LENGTH,
    "BUF007": _NO_HEADROOM,
    "CLS010": "which DSCP and ECN packets of VXLAN carry outside, no line says: not checked",
    "ECN004": _NO_HEADROOM,
    "ECN005": _NO_HEADROOM,
    "PFC005": "the line of a class says which priority pauses it: group, queue and priority cannot disagree",
    "WD002": "NX-OS has no mask of watched priorities: every no-drop queue of a port is watched",
    "WD003": _OWN_LIMITS,
    "WD004": _INTERVALS,
    "WD005": "the auto-restore multiplier has a default: a queue is restored without a line",
    "WD006": "what a line leaves out of interval and multipliers is a default of the release",
    "WD010": _INTERVALS,
    "WD011": "`disable-action`, which only logs, is checked by CFG014",
    "WD012": "the watchdog has no action to choose",
    "WD013": _OWN_LIMITS,
}
"""Rules of fabrics that have no meaning for NX-OS, each with the reason."""
_ECN = (
    "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0 ecn"
)
_WATCHDOG = "priority-flow-control watch-dog-interval on"
WORDS = {
    "CFG002": Words(note="what it should set keeps its default"),
    "WD001": Words(
        message="PFC is on, and the watchdog is not",
        note="it takes a line of the switch and one of the port; a stuck NIC then pauses the port permanently, and the "
        "pause propagates through the fabric",
        help=f"{_WATCHDOG}, once before the interfaces and once below each with PFC",
    ),
    "ECN001": Words(help=f"in the class of that queue, on one line: {_ECN}"),
    "ECN001 error": Words(help=f"mark instead of dropping, in the class of that queue, on one line: {_ECN}"),
    "SCH005": Words(help="no shape, in the class of that queue"),
    "ECN003": Words(help="set a drop-probability of 1 or more"),
    "ECN007": Words(help="the unit stands behind each threshold: minimum-threshold 150 kbytes"),
    "ECN009": Words(
        help="bind a queuing policy of its own to the ports of each speed: service-policy type queuing output"
    ),
    "PFC001": Words(help="leave pause pfc-cos to the lossless classes alone"),
    "PFC002": Words(help="leave pause pfc-cos to two classes of the network-qos policy"),
    "PFC018": Words(
        help="pause pfc-cos 3 in class type network-qos c-8q-nq3, and service-policy type network-qos with its policy "
        "below system qos"
    ),
    "CLS001": Words(
        help="match dscp in the class map whose class has the qos-group of a no-drop class: one with pause pfc-cos "
        "in the network-qos policy below system qos"
    ),
    "CLS002": Words(help="match the DSCPs of RDMA alone in the class map of the no-drop class"),
    "CLS004": Words(
        help="match dscp 26 in the class map, and bind its policy to the port: service-policy type qos input"
    ),
    "CLS007": Words(help="class-map type qos match-any CNP with match dscp 48, and set qos-group 7 for it"),
    "CLS012": Words(help="set qos-group 0 for it: the class of unmarked traffic has no pause"),
    "SCH001": Words(help="raise its bandwidth remaining percent; vendors publish 50 % for RDMA"),
    "SCH004": Words(help="bandwidth remaining percent 50, instead of priority level 1"),
}
"""Words of rules' messages, in the commands of NX-OS."""


def _read(document: Document, rdma_dscps: tuple[int, ...]) -> ReadSwitch:
    config = config_of(document) if isinstance(document, CommandDocument) else config_of_data(document)
    reader = NxosSwitch(config, rdma_dscps)
    ports = {port: reader.settings_of(port) for port in reader.ports()}
    return ReadSwitch(
        switch=reader.switch(),
        maps=reader.maps,
        trusts=reader.trusts(),
        undefined=tuple(_undefined(config)),
        unbound=tuple(_unbound(config)),
        refused=tuple(refusals(config, reader)),
        defined=reader.defined_queues(),
        silent=tuple(_silent(config, reader)),
        intended=tuple(_intended(config, reader)),
        untagged=frozenset(port for port in ports if _untagged(config, ports[port])),
        unread=(
            *(
                f"line {document.locate(origin.path).line}: {text!r} is not read"
                for origin, text in config.unread
            ),
            *(
                f"line {document.locate(origin.path).line}: a multiplier of the watchdog: {why}"
                for origin, why in _multipliers(config).items()
            ),
            *default_mtus(reader),
        ),
        tunnels=tuple(
            Tunnel(name, UNKNOWN, config.places["interface", name])
            for name in config.ports
            if name.startswith("nve")
        ),
        taking_part=frozenset(port for port, settings in ports.items() if _takes_part(settings)),
        undecided={port: _AUTO for port, settings in ports.items() if reader.mode(settings) == "auto"},
        rest=reader.rest(),
        unstated=frozenset(ports) if config.is_part else frozenset(),
        rewrites=tuple(_rewrites(config)),
        shapers=tuple(reader.shapers()),
        mtus={port: settings[("mtu",)].origin for port, settings in ports.items() if ("mtu",) in settings},
    )


_AUTO = "PFC is in mode auto: DCBX of the peer decides"


def _takes_part(settings: Settings) -> bool:
    """Return whether a port has PFC or its watchdog on, or an input policy of its own."""
    on = (settings.get(key) for key in (("pfc",), ("watchdog",)))
    return ("policy", QOS, "input") in settings or any(s is not None and s.value in ("on", True) for s in on)


def _blocks(config: NxosConfig) -> Iterator[Settings]:
    yield config.switch
    yield from config.profiles.values()
    yield from config.ports.values()


def _undefined(config: NxosConfig) -> Iterator[UndefinedName]:
    seen: dict[UndefinedName, None] = {}
    for block in _blocks(config) if not config.is_part else ():
        for key, setting in block.items():
            if key[0] == "policy" and setting.value and not _is_policy(config, str(key[1]), setting.value):
                ports = tuple(
                    port for port in config.ports if key[1] == QOS and _has(config, port, key, setting)
                )
                seen[UndefinedName(f"policy-map type {key[1]}", setting.value, setting.origin, ports)] = None
    for block in _blocks(config):
        profile = block.get(("inherit",))
        if profile is not None and config.profiles and profile.value not in config.profiles:
            seen[UndefinedName("port-profile", profile.value, profile.origin)] = None
    for (kind, _), policy in config.policies.items():
        for name in policy.below:
            if not exists(config, policy.types[name], name) or policy.types[name] != kind:
                seen[UndefinedName(f"class-map type {kind}", name, policy.places[name])] = None
    yield from seen


def _has(config: NxosConfig, port: str, key: Key, setting: NxosSetting) -> bool:
    """Return whether an interface can have QoS and has a setting, itself or by profile or port channel."""
    return is_port(port) and config.settings_of(port).get(key) == setting


def _is_policy(config: NxosConfig, kind: str, name: str) -> bool:
    """Return whether a policy map is defined, or one that NX-OS brings along (``default-``)."""
    return (kind, name) in config.policies or name.startswith("default-")


def _unbound(config: NxosConfig) -> Iterator[UnboundObject]:
    kinds = config.bound_kinds or (TYPES if config.system_qos or config.ports else ())
    bound = {
        (str(key[1]), s.value) for block in _blocks(config) for key, s in block.items() if key[0] == "policy"
    }
    for (kind, name), policy in config.policies.items():
        if kind in kinds and (kind, name) not in bound and name not in config.bound_elsewhere:
            yield UnboundObject(f"policy-map type {kind}", name, policy.origin)
    used = {(kind, cls) for (kind, _), policy in config.policies.items() for cls in policy.below}
    for kind, name in config.class_maps:
        if kinds and (kind, name) not in used and not is_built_in(kind, name):
            yield UnboundObject(f"class-map type {kind}", name, config.places[f"class-map type {kind}", name])
    inherited = {s.value for block in _blocks(config) if (s := block.get(("inherit",))) is not None}
    for name in config.profiles:
        if name not in inherited and config.ports:
            yield UnboundObject("port-profile", name, config.places["port-profile", name])


def _silent(config: NxosConfig, reader: NxosSwitch) -> Iterator[tuple[str, Origin]]:
    """Yield each port that is not shut down and has PFC on while no class is no-drop, and the first such line."""
    if reader.no_drop or config.is_part:
        return
    first: Origin | None = None
    for port in reader.ports():
        settings = reader.settings_of(port)
        up, pfc = settings.get(("up",)), settings.get(("pfc",))
        if pfc is not None and reader.mode(settings) == "on" and (up is None or up.value):
            first = first or pfc.origin
            yield port, first


def _intended(config: NxosConfig, reader: NxosSwitch) -> Iterator[IntendedLossless]:
    """Yield, for each network-qos class that is paused but not defined, the first class of traffic that leads to it.

    Its qos-group is that of a queuing class of its name, else the one that the paused CoS leads to. Classes with ECN,
    or without such traffic, are left out.
    """
    bound = reader.policy_of({}, NETWORK_QOS, "")
    cos = reader.main.cos_to_group
    for name, settings in bound.policy.below.items() if bound and bound.policy else ():
        paused = [int(key[1]) for key in settings if key[0] == "pause"]
        pauses = paused or ("no-drop",) in settings
        if exists(config, NETWORK_QOS, name) or not pauses or ("ecn",) in settings:
            continue
        group = qos_group(config, QUEUING, name)
        if group is None and cos is not None and paused:
            group = cos.targets[paused[0]]
        yield from islice(_leading_to(config, group), 1)


def _leading_to(config: NxosConfig, group: int | None) -> Iterator[IntendedLossless]:
    """Yield the classes of ``type qos`` policies that set a qos-group."""
    for (kind, _), policy in config.policies.items():
        for name, settings in policy.below.items() if kind == QOS else ():
            stated = settings.get(("qos-group",))
            if stated is not None and group is not None and stated.value == group:
                yield IntendedLossless(name, group, stated.origin)


def _rewrites(config: NxosConfig) -> Iterator[Rewrite]:
    """Yield the DSCPs that classes of bound policies set, beside the qos-group that they set."""
    bound = {
        setting.value
        for block in _blocks(config)
        for key, setting in block.items()
        if key[:2] == ("policy", QOS)
    }
    for (kind, name), policy in config.policies.items():
        for settings in policy.below.values() if kind == QOS and name in bound else ():
            group, marked = settings.get(("qos-group",)), settings.get(("marked",))
            if group is not None and marked is not None:
                yield Rewrite(group.value, marked.value, marked.origin)


def _multipliers(config: NxosConfig) -> dict[Origin, str]:
    """Return the lines on multipliers of the PFC watchdog that give no time, each with the reason."""
    interval = config.switch.get(("watchdog", "interval"))
    return {
        setting.origin: _FIXED if key[1] == "fixed" else _DEFAULTED
        for block in _blocks(config)
        for key, setting in block.items()
        if key[0] == "watchdog" and key[1:] and (key[1] == "fixed" or interval is None)
    }


def _untagged(config: NxosConfig, settings: Settings) -> bool:
    """Return whether a port gets no VLAN tags: a routed one, an access port, or a trunk of its native VLAN alone."""
    if any((said := settings.get((key,))) is not None and said.value for key in ("routed", "access")):
        return True
    native, allowed, tagged = (
        settings.get(("native",)),
        settings.get(("allowed",)),
        config.switch.get(("tag-native",)),
    )
    if allowed is None or (tagged is not None and tagged.value):
        return False
    return bool(allowed.value == (native.value if native is not None else _FIRST_VLAN))


_FIRST_VLAN = 1
"""The native VLAN of a trunk where no line sets it."""
CARRIES = CARRIED_BY_ALL | {"watchdog.detection", "watchdog.restoration", "watchdog.poll"}
LOSSES = {
    "buffers": _PLATFORM,
    "cable": _NO_LENGTH,
    "watchdog.forced": f"fixed-restore multiplier: {_FIXED}",
    "watchdog.action": "packets of a queue that storms are dropped; `disable-action`, which only logs, is refused",
    **CARRIED_BY_NONE,
    **NO_ADAPTIVE_ROUTING,
    "mtu": "that of its classes is set; the MTU of an interface belongs to its own provisioning",
}
"""Attributes that the files of NX-OS do not carry, with why."""
_APPLY = (
    "checkpoint lossless",
    "copy bootflash:qos.cfg running-config",
    "show policy-map system type network-qos",
    "rollback running-config checkpoint lossless",
)
_WHY = (
    "what is in the file is set, and what else is configured stays; the last command goes back. A change of the "
    "network-qos policy resets buffers: drain the switch first"
)


_DME = (
    "the policies alone, for RESTCONF and NX-API; PFC of ports, the watchdog and system qos are set by qos.cfg. "
    "A change of the network-qos policy resets buffers: drain the switch first"
)


def _files(switch: Switch) -> tuple[ConfigurationFile, ...]:
    made = policies(switch)
    content = {
        "device": switch.name,
        "product": switch.profile.product if switch.profile is not None else "unknown",
        "input": INPUT,
        "network_name": NETWORK,
        **made,
    }
    document = {"data": object_model(made, {"input": INPUT, "network": NETWORK})}
    return (
        ConfigurationFile("qos.cfg", "nxos/qos.cfg.j2", content, "running-config", _APPLY, _WHY),
        ConfigurationFile("qos.dme.json", "data.json.j2", document, "", (), _DME, whole=False),
    )


CARRYING = Carrying(
    file="session.cfg",
    begin=("checkpoint {name}", "configure terminal"),
    commit=("end",),
    check=("show running-config ipqos", "show policy-map system type network-qos"),
    confirm=("copy running-config startup-config", "no checkpoint {name}"),
    back=("rollback running-config checkpoint {name}",),
    why="commands take effect one after another; what packets meet meanwhile is not known",
    drained=frozenset({"pfc"}),
)
"""How NX-OS takes a change (Cisco, Nexus 9000 NX-OS System Management Configuration Guide, "Configuring Rollback")."""


DIALECT = Dialect(
    reads="show running-config, scripts of commands; JSON of the object model",
    writes="qos.cfg, qos.dme.json",
    checked_with="public configurations, reading back, and the YANG models of 9.3(1)",
    recognizes=looks_like_nxos,
    recognizes_data=looks_structured,
    document=read_modes,
    read=_read,
    not_applicable=NOT_APPLICABLE,
    words=WORDS,
    files=_files,
    carries=CARRIES,
    losses=LOSSES,
    session=session,
    carrying=CARRYING,
    shares_in_percent=True,
    in_json=True,
)
