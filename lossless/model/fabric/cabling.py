"""Declared and found cables by their ends, and the routing and load balancing that an intent declares.

Different spellings of a device's name are matched: upper and lower case, with and without domain. LLDP reports the
name that a system gives itself, with its domain on most hosts; sheets and intents omit the domain.

An intent also declares whether leaves bridge RDMA traffic, and whether packets are trimmed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import Maybe, NamedTuple
from lossless.model.hardware.model import LoadBalancing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


class CableEnd(NamedTuple):
    """One end of a cable: a device and its port. ``port`` is None where an intent names none, or it is unknown."""

    device: str
    port: str | None

    @property
    def name(self) -> str:
        """Device and port as text, ``leaf1:Ethernet0``; the device alone without a port."""
        return f"{self.device}:{self.port}" if self.port else self.device


class PlannedCable(NamedTuple):
    """A link of an intent. ``a`` is a switch with its port; ``b`` has a port where the intent gives one.

    ``cable_m`` is its real length. ``renamed``: the name of the device at ``b`` is stated, not derived from a shape.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int
    cable_m: int
    tier: str
    origin: Origin
    cable_origin: Origin
    renamed: bool = True

    @property
    def name(self) -> str:
        """Both ends of the link as text: ``leaf1:Ethernet0 - spine1:Ethernet8``."""
        return f"{self.a.name} - {self.b.name}"


class ReportedCable(NamedTuple):
    """A cable that files report, its ends by the names of the intent where it has such a device and port.

    ``speed_bps`` is that of the cable, or the configured one of an end. It and the length are None where unknown.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int | None
    cable_m: int | None
    origin: Origin

    @property
    def name(self) -> str:
        """Both ends of the cable as text: ``leaf1:Ethernet0 - spine1:Ethernet8``."""
        return f"{self.a.name} - {self.b.name}"


class CableReport(NamedTuple):
    """The cables that files report, and the devices that the files cover.

    ``listed`` are devices in cabling sheets or exports, ``heard`` those that LLDP reports and ``listening`` those
    whose own LLDP output was given.
    """

    cables: tuple[ReportedCable, ...]
    listed: frozenset[str]
    heard: frozenset[str]
    listening: frozenset[str]

    def reaches(self, cable: PlannedCable) -> bool:
        """Return whether the files would report a declared cable if it existed and were up."""
        ends = {cable.a.device, cable.b.device}
        if ends <= self.listed:
            return True
        return ends <= self.heard | self.listening and bool(ends & self.listening)

    def only_heard(self, cable: PlannedCable) -> bool:
        """Return whether sheets and exports lack a device of a declared cable, so that LLDP alone may report it."""
        return not {cable.a.device, cable.b.device} <= self.listed


class DeviceNames:
    """Finds a known device by a name: the same one, else one that differs in case alone, else one that differs by a
    domain. A name that matches two devices equally well matches none.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._whole: dict[str, set[str]] = {}
        self._beginning: dict[str, set[str]] = {}
        for name in self._known:
            self._whole.setdefault(name.lower(), set()).add(name)
            for part in _without_domain(name.lower()):
                self._beginning.setdefault(part, set()).add(name)

    def find(self, word: str) -> str | None:
        """Return the device of a name, None where no device matches, or more than one equally well."""
        if word in self._known:
            return word
        low = word.lower()
        for candidates in (
            self._whole.get(low),
            next((self._whole[part] for part in _without_domain(low) if part in self._whole), None),
            self._beginning.get(low),
        ):
            if candidates:
                return next(iter(candidates)) if len(candidates) == 1 else None
        return None


@lru_cache(maxsize=4)
def among(known: tuple[str, ...]) -> DeviceNames:
    """Return the :class:`DeviceNames` of known devices, cached for the last four sets of them."""
    return DeviceNames(known)


def _without_domain(name: str) -> Iterator[str]:
    """Yield a device name without the last label of its domain, without the last two, and so on to the host name."""
    while "." in name:
        name = name.rpartition(".")[0]
        if name:
            yield name


def canonical_names(names: Collection[str], preferred: Collection[str] = ()) -> dict[str, str]:
    """Return the canonical name of each device name: without its domain, and in the preferred letter case.

    A name is shortened only to another one of ``names``, and only if no other name would be shortened to that. Of
    names that differ only in case one in ``preferred`` is taken, else the one in lower case.
    """
    identical: dict[str, list[str]] = {}
    # Of two spellings the one in small letters is taken.
    for name in sorted(names, key=lambda name: (name not in preferred, name.swapcase())):
        identical.setdefault(name.lower(), []).append(name)
    shorter = {
        low: next((part for part in _without_domain(low) if part in identical), low) for low in identical
    }
    longer: dict[str, int] = {}
    for low, short in shorter.items():
        longer[short] = longer.get(short, 0) + (low != short)
    chosen = {low: short if longer[short] == 1 else low for low, short in shorter.items()}
    return {name: identical[_last(name.lower(), chosen)][0] for name in names}


