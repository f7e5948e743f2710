"""Ports of RDMA devices of a host, with their hardware counters: congestion control and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import Count, count_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice
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
