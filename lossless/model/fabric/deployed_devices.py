"""Deployed devices compared with each other: the facts of each that another can contradict, and their links.

A summary is small and plain, so that a thousand devices can be read one by one and still be compared.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.findings import Origin, Path, grouped
from lossless.ground.basics.records import Maybe, NamedTuple
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.model.fabric.hosts import HostQos

Priorities = tuple[tuple[int, int], ...]
"""DSCPs, ascending, each with its PFC priority on the wire."""


class LinkEnd(NamedTuple):
    """One port as its own device describes it; ``neighbor`` is the device and port that it names at the other end.

    ``alias`` is its other name, by which neighbors may refer to it. ``mtu_path`` is the place of its MTU where that is
    not its own row: its LAG or VLAN. ``up`` is None without ``admin_status``. ``cable_m`` is the configured length,
    None without one, 0 for ``0m``. ``pfc`` are the priorities with PFC, None without QoS rows or where a host does not
    show them; ports with identical configuration share ``pfc_path``. ``remapped`` are those of them that tunnel
    remapping added, ``uncovered`` priorities in use without PFC here that other ports of the device pause. ``lossless``
    is whether the switch, or the interface of a host, has any lossless class.

    ``sent`` are the priorities with which lossless packets leave here, ``paused`` those with which it pauses senders;
    ``dscp_path`` is the place of the DSCP map; ``undecided``: an 802.1p map is bound beside it, and which of the two
    applies is unknown. ``detection_ms`` is its watchdog's, None without one; ``watched``: a
    watchdog is configured, with or without QoS rows of the port. ``macsec_pfc``
    is its treatment of PFC frames under MACsec, None without MACsec. ``dead_ms`` is how long a storm leaves a queue
    dead, None where no watchdog triggers; ``marking`` are the priorities with PFC whose queues mark for DCQCN.
    ``trimmed`` are the DSCPs with which trimmed packets leave, each with its origin.

    ``host`` is the host that this is an interface of, where that was read; ``declared``: an intent declares the
    settings of this end, with which it is compared instead. ``without_rdma``: the user states that it carries none.
    """

    switch: str
    port: str
    alias: str | None
    file: str
    neighbor: tuple[str, str] | None
    up: Maybe[bool]
    speed_bps: int | None
    mtu_bytes: Maybe[int]
    pfc: tuple[int, ...] | None
    pfc_path: Path
    lossless: bool
    fec: str | None = None
    autoneg: bool = False
    cable_m: int | None = None
    cable_row: str = ""
    remapped: tuple[int, ...] = ()
    uncovered: tuple[int, ...] = ()
    sent: Priorities = ()
    paused: Priorities = ()
    dscp_path: Path = ()
    undecided: bool = False
    detection_ms: int | None = None
    watched: bool = False
    macsec_pfc: str | None = None
    dead_ms: int | None = None
    marking: tuple[int, ...] = ()
    trimmed: tuple[tuple[int, Origin], ...] = ()
    host: HostQos | None = None
    declared: bool = False
    without_rdma: bool = False
    mtu_path: Path = ()

    @property
    def name(self) -> str:
        """Device and port as text: ``leaf1:Ethernet0``."""
        return f"{self.switch}:{self.port}"

    @property
    def origin(self) -> Origin:
        """The place of the port's row in PORT of a CONFIG_DB."""
        return Origin(self.file, ("PORT", self.port))

    def at(self, field: str) -> Origin:
        """Return the place of a field of the port's row, or of the setting of that name of a host."""
        if self.host is None:
            return self.origin.at(field)
        return self.host.at({"speed": "rate"}.get(field, field))

    @property
    def mtu_origin(self) -> Origin:
        """The place of the port's MTU: in the row of its LAG or VLAN, else that of :meth:`at`."""
        return Origin(self.file, self.mtu_path) if self.mtu_path else self.at("mtu")

    @property
    def neighbor_origin(self) -> Origin:
        """The place of the port's row in DEVICE_NEIGHBOR of a CONFIG_DB."""
        return Origin(self.file, ("DEVICE_NEIGHBOR", self.port))

    @property
    def cable_origin(self) -> Origin:
        """The place of the port's field in CABLE_LENGTH of a CONFIG_DB."""
        return Origin(self.file, ("CABLE_LENGTH", self.cable_row, self.port))

    @property
    def pfc_origin(self) -> Origin:
        """The place of the port's PFC mask, common to all ports with identical configuration."""
        return Origin(self.file, self.pfc_path)

    def dscp_origin(self, dscp: int) -> Origin:
        """Return the place that maps a DSCP to its traffic class at this port."""
        return Origin(self.file, (*self.dscp_path, str(dscp)))

    @property
    def names(self) -> tuple[tuple[str, str | None], ...]:
        """The pairs of device and port by which others may refer to it: the port's name, and its alias or None."""
        return (self.switch, self.port), (self.switch, self.alias)

    @property
    def in_service(self) -> bool:
        """Whether the port is up, or its state is unknown; a port without ``admin_status`` is down.

        Source: sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b.
        """
        return self.up is not None and self.up is not False


