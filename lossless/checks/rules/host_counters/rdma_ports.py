"""Ports of RDMA devices of a host: their hardware counters, and the failures that the log of a job reports.

A failure in a log has a cause that the log itself, other captures, or the intent may show: a port that is down, a GID
that cannot be reached, a traffic class that is not lossless, or the culprit of pauses and losses.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import Count, count_of
from lossless.checks.rules.storms.culprit import culprits
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.state import PlacedReading

CNPS_SENT = "np_cnp_sent"
CNPS_HANDLED = "rp_cnp_handled"
CNPS_IGNORED = "rp_cnp_ignored"
MARKS_RECEIVED = "np_ecn_marked_roce_packets"


class RdmaPort(NamedTuple):
    """One port of an RDMA device of a host."""

    host: RunningDevice
    device: str
    number: str

    @property
    def label(self) -> str:
        """The name of the port in messages."""
        return f"{self.device} port {self.number}"

    @property
    def element(self) -> str:
        """The name of the port in findings: host, device and port number."""
        return f"{self.host.name}:{self.device}:{self.number}"

    def counted(self, name: str) -> Count | MissingInput:
        """Return the count of a hardware counter, since an earlier capture where there is one, or its missing input."""
        return count_of(self.host, name, device=self.device, port=self.number)

    def amount(self, name: str, like: Count) -> int | None:
        """Return the count of a counter over the same period as ``like``; None where it is unknown."""
        count = self.counted(name)
        return count.amount if isinstance(count, Count) and count.between == like.between else None

    def placed(self, name: str) -> PlacedReading | None:
        """Return the reading of a counter; None where no capture has it."""
        return self.host.state.of(name, device=self.device, port=self.number)


def rdma_ports(host: RunningDevice, *names: str) -> tuple[RdmaPort, ...]:
    """Return the ports of a host's RDMA devices that have at least one of the named counters."""
    names_of_ports = {
        (placed.part("device") or "", placed.part("port") or ""): None
        for name in names
        for placed in host.state.named(name, "device", "port")
    }
    return tuple(RdmaPort(host, *port) for port in names_of_ports)


def enabled_priorities(host: RunningDevice, point: str) -> frozenset[int] | None:
    """Return the priorities for which a point of congestion control (``np``, ``rp``) is not off, on any interface.

    None without such a state, or where a capture does not have that of all priorities of an interface.
    """
    by_interface: dict[str, dict[int, object]] = {}
    for placed in host.state.named(f"roce_{point}_enabled", "priority"):
        priority = int(placed.part("priority") or 0)
        by_interface.setdefault(placed.part("device") or "", {})[priority] = placed.reading.value
    if not by_interface or any(len(modes) < 8 for modes in by_interface.values()):
        return None
    return frozenset(
        priority for modes in by_interface.values() for priority, value in modes.items() if value != 0
    )


EVENTS = (
    "wc_status",
    "failed_call",
    "async_event",
    "collnet_failed",
    "sharp_error",
    "peer_closed",
    "collective_timeout",
)
"""The readings of which each is one event of a log."""
_DETAILS = ("errno", "next_state", "local_gid_index", "local_gid", "remote_gid", "traffic_class", "gid_index")
FLUSHED = 5
"""The status of work requests that are flushed, as a queue pair failed or was closed (IBV_WC_WR_FLUSH_ERR)."""
_DOWN = ("down", "init", "armed", "disabled", "polling")
_LINK_LOCAL = "fe80:"


class JobEvent(NamedTuple):
    """One event that the log of a job reports, with its readings by name.

    ``device`` is the device whose captures have the log, ``host`` the one that wrote the line.
    """

    device: RunningDevice
    host: str
    placed: PlacedReading
    readings: Mapping[str, PlacedReading]

    @property
    def number(self) -> int:
        """The number of the event in its log, in the order of its lines."""
        return int(self.placed.part("event") or 0)

    def value(self, name: str) -> object:
        """Return the value of a reading, None without it."""
        return self.readings[name].reading.value if name in self.readings else None

    @property
    def peer(self) -> str:
        """The address or name of the peer, without a port number; empty where the line does not name it."""
        return (self.placed.part("peer") or "").partition("<")[0]


class Cause(NamedTuple):
    """A cause of a failure that captures or an intent show, and the remedy."""

    text: str
    help: str