def _last(low: str, chosen: Mapping[str, str]) -> str:
    """Return the name at the end of a chain: the shortened name, the name that this is shortened to, and so on."""
    while chosen[low] != low:
        low = chosen[low]
    return low


def other_names(known: Collection[str], named: Iterable[str]) -> dict[str, str]:
    """Return the device of each name that differs by case or domain; none if names of two domains match the device."""
    names = DeviceNames(known)
    meant = {name: device for name in {*named}.difference(known) if (device := names.find(name)) is not None}
    doubtful = {device for device, *_ in claimed_twice(meant | {device: device for device in meant.values()})}
    return {name: device for name, device in meant.items() if device not in doubtful}


def claimed_twice(meant: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each device with two of its names, sorted, that cannot both be its own, since their domains differ."""
    by_device: dict[str, list[str]] = {}
    for word, device in meant.items():
        by_device.setdefault(device, []).append(word)
    for device, words in by_device.items():
        longest = max(words, key=len)
        for word in words:
            if word.lower() != longest.lower() and not longest.lower().startswith(f"{word.lower()}."):
                yield device, *sorted((word, longest))  # type: ignore[misc]
                break


RoutingPolicy = Literal["up-down", "shortest-path"]
BY_PACKET: tuple[LoadBalancing, ...] = ("adaptive", "spray")
"""Load balancing by which packets of one flow may overtake each other."""


UEC_CONTROLS = ("nscc", "rccc", "both")
"""Congestion controls of Ultra Ethernet: a window of the sender (NSCC), credit of the receiver (RCCC), or both.

Source: Ultra Ethernet specification 1.0.3, 3.6.13 and 3.6.14, by secondary copies.
"""


class FabricElement(NamedTuple):
    """An element of a fabric that an intent names: a switch, or the links between two devices, by their names."""

    names: tuple[str, ...]
    origin: Origin


class PacketOrder(NamedTuple):
    """The choice of switches among equal paths (ECMP or spraying), and the reordering that NICs accept.

    ``by_tier`` has the roles of switches with a choice of their own, ``choice`` is that of all others. ``ahead_frames``
    is how many frames NICs accept ahead of the next one in order: 0 means any number, None not one, UNKNOWN: not
    declared. ``selective``: RoCE NICs retransmit a lost packet alone.
    """

    choice: LoadBalancing
    ahead_frames: Maybe[int]
    choice_origin: Origin
    hosts_origin: Origin
    by_tier: tuple[tuple[str, LoadBalancing], ...] = ()
    selective: bool = False

    def at_role(self, role: str) -> LoadBalancing:
        """Return the load balancing of switches of a role."""
        return dict(self.by_tier).get(role, self.choice)

    def all_choices(self) -> dict[LoadBalancing, tuple[str, Origin]]:
        """Return each load balancing of an intent with the first role that declares it (empty: all) and its place."""
        if not self.by_tier:
            return {self.choice: ("", self.choice_origin)}
        return {choice: (role, self.choice_origin.at(role)) for role, choice in reversed(self.by_tier)}

    def at(self, role: str) -> tuple[LoadBalancing, Origin]:
        """Return the load balancing of the switches of a role, and its place."""
        choice = dict(self.by_tier).get(role)
        return (self.choice, self.choice_origin) if choice is None else (choice, self.choice_origin.at(role))


LEAST_TRIM_BYTES = 64
"""The shortest Ethernet frame (IEEE 802.3, 3.2.7): no packet can be cut to less."""


class Trimming(NamedTuple):
    """Packets of ``classes`` that find no room in a queue are cut to ``size_bytes``, and continue in class ``into``."""

    classes: tuple[str, ...]
    into: str
    size_bytes: int
    origin: Origin


class Routing(NamedTuple):
    """The routing policy, and the switches in ``bounce``, which send packets from a higher tier back up.

    Packets may take ``extra_hops`` more than the shortest path that the policy allows.
    """

    policy: RoutingPolicy
    bounce: tuple[FabricElement, ...]
    origin: Origin
    extra_hops: int = 0


class Bridging(NamedTuple):
    """RDMA traffic is bridged at the leaves: in one VLAN with their uplinks.

    ``floods``: packets with an unknown MAC address go to all ports. A time is None where it is not declared.
    """

    floods: bool
    arp_timeout_ms: int | None
    mac_aging_ms: int | None
    origin: Origin

    @property
    def forgets_too_soon(self) -> bool:
        """Whether MAC addresses age out before ARP entries, which floods packets to silent hosts; False if unknown."""
        arp_ms, mac_ms = self.arp_timeout_ms, self.mac_aging_ms
        return arp_ms is not None and mac_ms is not None and mac_ms < arp_ms
