"""NICs of a host by captures: the counters of one interface in one file, its RDMA traffic and its PFC mode.

Counters of two files are never combined into one NIC: they may have been read at different times, or from different
interfaces where neither file names one. With an earlier capture of the same interface, counters are the differences
since then. A driver that is loaded again starts all its counters from 0. So where one counter is smaller than before,
none is compared, unless it can have begun again at the end of its 32 bits.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from lossless.checks.rules.counting import Count, counted, difference
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.state import DeviceState, Identity, PlacedReading

    Readings = Sequence[PlacedReading]

_RDMA = tuple(f"{way}_vport_rdma_{cast}_packets" for way in ("rx", "tx") for cast in ("unicast", "multicast"))
_REQUESTS = (
    "rx_write_requests",
    "rx_read_requests",
    "rx_atomic_requests",
    "np_cnp_sent",
    "rp_cnp_handled",
    "local_ack_timeout_err",
    "packet_seq_err",
)
"""Counters of an RDMA device that rise only where RDMA is received, sent or answered."""
_PAUSES = ("pfc_rx", "pfc_tx")
_COUNTED = (
    *("global_pause_rx", "global_pause_rx_us", "global_pause_tx", "global_pause_tx_us"),
    *("priority_rx_packets", "priority_tx_packets", "priority_rx_discards", "priority_rx_buffer_discards"),
    *("rx_discards", "rx_ring_discards", "fec_lane_errors", "rx_pcs_symbol_err_phy", "link_downed", *_RDMA),
)
_BESIDE = (
    *(
        "pfc_tx_us",
        "pfc_rx_us",
        "pause_storm_warnings",
        "pause_storm_errors",
        "rx_crc_errors_phy",
        "rx_packets",
    ),
    *("tx_bytes_phy", "rx_bytes_phy", "outbound_pci_stalled_rd", "outbound_pci_stalled_wr"),
    "rx_out_of_buffer",
)
"""Counters that are read of a NIC with others, and do not make one."""
_GAUGE = "percent"
"""The unit of values that do not count: the share of time in which the bus stalled, in the last interval."""
_PFC = "pfc_enabled"
_STALLED_PERCENT = 10
"""Share of the last second from which a stalled bus is a reason for pauses (Linux mlx5/counters.rst @16f448d: the
counters are percentages of it)."""


class Nic:
    """The counters of one interface in one file; ``name`` is empty where the file does not name it.

    ``whole`` has the same counters since the driver was loaded. It is None where ``readings`` count from then on
    too, because no earlier capture can be compared with.
    """

    def __init__(
        self, host: str, name: str, readings: Sequence[PlacedReading], whole: Nic | None = None
    ) -> None:
        self.host = host
        self.name = name
        self.readings = tuple(readings)
        self.whole = whole
        self._readings = grouped((placed.reading.name, placed) for placed in readings)

    @property
    def window(self) -> str:
        """The period of the counters as text: ``between the captures`` or ``since its driver was loaded``."""
        return "between the captures" if self.whole is not None else "since its driver was loaded"

    @property
    def element(self) -> str:
        """The name of the interface in findings, with its host; the host alone where the file names no interface."""
        return f"{self.host}:{self.name}" if self.name else self.host

    @property
    def label(self) -> str:
        """The name of the interface in messages; ``the NIC`` where the file names none."""
        return self.name or "the NIC"

    def placed(self, name: str) -> PlacedReading | None:
        """Return the reading of a counter of the whole port; None where the file does not have it."""
        return next(iter(self._readings.get(name, ())), None)

    def count(self, name: str) -> int | None:
        """Return the value of a counter of the whole port; None where it is unknown."""
        placed = self.placed(name)
        return None if placed is None else placed.number

    def parts(self, name: str, kind: str) -> Mapping[int, PlacedReading]:
        """Return the known counters of a name by the number of their priority or lane (``kind``)."""
        return {
            int(part): placed
            for placed in self._readings.get(name, ())
            if placed.number is not None and (part := placed.part(kind)) is not None
        }

    @cached_property
    def carries_rdma(self) -> bool | None:
        """Whether the NIC sent or received RDMA; None where no counter of RDMA is known."""
        counts = [count for name in _RDMA if (count := self.count(name)) is not None]
        return any(counts) if counts else None

    @cached_property
    def paused_priorities(self) -> frozenset[int] | None:
        """The priorities whose pauses the driver counts, as it does with PFC on; None if it leaves no priority out."""
        off = {
            int(placed.part("priority") or 0)
            for name in _PAUSES
            for placed in self._readings.get(name, ())
            if placed.reading.value is None
        }
        return frozenset(PRIORITIES) - off if off else None


def nics(device: RunningDevice) -> tuple[Nic, ...]:
    """Return the NICs of a host with counters that rules read, without ports of switches and of subnets.

    Where an earlier capture has the same NIC, and its driver was not loaded again, counters are the differences.
    """
    now = _nics(device.state)
    then = () if device.before is None else _nics(device.before)
    return tuple(_changed(nic, then, now) for nic in now)


def _nics(state: DeviceState) -> tuple[Nic, ...]:
    counters = state.every(*_COUNTED, *_PAUSES, *_BESIDE)
    by_nic = grouped((_where(placed), placed) for placed in counters if placed.part("port") is None)
    return tuple(
        Nic(state.name, name, readings)
        for (_, name), readings in by_nic.items()
        # Pause counters that a tool prints with its PFC mode are not a NIC.
        if any(placed.reading.name in _COUNTED for placed in readings)
    )


def _changed(nic: Nic, then: Sequence[Nic], now: Sequence[Nic]) -> Nic:
    """Return a NIC with its counts since an earlier capture; unchanged without one or where the driver was reloaded."""
    earlier = earlier_of(nic.readings, [each.readings for each in then], [each.readings for each in now])
    counts = None if earlier is None else since(nic.readings, earlier)
    return nic if counts is None else Nic(nic.host, nic.name, counts, whole=nic)


def carries_rdma(device: RunningDevice, nic: Nic) -> bool | None:
    """Return whether a NIC carried RDMA: by its counters, else True by requests of the host's only RDMA device and NIC.

    None where neither shows it.
    """
    if nic.carries_rdma is not None:
        return nic.carries_rdma
    requests = grouped(
        (placed.part("device"), amount)
        for name in _REQUESTS
        for placed in device.state.named(name, "device", "port")
        if (amount := _requested(device, nic, placed)) is not None
        and not _is_infiniband(device.state, placed)
    )
    if len(requests) != 1 or len(nics(device)) != 1:
        return None
    # A device without requests may belong to another port, or have just started to count.
    return any(map(any, requests.values())) or None


def _requested(device: RunningDevice, nic: Nic, placed: PlacedReading) -> int | None:
    """Return the count of an RDMA device in the period of the NIC's counters; None where it is unknown."""
    if nic.whole is None:
        return placed.number
    count = counted(device, placed, "device", "port")
    return count.amount if isinstance(count, Count) and count.between else None


