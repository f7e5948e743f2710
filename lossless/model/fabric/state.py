"""Running state of devices: readings in captures of any form, and all readings of one device by name and object.

A capture is one file: a database dump, the output of a command, an answer over gNMI, counters of a NIC, a log. Each
value of it is one reading, with its object, its unit, and the start of its count, before any conclusion. A reader
yields readings, problems and notes.

A :class:`CaptureForm` names the functions that recognize and read a form of captures. Each package of formats lists its
own in a module ``forms``; ``formats/inputs/capture_forms.py`` tries all of them on a text.

A switch with several ASICs has a state for each: SONiC keeps the databases of every ASIC in a namespace. Commands may
print ports of all ASICs in one table, without their namespaces. Such a value belongs to the only ASIC that has a port
of that name; a value without a port, as a setting of counterpoll, belongs to all. A row of a database of the host
belongs to no ASIC.

With SONIC_CLI_IFACE_MODE ``show`` prints aliases of ports, and answers over gNMI may have them too; here ports have
one name. Databases, configurations and intents use the name of a port (``Ethernet0``), its alias is that of the
vendor (``etp1a``, ``Ethernet1/1``).

Counters of an InfiniBand port have one name, unit and width each, for the spellings of all tools. Names are those of
the kernel (Linux Documentation/ABI/stable/sysfs-class-infiniband @031616c). Widths of PortCounters and of
PortCountersExtended are those of the InfiniBand Architecture Specification, volume 1, 16.1.3.5 and 16.1.4.11, as
linux-rdma/rdma-core libibmad/fields.c @691953d has them: a counter stops at all ones, it does not wrap.

Of the buffer peaks that a switch records in several windows, the highest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import import_module
from re import Pattern
from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin, grouped
from lossless.ground.basics.records import UNKNOWN, NamedTuple, Unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.model import Switch


Unit = Literal["snapshot", "json", "rows", "table", "text", "section", "facts"]
"""The part of a text that a capture form reads.

