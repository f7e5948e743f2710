"""How an intent says that packets find their way, and what is bridged instead of routed."""

from __future__ import annotations

from typing import Literal

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.known import Maybe
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.load_balancing import LoadBalancing

RoutingPolicy = Literal["up-down", "shortest-path"]
BY_PACKET: tuple[LoadBalancing, ...] = ("adaptive", "spray")
"""By which packets of one flow overtake each other."""


UEC_CONTROLS = ("nscc", "rccc", "both")
"""What senders of Ultra Ethernet have: a window (NSCC), credit of the receiver (RCCC), or both.

Source: Ultra Ethernet specification 1.0.3, 3.6.13 and 3.6.14, by secondary copies.
"""


class FabricElement(NamedTuple):
    """Something that an intent names: a switch, or the two ends of links."""

    names: tuple[str, ...]
    origin: Origin


class PacketOrder(NamedTuple):
    """How packets are spread over equal paths, and what NICs take out of order.

    ``by_tier`` has the roles of switches that choose otherwise than by ``choice``. ``ahead_frames`` is how many frames
    NICs take ahead of the one that is due: 0 means any number, None not one. ``selective``: RoCE NICs send a lost
    packet alone again.
    """

    choice: LoadBalancing
    ahead_frames: Maybe[int]
    choice_origin: Origin
    hosts_origin: Origin
    by_tier: tuple[tuple[str, LoadBalancing], ...] = ()
    selective: bool = False

    def at_role(self, role: str) -> LoadBalancing:
        """Return what switches of a role choose by."""
        return dict(self.by_tier).get(role, self.choice)

    def all_choices(self) -> dict[LoadBalancing, tuple[str, Origin]]:
        """Return each choice that is stated, with the first role that has it, empty where all have, and its place."""
        if not self.by_tier:
            return {self.choice: ("", self.choice_origin)}
        return {choice: (role, self.choice_origin.at(role)) for role, choice in reversed(self.by_tier)}

    def at(self, role: str) -> tuple[LoadBalancing, Origin]:
        """Return how the switches of a role choose, and where that is stated."""
        choice = dict(self.by_tier).get(role)
        return (self.choice, self.choice_origin) if choice is None else (choice, self.choice_origin.at(role))


LEAST_TRIM_BYTES = 64
"""The shortest Ethernet frame (IEEE 802.3, 3.2.7): no packet can be cut to less."""


class Trimming(NamedTuple):
    """Packets of ``classes`` that find no room in a queue are cut to ``size_bytes``, and go on in class ``into``."""

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

    ``floods``: packets whose MAC address is not known go to all ports. A time is None where nothing is said of it.
    """

    floods: bool
    arp_timeout_ms: int | None
    mac_aging_ms: int | None
    origin: Origin

    @property
    def forgets_too_soon(self) -> bool:
        """Whether a silent host's port is known to be forgotten before its address."""
        arp_ms, mac_ms = self.arp_timeout_ms, self.mac_aging_ms
        return arp_ms is not None and mac_ms is not None and mac_ms < arp_ms