class SharedSetting(NamedTuple):
    """One device's value of a setting that should be identical on all devices of its type.

    ``kind`` groups settings that are compared in the same way, ``subject`` names one (``DSCP_TO_TC_MAP|AZURE``).
    ``value`` is its meaning, comparable across devices, ``text`` its form in messages.
    """

    kind: str
    subject: str
    value: Any
    text: str
    origin: Origin


class DeviceSummary(NamedTuple):
    """One deployed device. ``name`` is its hostname, or its file where it has none.

    ``device_type`` is its type in DEVICE_METADATA with its subtype, the operator's name for switches of one kind;
    ``tier`` is its tier. ``intended``: it is checked against an intent. ``beyond`` are
    the types of its neighbors, by name. ``asn`` is its autonomous system. ``bounce`` is the place that makes a dual ToR
    send packets that it cannot deliver back to its peer; ``moved``: all of these packets get a second priority.
    ``fabric`` is the fabric that the user assigned it to, empty without one.
    """

    name: str
    device_type: str | None
    tier: Maybe[Tier]
    hwsku: str | None
    file: str
    ends: tuple[LinkEnd, ...]
    settings: tuple[SharedSetting, ...]
    intended: bool
    origin: Origin
    beyond: tuple[tuple[str, str], ...] = ()
    asn: int | None = None
    bounce: Origin | None = None
    moved: bool = False
    fabric: str = ""


class CabledPair(NamedTuple):
    """Both ends of a link between two devices; ``mutual`` where each names the other.

    ``near`` is an end that names the other as its neighbor; the first by name where both do.
    """

    near: LinkEnd
    far: LinkEnd
    mutual: bool

    @property
    def declared(self) -> bool:
        """Whether an end is a host whose settings an intent declares."""
        return self.near.declared or self.far.declared

    @property
    def name(self) -> str:
        """Both ends of the link as text: ``leaf1:Ethernet0 - spine1:Ethernet8``."""
        return f"{self.near.name} - {self.far.name}"


_COPY = (
    r"(?<![a-z])(backups?|bak|old|orig(inal)?|copy|prev(ious)?|before|saved|snapshots?|archived?)(?![a-z])"
    r"|(?<![0-9])20[0-9]{2}[-_]?[01][0-9][-_]?[0-3][0-9]"
)
"""The pattern of names of older copies of files and folders, which includes dates."""


def _without_copies(same: Sequence[DeviceSummary]) -> tuple[DeviceSummary, ...]:
    """Return the device summaries of one name without those whose path marks an older copy; all if none would remain.

    Parts of the path that all of them share mark no copy.
    """
    parts = {summary.file: summary.file.replace("\\", "/").split("/") for summary in same}
    shared = set.intersection(*map(set, parts.values()))
    kept = [
        summary
        for summary in same
        if not any(re.search(_COPY, part, re.I) for part in parts[summary.file] if part not in shared)
    ]
    return tuple(kept or same)


def _by_own_names(summaries: Sequence[DeviceSummary]) -> tuple[DeviceSummary, ...]:
    """Return device summaries that name their neighbors as the files of these devices do."""
    known = {summary.name for summary in summaries}
    if len(known) > 1:
        named = {end.neighbor[0] for summary in summaries for end in summary.ends if end.neighbor}
        if not named <= known:
            from lossless.model.fabric.cabling import other_names

            if others := other_names(known, named):
                return tuple(_renamed(summary, others) for summary in summaries)
    return tuple(summaries)


def _renamed(summary: DeviceSummary, others: Mapping[str, str]) -> DeviceSummary:
    ends = tuple(
        end._replace(neighbor=(others[end.neighbor[0]], end.neighbor[1]))
        if end.neighbor is not None and end.neighbor[0] in others
        else end
        for end in summary.ends
    )
    return summary._replace(ends=ends)


