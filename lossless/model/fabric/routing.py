"""Routing and load balancing that an intent declares, and bridging instead of routing."""

from __future__ import annotations

from typing import Literal

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import Maybe, NamedTuple
from lossless.model.hardware.load_balancing import LoadBalancing

RoutingPolicy = Literal["up-down", "shortest-path"]
BY_PACKET: tuple[LoadBalancing, ...] = ("adaptive", "spray")
"""Load balancing by which packets of one flow overtake each other."""


UEC_CONTROLS = ("nscc", "rccc", "both")
"""Congestion controls of Ultra Ethernet: a window of the sender (NSCC), credit of the receiver (RCCC), or both.

Source: Ultra Ethernet specification 1.0.3, 3.6.13 and 3.6.14, by secondary copies.
"""


class FabricElement(NamedTuple):
    """An element that an intent names: a switch, or the two ends of links."""

    names: tuple[str, ...]
    origin: Origin


class PacketOrder(NamedTuple):
    """How packets are spread over equal paths, and how much reordering NICs accept.

    ``by_tier`` has the roles of switches with another choice than ``choice``. ``ahead_frames`` is how many frames NICs
    accept ahead of the next one in order: 0 means any number, None not one. ``selective``: RoCE NICs retransmit a lost
    packet alone.
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
        """Return each declared choice, with the first role that has it, empty where all have, and its place."""
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
    """The policy, and the switches in ``bounce``, which send packets from a higher tier back up.

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
        """Whether the port of a silent host is forgotten before its address, as far as both times are known."""
        arp_ms, mac_ms = self.arp_timeout_ms, self.mac_aging_ms
        return arp_ms is not None and mac_ms is not None and mac_ms < arp_ms