The whole text (``snapshot``: no other form is tried after it; ``rows``: beside JSON documents; ``text``: only without
JSON of a known form), each JSON document, each table, each section of a command with state of a host or subnet, or
with settings of a host (``facts``, which lint reads).
"""


class CaptureForm(NamedTuple):
    """One form of captures: the kind of device, its name in reports, its title in documentation, its module.

    The module is one below ``lossless.formats``, imported when it is needed. ``tells`` names its function that
    recognizes a section or a snapshot, or is the pattern or the headings by which the form is recognized; ``reads``
    names the function that reads it. A section is read to items of a capture; a JSON document, with the command before
    it, and a text to captures, none where it has another form.
    """

    of: Literal["host", "switch", "subnet"]
    name: str
    title: str
    module: str
    unit: Unit = "section"
    tells: str | tuple[str, ...] | Pattern[str] = "is_form"
    reads: str = "read"

    def is_of(self, part: Any) -> bool:
        """Return whether a section, a text, or the headings of a table (that of the row's name first) has this form."""
        if isinstance(self.tells, Pattern):
            return self.tells.search(part) is not None
        if isinstance(self.tells, tuple):
            return part[0] == self.tells[0] and set(self.tells[1:]) <= set(part)
        return bool(self._function(self.tells)(part))

    def read(self, *part: object) -> Any:
        """Read a part of a text with the function of the form: items for a section, else captures."""
        return self._function(self.reads)(*part)

    def _function(self, name: str) -> Any:
        return getattr(import_module(f"lossless.formats.{self.module}"), name)


HOST = None
"""The key of the host's own state, which belongs to no ASIC."""


def namespaces_of(state: DeviceState) -> tuple[str, ...]:
    """Return the ASIC namespaces that readings of a device name, in the order of the first reading of each."""
    names = (_part(reading, "namespace") for capture in state.captures for reading in capture.readings)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def state_of_each(
    state: DeviceState, configured: Mapping[str | None, Iterable[str]]
) -> Mapping[str | None, DeviceState]:
    """Return the state of each ASIC by its namespace, and of the host by :data:`HOST`.

    ``configured`` has the ports in the configuration of each of them.
    """
    names = tuple(dict.fromkeys((HOST, *namespaces_of(state), *configured)))
    owners = _owners(state, configured)
    captures: dict[str | None, list[StateCapture]] = {name: [] for name in names}
    for capture in state.captures:
        pairs = ((name, reading) for reading in capture.readings for name in _homes(reading, names, owners))
        readings = grouped(pairs)
        # That a table of all ASICs has nothing of one is said of that one, too.
        own = (
            readings
            if any(_part(reading, "namespace") is not None for reading in capture.readings)
            else names
        )
        for name in own:
            captures[name].append(capture._replace(readings=tuple(readings.get(name, ()))))
    return {
        name: DeviceState(f"{state.name}:{name}" if name else state.name, own)
        for name, own in captures.items()
    }


def _owners(state: DeviceState, configured: Mapping[str | None, Iterable[str]]) -> Mapping[str, set[str]]:
    """Return, by port name, the namespaces with a port of that name, in captures or configurations."""
    owners: dict[str, set[str]] = {}
    for name, port in (
        *_named_ports(state),
        *((n, port) for n, ports in configured.items() for port in ports),
    ):
        if name is not None:
            owners.setdefault(port, set()).add(name)
    return owners


def _named_ports(state: DeviceState) -> Iterator[tuple[str | None, str]]:
    for capture in state.captures:
        for reading in capture.readings:
            port = _part(reading, "port")
            if port is not None:
                yield _part(reading, "namespace"), port


def _homes(
    reading: StateReading, names: tuple[str | None, ...], owners: Mapping[str, set[str]]
) -> tuple[str | None, ...]:
    """Return the namespaces that a reading belongs to: its own, else the only one with its port, else the host's.

    A reading without a port and without a database table belongs to all of ``names``.
    """
    namespace, port = _part(reading, "namespace"), _part(reading, "port")
    if namespace is not None:
        return (namespace,)
    if port is not None:
        own = owners.get(port, set())
        return tuple(own) if len(own) == 1 else (HOST,)
    return (HOST,) if _part(reading, "table") is not None else names


def _part(reading: StateReading, kind: str) -> str | None:
    return next((name for own, name in reading.identity if own == kind), None)


_TABLES = frozenset({"PORT", "PORT_TABLE"})


def names_by_alias(state: DeviceState, intended: Switch | None) -> Mapping[str, str]:
    """Return the name of each port by its alias, from databases and an intent.

    An alias that is also the name of a port is left out.
    """
    ports = () if intended is None else intended.ports
    pairs = [(port.spec.alias, port.name) for port in ports if port.spec is not None and port.spec.alias]
    pairs += [
        (str(placed.reading.value), placed.part("port") or "")
        for placed in state.named("alias", "port")
        if placed.part("table") in _TABLES
    ]
    names = {name for _, name in pairs}
    return {alias: name for alias, name in pairs if alias not in names}


def by_name(state: DeviceState, names: Mapping[str, str]) -> DeviceState:
    """Return a device's state in which readings have port names in place of aliases; ``names`` are those by alias."""
    called = {
        name
        for capture in state.captures
        for reading in capture.readings
        for kind, name in reading.identity
        if kind == "port"
    }
    if names.keys().isdisjoint(called):
        return state
    captures = (
        capture._replace(readings=tuple(_renamed(reading, names) for reading in capture.readings))
        for capture in state.captures
    )
    return DeviceState(state.name, tuple(captures))


def _renamed(reading: StateReading, names: Mapping[str, str]) -> StateReading:
    identity: Identity = tuple(
        (kind, names.get(name, name) if kind == "port" else name) for kind, name in reading.identity
    )
    return reading._replace(identity=identity)


WORDS = "4-byte words"
"""The unit of PortXmitData and PortRcvData in all MADs and in sysfs."""
_BITS_EXTENDED = 64


class PortCounter(NamedTuple):
    """One counter of an InfiniBand port: name, unit, width in bits (narrow for data and packets), and name in MADs."""

    name: str
    unit: str
    bits: int
    mad_name: str


PORT_COUNTERS = (
    PortCounter("symbol_error", "errors", 16, "SymbolErrorCounter"),
    PortCounter("link_error_recovery", "recoveries", 8, "LinkErrorRecoveryCounter"),
    PortCounter("link_downed", "events", 8, "LinkDownedCounter"),
    PortCounter("port_rcv_errors", "packets", 16, "PortRcvErrors"),
    PortCounter("port_rcv_remote_physical_errors", "packets", 16, "PortRcvRemotePhysicalErrors"),
    PortCounter("port_rcv_switch_relay_errors", "packets", 16, "PortRcvSwitchRelayErrors"),
    PortCounter("port_xmit_discards", "packets", 16, "PortXmitDiscards"),
    PortCounter("port_xmit_constraint_errors", "packets", 8, "PortXmitConstraintErrors"),
    PortCounter("port_rcv_constraint_errors", "packets", 8, "PortRcvConstraintErrors"),
    PortCounter("local_link_integrity_errors", "errors", 4, "LocalLinkIntegrityErrors"),
    PortCounter("excessive_buffer_overrun_errors", "errors", 4, "ExcessiveBufferOverrunErrors"),
    PortCounter("qp1_dropped", "packets", 16, "QP1Dropped"),
    PortCounter("VL15_dropped", "packets", 16, "VL15Dropped"),
    PortCounter("port_xmit_data", WORDS, 32, "PortXmitData"),
    PortCounter("port_rcv_data", WORDS, 32, "PortRcvData"),
    PortCounter("port_xmit_packets", "packets", 32, "PortXmitPkts"),
    PortCounter("port_rcv_packets", "packets", 32, "PortRcvPkts"),
    PortCounter("port_xmit_wait", "ticks", 32, "PortXmitWait"),
    PortCounter("unicast_xmit_packets", "packets", 64, "PortUnicastXmitPkts"),
    PortCounter("unicast_rcv_packets", "packets", 64, "PortUnicastRcvPkts"),
    PortCounter("multicast_xmit_packets", "packets", 64, "PortMulticastXmitPkts"),
    PortCounter("multicast_rcv_packets", "packets", 64, "PortMulticastRcvPkts"),
    # PortXmitDiscardDetails and PortRcvErrorDetails, 16.1.4.6 and 16.1.4.5.
    PortCounter("port_inactive_discards", "packets", 16, "PortInactiveDiscards"),
    PortCounter("port_neighbor_mtu_discards", "packets", 16, "PortNeighborMTUDiscards"),
    PortCounter("port_switch_lifetime_limit_discards", "packets", 16, "PortSwLifetimeLimitDiscards"),
    PortCounter("port_switch_hoq_lifetime_limit_discards", "packets", 16, "PortSwHOQLifetimeLimitDiscards"),
    PortCounter("port_local_physical_errors", "packets", 16, "PortLocalPhysicalErrors"),
    PortCounter("port_malformed_packet_errors", "packets", 16, "PortMalformedPktErrors"),
    PortCounter("port_buffer_overrun_errors", "packets", 16, "PortBufferOverrunErrors"),
    PortCounter("port_dlid_mapping_errors", "packets", 16, "PortDLIDMappingErrors"),
    PortCounter("port_vl_mapping_errors", "packets", 16, "PortVLMappingErrors"),
    PortCounter("port_looping_errors", "packets", 16, "PortLoopingErrors"),
)
BY_NAME = {counter.name: counter for counter in PORT_COUNTERS}
BY_MAD_NAME = {counter.mad_name: counter for counter in PORT_COUNTERS}
_WIDE = frozenset({"port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets"})


def ceiling(counter: PortCounter, *, extended: bool = False) -> int:
    """Return the value at which an InfiniBand counter saturates, in PortCountersExtended if ``extended``."""
    return int(2 ** (_BITS_EXTENDED if extended else counter.bits) - 1)


def sysfs_ceiling(counter: PortCounter) -> int | None:
    """Return the value at which a counter saturates in sysfs; None for data and packets, which have either width there.

    The kernel shows those four of PortCountersExtended where the port has it, and all others of PortCounters (Linux
    drivers/infiniband/core/sysfs.c @0147ebc, get_counter_table).
    """
    return None if counter.name in _WIDE else ceiling(counter)


Identity = tuple[tuple[str, str], ...]
"""The object of a reading, as pairs of a kind and a name: ``(("port", "Ethernet4"), ("queue", "3"))``.

``object`` is an object of none of the kinds below: ``switch``, a debug counter, ``RIF:Vlan1000``.

Kinds are ``namespace``, ``port``, ``queue`` (its number) and ``queue_kind`` (``UC``, ``MC``, ``ALL``), ``priority``,
``pg``, ``pool``, ``profile``, ``tc``, ``dscp``, ``buffer``, ``device``, ``path``, ``guid``, ``lid``, ``partition``,
``error``, ``source``; ``table`` and ``key`` of a database row; of InfiniBand also ``node`` (its description), ``vl``
and ``stage`` (of ibdiagnet); of hosts also ``host``, ``nic``, ``ring`` (a queue of the driver), ``lane``, ``index`` (of
a GID), ``qp``, ``qp_counter``, ``peer`` and ``event`` (the number of an event in its log). A sample of a metric has its
labels as they are, another list of ``nicctl`` its key.
"""
CountedSince = Literal[
    "boot", "clear", "last poll", "user clear", "persistent clear", "period", "now", "unknown"
]
"""The start of a count or of a peak; ``now`` for a value that does not count: a status, a setting, a size."""


_COUNTED_UNITS = frozenset({"packets", "bytes", "frames", "events", "errors"})
_NOT_COUNTING: frozenset[CountedSince] = frozenset({"now", "unknown"})
_SIGN_BIT = 1 << 63
"""Counter values from here on are negative numbers: a byte counter at 1.6 Tb/s would take a year and a half to this."""


class StateReading(NamedTuple):
    """One value of a capture.

    ``name`` is the common name of a counter in all sources where that is known (``pfc_rx``, ``dropped_packets``), else
    the printed one. ``value`` is UNKNOWN where the capture lacks it (``N/A``, ``-``), None where the device has none.
    ``unit`` is that of the value: ``packets``, ``bytes``, ``us``; empty without one. ``path`` is the place in the file:
    keys of JSON, or section, line and heading of a text; ``heading`` is the printed name. ``ceiling`` is the largest
    value of a counter that saturates, None for all others.
    """

    identity: Identity
    name: str
    value: Maybe[int | float | str]
    unit: str = ""
    since: CountedSince = "unknown"
    path: Path = ()
    heading: str = ""
    ceiling: int | None = None

    @property
    def is_saturated(self) -> bool:
        """Whether the counter is at its ceiling: it has counted at least that much."""
        return self.ceiling is not None and self.value == self.ceiling

    @property
    def is_no_count(self) -> bool:
        """Whether it is a counter with an impossible value: below 0, as a number or as its 64 bits.

        Tools that subtract the value of a counter at a clear print such a value if it has begun again since
        (sonic-utilities scripts/pg-drop @03cd422, get_counters).
        """
        counts = self.unit in _COUNTED_UNITS or self.since not in _NOT_COUNTING
        return (
            counts
            and isinstance(self.value, int)
            and not 0 <= self.value < _SIGN_BIT
            and not self.is_saturated
        )


class StateCapture(NamedTuple):
    """The content of one file, or of a section of it. ``form`` names its form: ``COUNTERS_DB``, ``show pfc counters``.

    ``device`` is the device that it names, None without one; ``problems`` are parts that could not be read, ``notes``
    facts for a reader of the report: a clear, objects without names, a namespace that failed. ``taken_at`` is the time
    of the capture, in seconds since 1970 (UTC) by the device's clock, None where it is unknown. ``outdated`` are notes
    on values that it prints again, later than another output of the same command in the file.
    """

    file: str
    form: str
    readings: tuple[StateReading, ...]
    device: str | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    taken_at: int | None = None
    outdated: tuple[str, ...] = ()


StateItem = StateReading | Problem | str
"""An item that a reader of captures yields: a reading, a part that could not be read, or a note."""
StateItems = Iterator[StateItem]


def captured(file: str, form: str, items: Iterable[StateItem], device: str | None = None) -> StateCapture:
    """Return a capture with the readings, problems and notes among ``items``; of equal notes one is kept."""
    readings: list[StateReading] = []
    problems: list[Problem] = []
    notes: dict[str, None] = {}
    for item in items:
        if isinstance(item, StateReading):
            readings.append(item)
        elif isinstance(item, Problem):
            problems.append(item)
        else:
            notes[item] = None
    return StateCapture(file, form, tuple(readings), device, tuple(problems), tuple(notes))


class PlacedReading(NamedTuple):
    """A reading, and the file of its capture."""

    file: str
    reading: StateReading

    @property
    def origin(self) -> Origin:
        """The place of the reading's value in its file."""
        return Origin(self.file, self.reading.path)

    def part(self, kind: str) -> str | None:
        """Return the object of a kind in its identity, None without one: its port's name, the number of its queue."""
        return next((name for own, name in self.reading.identity if own == kind), None)

    @property
    def number(self) -> int | None:
        """The value as a whole number, None where it is another value, unknown, or impossible for a counter."""
        value = self.reading.value
        return value if isinstance(value, int) and not self.reading.is_no_count else None


class DeviceState:
    """The captures of one device.

    Of several readings of one name and object the last known one applies, in the order of ``captures`` and of their
    readings.
    """

    def __init__(self, name: str, captures: Sequence[StateCapture]) -> None:
        self.name = name
        self.captures = tuple(captures)
        self._objects: dict[tuple[str, tuple[str, ...]], dict[tuple[str | None, ...], PlacedReading]] = {}

    @cached_property
    def _by_name(self) -> dict[str, dict[tuple[tuple[str, str], ...], PlacedReading]]:
        index: dict[str, dict[tuple[tuple[str, str], ...], PlacedReading]] = {}
        for capture in self.captures:
            for reading in capture.readings:
                own = index.setdefault(reading.name, {})
                # What is not said does not take the place of what another capture says.
                if reading.identity not in own or not isinstance(reading.value, Unknown):
                    own[reading.identity] = PlacedReading(capture.file, reading)
        return index

    def every(self, *names: str) -> Iterator[PlacedReading]:
        """Yield all readings of the given names in every capture, also those that later ones override.

        For peaks since different times, and for facts of one file alone: a log, or counters of an interface that
        it does not name.
        """
        for capture in self.captures:
            for reading in capture.readings:
                if reading.name in names:
                    yield PlacedReading(capture.file, reading)

    @cached_property
    def _by_object(self) -> Mapping[tuple[str, Identity], Sequence[PlacedReading]]:
        return grouped(
            ((reading.name, reading.identity), PlacedReading(capture.file, reading))
            for capture in self.captures
            for reading in capture.readings
        )

    def same(self, reading: StateReading) -> Sequence[PlacedReading]:
        """Return all readings of the name and the object of one, also those that later ones override."""
        return self._by_object.get((reading.name, reading.identity), ())

    @cached_property
    def forms(self) -> frozenset[str]:
        """The forms of the captures."""
        return frozenset(capture.form for capture in self.captures)

    def named(self, name: str, *kinds: str) -> Iterator[PlacedReading]:
        """Yield the reading of a name that applies to each object with all kinds: ``named("pfc_rx", "queue")``."""
        for placed in self._by_name.get(name, {}).values():
            if all(placed.part(kind) is not None for kind in kinds):
                yield placed

    def of(self, name: str, **parts: str) -> PlacedReading | None:
        """Return the reading of a name and an object, None where no capture has it: ``of("pfc_tx", port="Ethernet4")``.

        Where several objects match, it is that of the first.
        """
        kinds = tuple(sorted(parts))
        key = (name, kinds)
        if key not in self._objects:
            by_parts: dict[tuple[str | None, ...], PlacedReading] = {}
            for placed in self.named(name, *kinds):
                by_parts.setdefault(tuple(map(placed.part, kinds)), placed)
            self._objects[key] = by_parts
        return self._objects[key].get(tuple(parts[kind] for kind in kinds))

    def value(self, name: str, **parts: str) -> Maybe[int | float | str]:
        """Return the value of the reading of a name and an object; UNKNOWN where no capture has it."""
        placed = self.of(name, **parts)
        return UNKNOWN if placed is None else placed.reading.value


MULTICAST = "MC"
"""The ``queue_kind`` of multicast queues, which belong to no priority."""
RECENT: frozenset[CountedSince] = frozenset({"user clear", "period", "last poll"})
"""Starts of watermarks that count as recent, and so as measured under the current configuration."""


def highest_peaks(
    state: DeviceState, name: str, kind: str, windows: Collection[CountedSince] | None = None
) -> Mapping[tuple[str, int], PlacedReading]:
    """Return the highest known peak of each object of a kind (``pg``, ``queue``), by its port and its number.

    It is the highest of the given ``windows``, else of all. Multicast queues are left out: they belong to no priority.
    """
    highest: dict[tuple[str, int], PlacedReading] = {}
    for peak in state.every(name):
        port, number, bytes_held = peak.part("port"), peak.part(kind) or "", peak.number
        if port is None or not (number.isascii() and number.isdecimal()) or bytes_held is None:
            continue
        if peak.part("queue_kind") == MULTICAST or (
            windows is not None and peak.reading.since not in windows
        ):
            continue
        known = highest.setdefault((port, int(number)), peak)
        if bytes_held > (known.number or 0):
            highest[port, int(number)] = peak
    return highest
