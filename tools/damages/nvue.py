"""What ports of NVUE do, by the documented meaning of its lines, and damages of them.

roce lossless: trust pcp and dscp, DSCP n*8 to n*8+7 to switch priority n, priority 3 to TC 3, 6 to 6, others to TC 0,
PFC on priority 3, ECN on TC 0 and 3, no watchdog; without roce: trust l2, no PFC, ECN on TC 0 alone. PFC of a profile
obeys and sends unless disabled; port-buffer less xoff-threshold is the headroom. Cumulus Linux 5.14, "RDMA over
Converged Ethernet - RoCE", table of defaults, and 5.19, "Quality of Service".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.damages.text import (
    LARGEST_FRAME,
    RDMA,
    Damage,
    Lines,
    Port,
    System,
    after_first,
    everywhere,
    extended,
    replaced,
    shuffled,
    without,
)


class _Nvue:
    """The settings of ``nv set`` lines, later ones over earlier ones."""

    def __init__(self, lines: Lines) -> None:
        self.set: dict[str, None] = {}
        for line in lines:
            match = re.fullmatch(r"nv (set|unset) (.+)", line.strip())
            for text in self._each(match[2]) if match else ():
                if match and match[1] == "unset":
                    self.set = {
                        key: None for key in self.set if key != text and not key.startswith(text + " ")
                    }
                else:
                    self.set.pop(text, None)
                    self.set[text] = None

    @staticmethod
    def _each(text: str) -> Iterator[str]:
        """Yield the paths of a line whose names may be lists."""
        match = re.fullmatch(
            r"(.*?\b(?:interface|dscp|traffic-class|switch-priority) )([a-z0-9]+(?:[,-][a-z0-9]+)+)(.*)", text
        )
        if match is None:
            yield text
            return
        for part in match[2].split(","):
            low, _, high = part.partition("-")
            stem = re.sub(r"\d+$", "", low)
            first = int(low[len(stem) :])
            for number in range(first, int(high or first) + 1):
                yield from _Nvue._each(f"{match[1]}{stem}{number}{match[3]}")

    def value(self, path: str) -> str | None:
        """Return the last word that follows a path."""
        found = [key[len(path) + 1 :] for key in self.set if key.startswith(path + " ")]
        return found[-1].split()[0] if found else None

    def has(self, path: str) -> bool:
        """Return whether anything is set at or below a path."""
        return any(key == path or key.startswith(path + " ") for key in self.set)


def nvue_ports(lines: Lines) -> list[str]:
    """Return the ports of a switch in their order."""
    config = _Nvue(lines)
    ports = {key.split()[1] for key in config.set if key.startswith("interface swp")}
    return sorted(ports, key=lambda port: [int(number) for number in re.findall(r"\d+", port)])


def ports_of_nvue(lines: Lines) -> dict[str, Port]:
    """Return what each port of a switch does."""
    config = _Nvue(lines)
    stated = config.value("qos roce state") or config.value("qos roce enable")
    roce = config.has("qos roce") and stated not in ("disabled", "off")
    lossless = roce and (config.value("qos roce mode") or "lossless").startswith("lossless")
    return {port: _nvue_port(config, port, roce, lossless) for port in nvue_ports(lines)}


def _nvue_port(config: _Nvue, port: str, roce: bool, lossless: bool) -> Port:
    at = f"interface {port}"
    mapping = config.value(f"{at} qos mapping profile") or "default-global"
    profile = config.value(f"{at} qos pfc profile") or "default-global"
    trust = config.value(f"qos mapping {mapping} trust") or ("both" if roce else "l2")
    entry = config.value(f"qos mapping {mapping} dscp {RDMA} switch-priority")
    unclear = ""
    if entry is None and (not roce or mapping != "default-global"):
        unclear = "the map of the profile is not public"
    sp = int(entry) if entry else RDMA // 8
    named = re.compile(rf"qos pfc {profile} switch-priority (\d)")
    paused = {int(match[1]) for key in config.set if (match := named.match(key))}
    if profile == "default-global" and not paused and lossless:
        paused = {3}
    exists = profile == "default-global" or config.has(f"qos pfc {profile}")
    off = [word for word in ("tx", "rx") if config.value(f"qos pfc {profile} {word}") == "disable"]
    room = int(config.value(f"qos pfc {profile} port-buffer") or 10**9) - int(
        config.value(f"qos pfc {profile} xoff-threshold") or 0
    )
    mtu = config.value(f"{at} link mtu")
    lossy = ""
    if trust not in ("l3", "both"):
        # Tagged frames of RDMA may have the priority all the same: the text does not say which arrive.
        lossy, unclear = f"it trusts {trust}", "tags" if trust == "l2" else ""
    elif not exists:
        lossy = "its PFC profile does not exist"
    elif sp not in paused:
        lossy = "" if unclear else f"SP {sp} has no PFC"
    elif off:
        lossy = f"{off[0]} of PFC is off"
    elif room < LARGEST_FRAME:
        lossy = "the headroom holds no frame"
    elif mtu and int(mtu) < LARGEST_FRAME:
        lossy = "the MTU is too small"
    mapped = config.value(f"qos egress-queue-mapping default-global switch-priority {sp} traffic-class")
    tc = int(mapped) if mapped else sp if not roce else {3: 3, 6: 6}.get(sp, 0)
    marking = config.value(f"qos congestion-control default-global traffic-class {tc} ecn")
    marks = marking != "disable" if marking else tc in ((0, 3) if roce else (0,))
    curve = f"qos congestion-control default-global traffic-class {tc}"
    low, high = (int(config.value(f"{curve} {end}-threshold") or 0) for end in ("min", "max"))
    beside = "its curve is inverted" if low > high else ""
    watchdog = f"{at} qos pfc-watchdog"
    watched = config.has(watchdog) and config.value(f"{watchdog} state") not in ("disabled", "disable")
    return Port(
        lossy, unclear, watched or not paused, marks, outside=not paused and not watched, beside=beside
    )


def _nvue_provisioned(lines: Lines) -> Lines:
    names = nvue_ports(lines)
    return [*lines, *(f"nv set interface {name} link mtu 9216" for name in names)]


def _nvue_at_ports(text: str, *of_switch: str) -> Damage:
    """Return a damage that sets something at ports, and for that something of the switch."""
    return lambda at: [
        *at.lines,
        *(f"nv set {each}" for each in of_switch),
        *(f"nv set interface {port} {text}" for port in at.ports),
    ]


def _nvue_unset_at_ports(text: str) -> Damage:
    return lambda at: [*at.lines, *(f"nv unset interface {port} {text}" for port in at.ports)]


def _nvue(pattern: str, text: str | None = None) -> Damage:
    """Return a damage to the lines of a switch that match, which are left out or become another."""
    return everywhere(
        without(f"nv set {pattern}") if text is None else replaced(f"nv set {pattern}", f"nv set {text}")
    )


_PFC_26 = r"qos pfc default-global switch-priority 3"
NVUE = System(
    "{profile: nvidia-sn5600, format: nvue}",
    "qos.nv",
    _nvue_provisioned,
    ports_of_nvue,
    nvue_ports,
    {
        "no PFC on the priority": _nvue(r"qos pfc \S+ switch-priority 3"),
        "no PFC profile lines": _nvue(r"qos pfc (?!default).*"),
        "PFC on another priority": everywhere(
            lambda lines: [re.sub(r"(nv set qos pfc \S+ switch-priority) 3", r"\1 4", line) for line in lines]
        ),
        "global PFC on another priority": _nvue(_PFC_26, "qos pfc default-global switch-priority 4"),
        "PFC not sent": everywhere(
            lambda lines: [re.sub(r" tx enable$", " tx disable", line) for line in lines]
        ),
        "PFC not obeyed": _nvue("qos pfc default-global rx enable", "qos pfc default-global rx disable"),
        "unknown PFC profile at ports": _nvue_at_ports("qos pfc profile gone"),
        "PFC profile of another priority at ports": _nvue_at_ports(
            "qos pfc profile storage", "qos pfc storage switch-priority 5"
        ),
        "trust PCP": _nvue("qos mapping default-global trust .*", "qos mapping default-global trust l2"),
        "trust the port": _nvue(
            "qos mapping default-global trust .*", "qos mapping default-global trust port"
        ),
        "no trust line": _nvue("qos mapping default-global trust .*"),
        "trust PCP at ports": _nvue_at_ports("qos mapping profile edge", "qos mapping edge trust l2"),
        "own map at ports": _nvue_at_ports(
            "qos mapping profile edge",
            "qos mapping edge trust l3",
            "qos mapping edge dscp 26 switch-priority 0",
        ),
        "DSCP to SP 0": _nvue(
            "qos mapping default-global dscp 26 .*", "qos mapping default-global dscp 26 switch-priority 0"
        ),
        "DSCP to SP 4": _nvue(
            "qos mapping default-global dscp 26 .*", "qos mapping default-global dscp 26 switch-priority 4"
        ),
        "no DSCP entry": _nvue("qos mapping default-global dscp 26 .*"),
        "roce lossy, no PFC": lambda at: _nvue("qos pfc .*")(
            at.then(_nvue("qos roce mode .*", "qos roce mode lossy"))
        ),
        "no roce, no PFC": lambda at: _nvue("qos pfc .*")(at.then(_nvue("qos roce .*"))),
        "no roce": _nvue("qos roce .*"),
        "roce unset, PFC too": everywhere(extended("nv unset qos roce", "nv unset qos pfc")),
        "small port buffer": everywhere(
            extended(
                "nv set qos pfc default-global port-buffer 5000",
                "nv set qos pfc default-global xoff-threshold 4000",
            )
        ),
        "small MTU": _nvue_at_ports("link mtu 1500"),
        "SP to TC 0": _nvue(
            "qos egress-queue-mapping default-global switch-priority 3 .*",
            "qos egress-queue-mapping default-global switch-priority 3 traffic-class 0",
        ),
        "ECN off": _nvue(
            "qos congestion-control default-global traffic-class 3 ecn .*",
            "qos congestion-control default-global traffic-class 3 ecn disable",
        ),
        "no ECN lines": _nvue("qos congestion-control .*"),
        "no watchdog at ports": _nvue_unset_at_ports("qos pfc-watchdog"),
        "watchdog off at ports": _nvue_at_ports("qos pfc-watchdog state disabled"),
        "small share": everywhere(
            extended("nv set qos egress-scheduler default-global traffic-class 3 bw-percent 30")
        ),
        "PFC profile that sends nothing at ports": _nvue_at_ports(
            "qos pfc profile quiet", "qos pfc quiet switch-priority 3", "qos pfc quiet tx disable"
        ),
        "PFC profile off at ports": _nvue_at_ports(
            "qos pfc profile quiet",
            "qos pfc quiet switch-priority 3",
            "qos pfc quiet tx disable",
            "qos pfc quiet rx disable",
        ),
        "small port buffer at ports": _nvue_at_ports(
            "qos pfc profile small",
            "qos pfc small switch-priority 3",
            "qos pfc small port-buffer 9000",
            "qos pfc small xoff-threshold 8000",
        ),
        "no PFC after all": everywhere(
            extended("nv unset qos pfc default-global", "nv set qos roce mode lossy")
        ),
        "older words for roce": everywhere(
            lambda lines: [
                *(line for line in lines if not re.match(r"nv set qos (?:roce|pfc)", line)),
                "nv set qos roce enable off",
            ]
        ),
        "DSCP list to another priority": everywhere(
            extended("nv set qos mapping default-global dscp 24-30,40 switch-priority 2")
        ),
        "inverted thresholds": everywhere(
            extended("nv set qos congestion-control default-global traffic-class 3 min-threshold 9000000")
        ),
        "harmless: profile taken off again": _nvue_unset_at_ports("qos pfc"),
        "harmless: the maps of roce": _nvue("qos mapping .*"),
        "harmless: priority of untagged frames": everywhere(
            extended("nv set qos mapping default-global port-default-sp 3")
        ),
        "harmless: spare DSCP": everywhere(
            extended("nv set qos mapping default-global dscp 27 switch-priority 3")
        ),
        "harmless: MTU": _nvue_at_ports("link mtu 9100"),
        "harmless: unused profile": everywhere(extended("nv set qos pfc spare switch-priority 5")),
        "harmless: port without RDMA": everywhere(
            extended(
                "nv set qos pfc none tx disable",
                "nv set qos pfc none rx disable",
                "nv set interface swp60 qos pfc profile none",
            )
        ),
        "harmless: description": _nvue_at_ports("description server-12"),
        "harmless: comment": after_first("# changed by hand"),
        "harmless: order": shuffled(r"#|nv unset"),
        "harmless: longer cable": _nvue(
            "qos pfc default-global cable-length .*", "qos pfc default-global cable-length 100"
        ),
    },
)