def job_events(device: RunningDevice) -> Mapping[str, tuple[JobEvent, ...]]:
    """Return the events in the logs of a device's captures, by file in the order of their lines."""
    readings = grouped(
        ((placed.file, placed.part("event")), placed)
        for placed in device.state.every(*EVENTS, *_DETAILS)
        if placed.part("event") is not None
    )
    events = (
        JobEvent(device, first.part("host") or device.name, first, {each.reading.name: each for each in same})
        for same in readings.values()
        for first in [next((each for each in same if each.reading.name in EVENTS), None)]
        if first is not None
    )
    return {
        file: tuple(sorted(same, key=lambda event: event.number))
        for file, same in grouped((event.placed.file, event) for event in events).items()
    }


def owner(fabric: RunningFabric, device: RunningDevice, host: str) -> RunningDevice | None:
    """Return the captured device that is a host in the logs of a device; None where only these logs name that host.

    Where they name one host alone, it is the device itself.
    """
    named = next((each for each in fabric.devices if each.name == host), None)
    if named is not None:
        return named
    hosts = {placed.part("host") for placed in device.state.every("link_layer", "network", *EVENTS)} - {None}
    return device if hosts <= {host} else None


def lossless_of(qos: HostQos | None) -> frozenset[int] | None:
    """Return the DSCPs that an intended host sends on priorities with PFC; None without any, or if they are unknown."""
    if (
        qos is None
        or not isinstance(qos.dscp_to_priority, tuple)
        or not isinstance(qos.pfc_priorities, tuple)
    ):
        return None
    return (
        frozenset(dscp for dscp, priority in qos.dscp_to_priority if priority in qos.pfc_priorities) or None
    )


def logged(device: RunningDevice, file: str, host: str, *names: str) -> Iterator[PlacedReading]:
    """Yield the readings of names that a host wrote into the log in a file."""
    for placed in device.state.every(*names):
        if placed.file == file and (placed.part("host") or device.name) == host:
            yield placed


def shown_causes(fabric: RunningFabric, event: JobEvent) -> tuple[Cause, ...]:
    """Return the causes of a failed connection or completion that captures or the intent show, the surest first."""
    return (
        *_ports_down(fabric, event),
        *_unfit_gids(fabric, event),
        *_unfit_class(fabric, event),
        *_culprits(fabric, event),
    )


def _peer_of(fabric: RunningFabric, event: JobEvent) -> tuple[str, str]:
    """Return the names of the peer host and of its RDMA device; each is empty where it is unknown."""
    gid = _address(event.value("remote_gid"))
    for device in fabric.devices:
        for placed in device.state.every("gid", "ipv4") if gid is not None else ():
            if _address(placed.reading.value) == gid:
                return device.name, placed.part("device") or ""
    for device in fabric.devices:
        for placed in device.state.every("address"):
            if event.peer and placed.reading.value == event.peer:
                return placed.part("host") or device.name, ""
    known = {device.name for device in fabric.devices} | {*fabric.hosts}
    return (event.peer, "") if event.peer in known else ("", "")


def _address(said: object) -> IPv4Address | IPv6Address | None:
    """Return the address in a text, that of IPv4 where it is mapped into a GID; None without one."""
    try:
        address = ip_address(said) if isinstance(said, str) else None
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def down_ports(host: RunningDevice | None, device: str = "") -> Iterator[PlacedReading]:
    """Yield the states of the RDMA ports of a host that are not active, of one device where it is named."""
    for placed in () if host is None else host.state.named("state", "device", "port"):
        word = str(placed.reading.value).lower().rpartition(": ")[2]
        if word.startswith(_DOWN) and device in ("", placed.part("device")):
            yield placed


def of_down_port(placed: PlacedReading, host: str) -> Cause:
    """Return a port of a host that is down as the cause of a failure."""
    port = f"{placed.part('device')} port {placed.part('port')} of {host}"
    return Cause(
        f"{port} is {placed.reading.value}", f"bring {port} up: its cable, its switch port, then its NIC"
    )


def first_of(names: Sequence[str]) -> str:
    """Return the first of several names with the number of the others: ``host1 (+3)``."""
    return f"{names[0]} (+{len(names) - 1})" if len(names) > 1 else names[0]