class DeployedDevices:
    """The summaries of all deployed devices, with indexes of devices, link ends and links."""

    def __init__(self, summaries: Sequence[DeviceSummary]) -> None:
        self.summaries = _by_own_names(summaries)

    @cached_property
    def by_name(self) -> dict[str, DeviceSummary]:
        """Devices by name; a name that two files claim is left out as ambiguous."""
        return {name: claims[0] for name, claims in self.claims.items() if len(claims) == 1}

    @cached_property
    def claims(self) -> dict[str, tuple[DeviceSummary, ...]]:
        """The devices of each name, without files that are named as an older copy of another one."""
        by_name = grouped((summary.name, summary) for summary in self.summaries).items()
        return {name: _without_copies(same) if len(same) > 1 else tuple(same) for name, same in by_name}

    @cached_property
    def roles(self) -> tuple[tuple[str, tuple[DeviceSummary, ...]], ...]:
        """The type and the devices of each group of one type and one fabric, sorted by type and fabric.

        Without devices that have no type, share their name, or are compared with an intent instead.
        """
        compared = [each for each in self.by_name.values() if each.device_type and not each.intended]
        fabrics = self._fabrics(compared)
        roles = grouped(((each.device_type or "", fabrics[each.name]), each) for each in compared)
        return tuple((device_type, tuple(members)) for (device_type, _), members in sorted(roles.items()))

    def _fabrics(self, devices: Sequence[DeviceSummary]) -> dict[str, str]:
        """Return the fabric of each device by name: the assigned one, else that of its group of linked devices.

        A device without links to others, as far as files report them, may belong to the only fabric there is; where
        there are several, all such devices form a group.
        """
        first_of = {name: first for part in self._linked for first in (min(part),) for name in part}
        own = {each.name: first_of[each.name] for each in devices if not each.fabric}
        fabrics = {first for first, size in Counter(own.values()).items() if size > 1}
        several = len(fabrics) > 1
        linked = {name: f" {first}" if several and first in fabrics else "" for name, first in own.items()}
        return {**linked, **{each.name: each.fabric for each in devices if each.fabric}}

    @cached_property
    def _linked(self) -> tuple[frozenset[str], ...]:
        """The names of devices in each group that links join, including neighbors without a file."""
        near: dict[str, set[str]] = {name: set() for name in self.by_name}
        for name, summary in self.by_name.items():
            for end in summary.ends:
                if end.neighbor is not None:
                    near[name].add(end.neighbor[0])
                    near.setdefault(end.neighbor[0], set()).add(name)
        parts, seen = [], set[str]()
        for start in sorted(near):
            waiting, part = [start], set[str]()
            while waiting:
                name = waiting.pop()
                if name not in seen:
                    seen.add(name)
                    part.add(name)
                    waiting += near[name]
            if part:
                parts.append(frozenset(part))
        return tuple(parts)

    @cached_property
    def ends(self) -> dict[tuple[str, str], LinkEnd]:
        """Ends by device and port: by the port's name and, where no port of the device has that name, by its alias."""
        ends = [end for summary in self.by_name.values() for end in summary.ends]
        by_alias = {(end.switch, end.alias): end for end in ends if end.alias}
        return {**by_alias, **{(end.switch, end.port): end for end in ends}}

    @cached_property
    def pairs(self) -> tuple[CabledPair, ...]:
        """Links with two known ends that do not contradict each other, each once, by near devices in order of name."""
        return tuple(pair for pair in self._named if pair.mutual or not self._elsewhere(pair))

    @cached_property
    def compared(self) -> tuple[CabledPair, ...]:
        """Links of :attr:`pairs` with both ends in service, but none to a host whose settings an intent declares."""
        pairs = (pair for pair in self.pairs if not pair.declared)
        return tuple(pair for pair in pairs if pair.near.in_service and pair.far.in_service)

    @cached_property
    def contradicted(self) -> tuple[CabledPair, ...]:
        """Links that one end names, while the other names another device, or another known port of the first device."""
        return tuple(pair for pair in self._named if not pair.mutual and self._elsewhere(pair))

    @cached_property
    def missing_ends(self) -> tuple[LinkEnd, ...]:
        """Link ends whose neighbor has a file, without the port that they name."""
        return tuple(near for near in self._naming if near.neighbor not in self.ends)

    @cached_property
    def _naming(self) -> tuple[LinkEnd, ...]:
        """Link ends whose neighbor is another device of :attr:`by_name`, sorted by their own device."""
        ends = (end for name in sorted(self.by_name) for end in self.by_name[name].ends)
        return tuple(
            e for e in ends if e.neighbor and e.neighbor[0] in self.by_name and e.neighbor[0] != e.switch
        )

    @cached_property
    def _named(self) -> tuple[CabledPair, ...]:
        pair_by_ends: dict[frozenset[tuple[str, str]], CabledPair] = {}
        for near in self._naming:
            far = self.ends.get(near.neighbor) if near.neighbor else None
            if far is not None:
                pair = CabledPair(near, far, mutual=far.neighbor in near.names)
                pair_by_ends.setdefault(frozenset(((near.switch, near.port), (far.switch, far.port))), pair)
        return tuple(pair_by_ends.values())

    def _elsewhere(self, pair: CabledPair) -> bool:
        """Return whether the far end names another device, or another known port of the near device."""
        claimed = pair.far.neighbor
        return claimed is not None and (claimed[0] != pair.near.switch or claimed in self.ends)


class HostAttachment(NamedTuple):
    """One interface of a host, and the switch port that it is attached to."""

    host: HostQos
    near: LinkEnd
    switch: LinkEnd

    @property
    def name(self) -> str:
        """The link as text: both ends with a hyphen between them."""
        return f"{self.near.name} - {self.switch.name}"


def attached_hosts(devices: DeployedDevices) -> Iterator[HostAttachment]:
    """Yield the interfaces of hosts with their switch ports, for links in service.

    Hosts that an intent declares are left out: they are compared with the intent.
    """
    for pair in devices.compared:
        for near, far in ((pair.near, pair.far), (pair.far, pair.near)):
            if near.host is not None and far.host is None:
                yield HostAttachment(near.host, near, far)