def pfc_priorities(device: RunningDevice, nic: Nic) -> frozenset[int] | None:
    """Return the priorities with PFC of a NIC by captures, else by an intent; None where both do not show them.

    A NIC without PFC may belong to a lossy fabric, or not be configured yet.
    """
    applied = _applied(device, nic)
    intended = device.intended_host
    if applied or intended is None or intended.pfc_priorities is UNKNOWN:
        return applied or None
    if not is_intended(nic.name, intended):
        return None
    return frozenset(intended.pfc_priorities)


def is_intended(name: str, intended: HostQos) -> bool:
    """Return whether an intent may mean an interface: it names that one or none, or the interface has no name."""
    return not name or not intended.interfaces or name in intended.interfaces


def _applied(device: RunningDevice, nic: Nic) -> frozenset[int] | None:
    """Return the priorities with PFC of a NIC by captures; None where they do not show them."""
    if nic.paused_priorities is not None:
        return nic.paused_priorities
    modes = pfc_modes(device)
    named = next((mode.priorities for mode in modes if nic.name and mode.name == nic.name), None)
    if named is None and len(modes) == len(nics(device)) == 1 and "" in (nic.name, modes[0].name):
        return modes[0].priorities
    return named


def pausing_signs(nic: Nic) -> tuple[tuple[str, str], ...]:
    """Return the counters of a NIC that show why it pauses, each with its words."""
    signs = (
        (
            "pause_storm_errors",
            1,
            "stall prevention ended {:,} storms of its own (tx_pause_storm_error_events)",
        ),
        ("pause_storm_warnings", 1, "{:,} storm warnings (tx_pause_storm_warning_events)"),
        (
            "outbound_pci_stalled_wr",
            _STALLED_PERCENT,
            "PCIe writes stalled {} % of the last second (outbound_pci_stalled_wr)",
        ),
        (
            "outbound_pci_stalled_rd",
            _STALLED_PERCENT,
            "PCIe reads stalled {} % of the last second (outbound_pci_stalled_rd)",
        ),
    )
    counts = ((name, nic.count(name) or 0, least, text) for name, least, text in signs)
    return tuple((name, text.format(count)) for name, count, least, text in counts if count >= least)


def sent_pauses(nic: Nic, priority: str) -> int | None:
    """Return the pauses of a priority that a NIC sent; None where the file does not have them."""
    placed = nic.parts("pfc_tx", "priority").get(int(priority) if priority.isdecimal() else -1)
    return None if placed is None else placed.number