def _ports_down(fabric: RunningFabric, event: JobEvent) -> Iterator[Cause]:
    used = [*logged(event.device, event.placed.file, event.host, "link_layer")]
    names = {placed.part("device") or "" for placed in used}
    own = event.placed.part("device") or ""
    peer, of_peer = _peer_of(fabric, event)
    ends = [
        (event.host, owner(fabric, event.device, event.host), {own} if own else names),
        (
            peer,
            next((each for each in fabric.devices if each.name == peer), None),
            {of_peer} if of_peer else names,
        ),
    ]
    for host, captured, devices in ends if peer != event.host else ends[:1]:
        for placed in down_ports(captured):
            if placed.part("device") in devices:
                yield of_down_port(placed, host)


def _unfit_gids(fabric: RunningFabric, event: JobEvent) -> Iterator[Cause]:
    """Yield the faults of the GIDs of a connection, by the line itself, then by show_gids of the host."""
    local, remote = str(event.value("local_gid") or ""), str(event.value("remote_gid") or "")
    one, other = _address(local), _address(remote)
    choose = "choose an index of RoCE v2 with an IP address that both ends have (show_gids)"
    if one is not None and other is not None and type(one) is not type(other):
        yield Cause(f"the GIDs {local} and {remote} have different address families", choose)
    elif (
        local.lower().startswith(_LINK_LOCAL)
        and remote.lower().startswith(_LINK_LOCAL)
        and "IB" not in link_layers(event)
    ):
        yield Cause(f"the GIDs are link-local ({local}): a router does not pass them on", choose)
    host = owner(fabric, event.device, event.host)
    device = event.placed.part("device") or ""
    index = event.value("local_gid_index")
    if host is not None and isinstance(index, int) and device:
        bad = unfit_gid(host, device, index)
        if bad:
            yield Cause(bad, choose)


def link_layers(event: JobEvent) -> frozenset[object]:
    """Return the link layers (``IB``, ``RoCE``) of the NICs that the log names for the host of an event."""
    used = logged(event.device, event.placed.file, event.host, "link_layer")
    return frozenset(placed.reading.value for placed in used)


def unfit_gid(host: RunningDevice, device: str, index: int) -> str:
    """Return the fault of a GID of an RDMA device by show_gids, as text; empty without one, or without its table."""
    versions = {
        placed.part("index"): str(placed.reading.value)
        for placed in host.state.named("version", "device", "port", "index")
        if placed.part("device") == device
    }
    if not versions:
        return ""
    version = versions.get(str(index))
    if version is None:
        return f"{device} of {host.name} has no GID at index {index}"
    return f"GID {index} of {device} of {host.name} is of RoCE v1" if version.lower() in ("v1", "1") else ""


def logged_dscps(device: RunningDevice, file: str, host: str) -> Mapping[int, PlacedReading]:
    """Return the DSCPs that a host's jobs send by their log, each with the reading that shows it."""
    found: dict[int, PlacedReading] = {}
    for placed in logged(device, file, host, "traffic_class"):
        if placed.number is not None and placed.number < 256:
            found.setdefault(placed.number >> 2, placed)
    return found


def _unfit_class(fabric: RunningFabric, event: JobEvent) -> Iterator[Cause]:
    lossless = lossless_of(fabric.hosts.get(event.host))
    if lossless is None or event.value("wc_status") not in (None, 12):
        return
    for dscp in logged_dscps(event.device, event.placed.file, event.host):
        if dscp not in lossless:
            wanted = min(lossless)
            yield Cause(
                f"it sends DSCP {dscp}, which is not lossless; the intent has {', '.join(map(str, sorted(lossless)))}",
                f"set the traffic class to {wanted << 2 | 2} (DSCP {wanted} with ECT(0))",
            )


def _culprits(fabric: RunningFabric, event: JobEvent) -> Iterator[Cause]:
    """Yield the culprits of pauses and losses: those at the ends of the connection, else all that cause either."""
    named = [each for each in culprits(fabric) if each.kind != "none"]
    ends = {event.host, _peer_of(fabric, event)[0]}
    for each in [each for each in named if each.device in ends] or named:
        yield Cause(f"{f'{each.device} {each.port}'.rstrip()}, {each.what}", each.help)
