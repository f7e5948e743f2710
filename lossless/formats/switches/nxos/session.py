"""The commands that give NX-OS another configuration, its defaults, and its built-in classes and policies.

Removals that block additions come first, then additions, then other removals. NX-OS takes commands one after another.
A checkpoint before them is the target of ``rollback running-config checkpoint``, as a whole or not at all by default
(Cisco, Nexus 9000 Series NX-OS System Management Configuration Guide, "Configuring Rollback": ``atomic``). Shares,
levels and curves that a queue loses are removed before it gets new ones: shares of all queues are limited together. A
DSCP is matched by its new class before the old one loses it; each DSCP of a class map is an object of its own
(``Dscp-list``, Cisco-NX-OS-device.yang 9.3(1)), so that one is removed without the others.

Defaults are those of settings without a line. Sources: Cisco, NX-API REST SDK guide of Nexus 3000 and 9000 9.3(x),
"Configuring Priority Flow Control" (the modes), and configurations of batfish/batfish @cba1873 with ``show
running-config all``; Cisco-NX-OS-device.yang 9.3(1) of ydk-models-cisco-nx-os 9.3.1 (``ipqos_MTU``); Cisco, Nexus
9000 QoS Configuration Guide 10.5(x) (qos-groups); Cisco, Nexus 5000 CLI Configuration Guide 4.0(1a)N1, "Configuring
QoS" (FCoE).

Built-in classes and policies are those that NX-OS has without a definition, with the qos-group of a policy's class.
Source: class names of Nexus 9000 in the configurations of microsoft/AzureStack_Network_Switch_Config_Generator
@51524fa (``c-8q-nq3``, ``c-out-8q-q3``), and of batfish/batfish @cba1873 (``c-out-q-default`` with its qos-group).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.read.dme import config_of
from lossless.formats.switches.nxos.read.grammar import DEFAULT_CLASS, NETWORK, QOS, QUEUING
from lossless.formats.switches.other_systems import as_text, block, new_commands
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.units import number_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nxos.read.grammar import Name, NxosConfig, Settings
    from lossless.ground.documents.text import Document


PFC_MODE = "auto"
"""The default mode of PFC at a port: DCBX of the peer decides whether it runs."""
CLASS_MTU_BYTES = 1500
"""The default MTU of a class of the network-qos policy."""
UNCLASSIFIED = 0
"""The qos-group of packets that match no class, or a class that sets none."""
FCOE_CLASS, FCOE_GROUP, FCOE_PRIORITY = "class-fcoe", 1, 3
"""The built-in class of FCoE, which no mark but the Ethertype leads to, its qos-group and its priority."""


_BUILT_IN = {
    QOS: re.compile(r"class-(?:default|fcoe)"),
    QUEUING: re.compile(r"class-(?:default|fcoe)|c-(?:in|out)-(?:[48]q-)?q(?:-default|[1-7])"),
    NETWORK: re.compile(r"class-(?:default|fcoe)|c-(?:[48]q-)?nq(?:-default|[1-7])"),
}
_NUMBER = re.compile(r"q([1-7])$")


def is_built_in(kind: str, name: str) -> bool:
    """Return whether a class map of a type has a name that NX-OS itself defines."""
    return _BUILT_IN[kind].fullmatch(name) is not None


def exists(config: NxosConfig, kind: str, name: str) -> bool:
    """Return whether a class map of a type and name is defined, or built in."""
    return is_built_in(kind, name) or (kind, name) in config.class_maps


def qos_group(config: NxosConfig, kind: str, name: str) -> int | None:
    """Return the qos-group of a class of a network-qos or queuing policy; None if neither name nor line gives it."""
    if not exists(config, kind, name):
        return None
    if is_built_in(kind, name):
        match = _NUMBER.search(name)
        if name == FCOE_CLASS:
            return FCOE_GROUP
        return int(match[1]) if match else 0 if name.endswith("default") else None
    stated = [int(key[1]) for key in config.class_maps[kind, name] if key[0] == "qos-group"]
    return stated[0] if stated else 0 if name == DEFAULT_CLASS else None


_INDENT = "  "
_WATCHDOG = "no priority-flow-control watch-dog-interval on"
_TIMERS = {
    "interval": "no priority-flow-control watch-dog interval {}",
    "shutdown": "no priority-flow-control watch-dog shutdown-multiplier {}",
    "auto": "no priority-flow-control auto-restore multiplier {}",
    "fixed": "no priority-flow-control fixed-restore multiplier {}",
}
_OF_PORT = ("watchdog", "interface")
"""The multiplier of a port, in place of the switch's."""
_OF_QUEUE = {
    "percent": "no bandwidth percent {}",
    "remaining": "no bandwidth remaining percent {}",
    "priority": "no priority level {}",
    "ecn": "no random-detect",
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
    return (*_in_the_way(before, after), *added, *_gone(before, after))


def _in_the_way(before: NxosConfig, after: NxosConfig) -> Iterator[str]:
    """Yield the commands that remove shares, levels and curves of queues of policies that stay, and multipliers."""
    yield from _own_multipliers(before, after)
    for (kind, name), policy in before.policies.items():
        new = after.policies.get((kind, name))
        for cls, own in policy.below.items() if kind == QUEUING and new is not None else ():
            lines = [
                line.format(own[word,].value)
                for word, line in _OF_QUEUE.items()
                if new is not None and (word,) in own and (word,) not in new.below.get(cls, {})
            ]
            yield from block((_policy(kind, name), f"class type {kind} {cls}"), lines, _INDENT)


def _own_multipliers(before: NxosConfig, after: NxosConfig) -> Iterator[str]:
    """Yield the commands that remove multipliers of ports which are watched with that of the switch from then on."""
    for name in sorted(before.ports.keys() & after.ports.keys(), key=natural_key):
        own, new = before.ports[name].get(_OF_PORT), after.ports[name]
        if own is not None and _OF_PORT not in new and _is_set(new, "watchdog"):
            yield from block(
                (f"interface {name}",), [f"{_WATCHDOG} interface-multiplier {own.value}"], _INDENT
            )


def _gone(before: NxosConfig, after: NxosConfig) -> Iterator[str]:
    for name in sorted(before.ports.keys() & after.ports.keys(), key=natural_key):
        own, new = before.ports[name], after.ports[name]
        yield from block((f"interface {name}",), [*_of_port(own, new)], _INDENT)
    if _is_set(before.switch, "watchdog") and ("watchdog",) not in after.switch:
        yield _WATCHDOG
    for word, line in _TIMERS.items():
        if (stated := before.switch.get(("watchdog", word))) and ("watchdog", word) not in after.switch:
            yield line.format(stated.value)
    if ("override",) in before.switch:
        yield "no priority-flow-control override-interface mode off"
    output = before.switch.get(("policy", QUEUING, "output"))
    if output is not None and output.value and ("policy", QUEUING, "output") not in after.switch:
        yield from block(("system qos",), [f"no service-policy type queuing output {output.value}"], _INDENT)
    for policy in (each for each in before.policies if each in after.policies):
        yield from _of_policy(policy, before, after)
    for kind, name in before.class_maps:
        lines = [*_matches(before.class_maps[kind, name], after.class_maps.get((kind, name)))]
        yield from block((f"class-map type {kind} match-any {name}",), lines, _INDENT)
    yield from _unused(before, after)


def _matches(own: Settings, new: Settings | None) -> Iterator[str]:
    """Yield the commands that remove marks which a class map no longer matches; the others stay untouched."""
    for word in ("dscp", "cos") if new is not None else ():
        gone = sorted(int(key[1]) for key in own if key[0] == word and new is not None and key not in new)
        if gone:
            yield f"no match {word} {number_ranges(gone).replace(' ', '')}"


def _is_set(settings: Settings, word: str) -> bool:
    setting = settings.get((word,))
    return setting is not None and bool(setting.value)


def _of_port(own: Settings, new: Settings) -> Iterator[str]:
    output = own.get(("policy", QUEUING, "output"))
    if output is not None and output.value and ("policy", QUEUING, "output") not in new:
        yield f"no service-policy type queuing output {output.value}"
    if _is_set(own, "watchdog") and ("watchdog",) not in new:
        yield _WATCHDOG


def _of_policy(name: Name, before: NxosConfig, after: NxosConfig) -> Iterator[str]:
    """Yield the commands that remove classes of a policy, and their pauses; a pause that stays is stated after it."""
    kind, opening = name[0], _policy(*name)
    old, new = before.policies[name], after.policies[name]
    for cls, own in old.below.items():
        line = f"class {cls}" if kind == QOS else f"class type {kind} {cls}"
        if cls not in new.below:
            yield from block((opening,), [f"no {line}"], _INDENT)
            continue
        wanted = new.below[cls]
        gone = [key for key in own if key[0] == "pause" and key not in wanted]
        stay = [f"pause pfc-cos {key[1]}" for key in wanted if key[0] == "pause"] if gone else []
        lines = [f"no pause pfc-cos {key[1]}" for key in gone] if kind == NETWORK else []
        yield from block((opening, line), [*lines, *stay], _INDENT)


def _unused(before: NxosConfig, after: NxosConfig) -> Iterator[str]:
    """Yield the commands that remove unwanted policies without a binding that stays, then class maps without a use."""
    elsewhere = [own for port, own in before.ports.items() if port not in after.ports]
    blocks = (*elsewhere, *before.profiles.values())
    kept = {
        s.value for own in blocks for key, s in own.items() if key[0] == "policy"
    } | before.bound_elsewhere
    gone = [name for name in before.policies if name not in after.policies and name[1] not in kept]
    yield from (f"no {_policy(*name)}" for name in gone)
    left = {**before.policies, **after.policies}
    used = {
        (kind, cls)
        for name, policy in left.items()
        if name not in gone
        for kind, cls in _classes(name, policy.below, after)
    }
    for kind, name in before.class_maps:
        if (kind, name) not in used and (kind, name) not in after.class_maps and not is_built_in(kind, name):
            yield f"no class-map type {kind} match-any {name}"


def _classes(name: Name, below: dict[str, Settings], after: NxosConfig) -> Iterator[Name]:
    """Yield type and name of the classes that a policy has after the change."""
    new = after.policies.get(name)
    yield from ((name[0], cls) for cls in (below if new is None else new.below))


def _policy(kind: str, name: str) -> str:
    return f"policy-map type {kind} {name}"
