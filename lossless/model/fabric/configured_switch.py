"""A switch as its configuration has it: the switch of the model, and what of the configuration is without effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.known import Maybe
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import IndexMap, Queue


class UndefinedName(NamedTuple):
    """A name that a configuration uses and does not define: what kind of thing, and where it is used.

    ``ports`` are those that it leaves without what it should set, empty where that is more or less than a port.
    """

    kind: str
    name: str
    origin: Origin
    ports: tuple[str, ...] = ()


class UnboundObject(NamedTuple):
    """Something that a configuration defines and binds to nothing: it has no effect."""

    kind: str
    name: str
    origin: Origin


class RefusedSetting(NamedTuple):
    """A setting that the system refuses, or takes and cannot mean: what it is, why, and what is meant perhaps.

    ``ports`` are those that it concerns, empty where it concerns the switch. ``lossy``: traffic of a lossless class
    that it leaves without protection is dropped.
    """

    what: str
    why: str
    help: str
    origin: Origin
    ports: tuple[str, ...] = ()
    lossy: bool = False


class IntendedLossless(NamedTuple):
    """A class whose pause has no effect: its name, its queue, and where packets are put into it."""

    name: str
    queue: int
    origin: Origin


class Tunnel(NamedTuple):
    """An overlay by the name of its interface, and the outer DSCP of its packets.

    ``dscp`` None: the DSCP inside is copied, or derived from the priority of its class, as a line or a public default
    says. UNKNOWN: neither does. ``ports`` are ports whose packets enter it, as far as the configuration says.
    """

    name: str
    dscp: Maybe[int]
    origin: Origin
    ports: tuple[str, ...] = ()


class Rewrite(NamedTuple):
    """The DSCP that a switch writes into packets of a traffic class; ``ports`` are those that do, empty for all."""

    traffic_class: int
    dscp: int
    origin: Origin
    ports: tuple[str, ...] = ()


class Shaper(NamedTuple):
    """The limit of queues of a port, or of the port itself (``queue`` None), in b/s or in percent of its speed.

    Neither: what it counts in is not known.
    """

    port: str
    queue: int | None
    limit_bps: int | None
    percent: int | None
    origin: Origin


class ClassMaps(NamedTuple):
    """The maps of a switch, whether a port trusts them or not."""

    dscp_to_tc: IndexMap
    dot1p_to_tc: IndexMap
    tc_to_queue: IndexMap


class ReadSwitch(NamedTuple):
    """A switch as its configuration has it.

    ``trusts`` says what each port reads, as far as the text does: dscp, pcp, both or none. ``silent`` are the ports on
    which PFC is on and no priority is paused, each with the place that turns PFC on. ``untagged`` are ports that get no
    VLAN tags, as far as the configuration says. ``unread`` are lines that may matter and have no meaning known here.
    ``intended`` are classes that would be lossless if their pause had an effect.
    ``defined`` are queues as a policy has them that is bound to no port, where no other is. ``product`` is what the
    text says the switch is, as profiles call it; empty where it does not. ``tunnels`` are those of overlays.
    ``taking_part`` are the ports with a command about PFC or a lossless class, whether it makes one lossless or not.
    ``undecided`` says of ports why it is not known whether PFC is on there. ``rest`` is the port for all
    without commands, None where the text does not say what they do; ``unstated`` are ports of which a part of a text
    says nothing. ``mtus`` are the places of MTUs by port. ``rewrites`` are what it writes into packets, ``shapers`` the
    rates that it keeps queues and ports below.
    """

    switch: Switch
    maps: ClassMaps
    trusts: Mapping[str, str]
    undefined: tuple[UndefinedName, ...] = ()
    unbound: tuple[UnboundObject, ...] = ()
    refused: tuple[RefusedSetting, ...] = ()
    silent: tuple[tuple[str, Origin], ...] = ()
    intended: tuple[IntendedLossless, ...] = ()
    untagged: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    defined: tuple[Queue | None, ...] = ()
    product: str = ""
    tunnels: tuple[Tunnel, ...] = ()
    taking_part: frozenset[str] = frozenset()
    undecided: Mapping[str, str] = {}
    rest: Port | None = None
    unstated: frozenset[str] = frozenset()
    mtus: Mapping[str, Origin] = {}
    rewrites: tuple[Rewrite, ...] = ()
    shapers: tuple[Shaper, ...] = ()

    @property
    def inside(self) -> frozenset[str]:
        """The ports with anything about PFC or a lossless class; all others carry no RDMA."""
        pausing = {port.name for port in self.switch.ports if port.qos and port.qos.pfc.priorities}
        named = {port for undefined in self.undefined for port in undefined.ports}
        return frozenset(pausing | named) | self.taking_part


class Words(NamedTuple):
    """How the operators of a system say what a rule found; where one is empty, the rule's own words do."""

    message: str = ""
    note: str = ""
    help: str = ""