def rdma_inside(nic: Nic, lossless: Collection[int]) -> tuple[int, int] | None:
    """Return the RDMA packets that a NIC sent between the captures, and all packets of the lossless priorities.

    None where a file does not have them, or where the NIC received more outside of these priorities than it sent: these
    may be answers then, which go out in the class of their requests.
    """
    rdma = nic.count("tx_vport_rdma_unicast_packets")
    sent, received = (nic.parts(f"priority_{way}_packets", "priority") for way in ("tx", "rx"))
    if nic.whole is None or rdma is None or not sent:
        return None
    inside = sum(placed.number or 0 for number, placed in sent.items() if number in lossless)
    outside, answered = (
        sum(placed.number or 0 for number, placed in counts.items() if number not in lossless)
        for counts in (sent, received)
    )
    return (rdma, inside) if outside >= answered else None


class PfcMode:
    """The PFC mode that was read back from one interface; ``name`` is empty where the file has none."""

    def __init__(self, name: str, readings: Sequence[PlacedReading]) -> None:
        self.name = name
        self.by_priority = {int(placed.part("priority") or 0): placed for placed in readings}

    @property
    def priorities(self) -> frozenset[int]:
        """The priorities for which PFC was read back as on."""
        return frozenset(number for number, placed in self.by_priority.items() if placed.number)


def pfc_modes(device: RunningDevice) -> tuple[PfcMode, ...]:
    """Return the PFC modes of the interfaces of which a file has the state of every priority."""
    enabled = (placed for placed in device.state.every(_PFC) if placed.part("priority") is not None)
    by_interface = grouped((_where(placed), placed) for placed in enabled)
    modes = [PfcMode(name, readings) for (_, name), readings in by_interface.items()]
    return tuple(
        mode
        for mode in modes
        if all(
            (priority in mode.by_priority and mode.by_priority[priority].number is not None)
            for priority in PRIORITIES
        )
    )


def _where(placed: PlacedReading) -> tuple[str, str]:
    """Return the file and the interface name of a reading; the name is empty where the file has none."""
    return placed.file, placed.part("device") or ""


def _is_infiniband(state: DeviceState, placed: PlacedReading) -> bool:
    where = {"device": placed.part("device") or "", "port": placed.part("port") or ""}
    return state.value("link_layer", **where) in ("InfiniBand", "IB")


_BEFORE_WRAP = range(1 << 31, 1 << 32)
"""Values from which a counter of 32 bits can begin again while others of its NIC go on."""


def earlier_of(readings: Readings, then: Sequence[Readings], now: Sequence[Readings]) -> Readings | None:
    """Return the earlier counters of the same interface; None where there are none, or the match is not certain.

    A match is the only earlier interface of the same name, or the one in a file of the same name. An interface without
    a name matches the only one without a name, if each capture has one, or the one in a file of the same name. ``then``
    and ``now`` are all interfaces of the two captures.
    """
    name = _interface(readings)
    before, after = ([each for each in all_of if _interface(each) == name] for all_of in (then, now))
    if not (len(before) == 1 and (name or len(after) == 1)):
        before, after = (
            [each for each in some if _file(each) == _file(readings)] for some in (before, after)
        )
    return before[0] if len(before) == 1 and (name or len(after) == 1) else None


def since(readings: Readings, earlier: Readings) -> Readings | None:
    """Return a NIC's readings with their counts since an earlier capture; None where the driver was loaded in between.

    Counters that the earlier capture does not have are unknown.
    """
    # Where one file has a counter twice, the first counts, as in all rules about NICs.
    then = {_key(placed): placed for placed in reversed(earlier)}
    counts = [_count(placed, then.get(_key(placed))) for placed in readings]
    fallen = [
        then[_key(placed)].number or 0
        for placed, count in zip(readings, counts, strict=True)
        if count is not None and not count.between
    ]
    rose = any(count is not None and count.between and count.amount for count in counts)
    if fallen and not (rose and all(number in _BEFORE_WRAP for number in fallen)):
        return None
    # What such a counter has counted since its end is the least that it has counted.
    return [_with(placed, count) for placed, count in zip(readings, counts, strict=True)]


def _count(placed: PlacedReading, earlier: PlacedReading | None) -> Count | None:
    if placed.number is None or earlier is None or earlier.number is None or placed.reading.unit == _GAUGE:
        return None
    count = difference(placed, earlier, placed.number, earlier.number)
    return count if isinstance(count, Count) else None


def _with(placed: PlacedReading, count: Count | None) -> PlacedReading:
    """Return a reading with its count as the value, unknown without one.

    A gauge, and a counter that the driver does not have, are returned unchanged.
    """
    if placed.reading.value is None or placed.reading.unit == _GAUGE:
        return placed
    return placed._replace(
        reading=placed.reading._replace(value=UNKNOWN if count is None else count.amount, ceiling=None)
    )


def _key(placed: PlacedReading) -> tuple[str, Identity]:
    return placed.reading.name, placed.reading.identity


def _interface(readings: Readings) -> str:
    return readings[0].part("device") or ""


def _file(readings: Readings) -> str:
    return PurePath(readings[0].file).name
