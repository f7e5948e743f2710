"""A switch as read from its configuration: the switch of the model, and settings that have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import Maybe, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import IndexMap, Queue


class UndefinedName(NamedTuple):
    """A name that a configuration uses and does not define: the kind of object, and where it is used.

    ``ports`` are those that therefore lack the setting, empty where a whole switch or a part of a port is affected.
    """

    kind: str
    name: str
    origin: Origin
    ports: tuple[str, ...] = ()


class UnboundObject(NamedTuple):
    """An object that a configuration defines and binds to nothing: it has no effect."""

    kind: str
    name: str
    origin: Origin


class RefusedSetting(NamedTuple):
    """A setting that the system refuses, or accepts with an unintended meaning; the reason, and a correction.

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
    """A class meant to be lossless whose pause has no effect: its name, queue, and the origin of its classification."""

    name: str
    queue: int
    origin: Origin


class Tunnel(NamedTuple):
    """An overlay tunnel by the name of its interface (or ``VXLAN``), and the outer DSCP of its packets.

    ``dscp`` None: the inner DSCP is copied, or derived from the priority of its class, by a line or a public default;
    UNKNOWN: neither defines it. ``ports`` are ports whose packets enter it, as far as the configuration declares them.
    """

    name: str
    dscp: Maybe[int]
    origin: Origin
    ports: tuple[str, ...] = ()


class Rewrite(NamedTuple):
    """The DSCP that a switch writes into packets of a traffic class, at ``ports``; empty: at all, or unknown."""

    traffic_class: int
    dscp: int
    origin: Origin
    ports: tuple[str, ...] = ()


class Shaper(NamedTuple):
    """The limit of queues of a port, or of the port itself (``queue`` None), in b/s or in percent of its speed.

    Both None: the unit of the limit is unknown.
    """

    port: str
    queue: int | None
    limit_bps: int | None
    percent: int | None
    origin: Origin


class ClassMaps(NamedTuple):
    """The DSCP, 802.1p and queue maps of a switch, whether a port uses them or not."""

    dscp_to_tc: IndexMap
    dot1p_to_tc: IndexMap
    tc_to_queue: IndexMap


class ReadSwitch(NamedTuple):
    """A switch as read from its configuration.

    ``trusts`` is the field that each port trusts, as declared or by a known default: dscp, pcp, both or none.
    ``silent`` are the ports with PFC on and no paused priority, each with a place that turns PFC on: its own, or on
    NX-OS that of the first of them. ``untagged`` are ports that receive no VLAN tags, as far as the configuration
    declares it. ``unread`` are lines of unknown meaning that may
    matter. ``intended`` are classes that would be lossless if their pause had an effect. ``defined`` are the queues of
    a policy that is bound to no port, where no policy is bound. ``product`` is the product name in the text, as in
    profiles; empty where it has none. ``tunnels`` are those of overlays. ``taking_part`` are the ports that take part
    in lossless traffic by their commands (PFC, its watchdog, no-drop priorities, input policies), even if these make no
    class lossless. ``undecided`` has the reason why it is unknown whether PFC is on at a port. ``rest`` stands for all
    ports without commands, None where their behavior is unknown; ``unstated`` are ports that a partial text does not
    describe. ``mtus`` are the places of MTUs by port. ``rewrites`` are the values that it writes into packets,
    ``shapers`` the rates that it keeps queues and ports below.
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
        """The ports with PFC, those of ``taking_part``, and those with an undefined name."""
        pausing = {port.name for port in self.switch.ports if port.qos and port.qos.pfc.priorities}
        named = {port for undefined in self.undefined for port in undefined.ports}
        return frozenset(pausing | named) | self.taking_part


class Words(NamedTuple):
    """The texts of a finding in the terms of one switch system; where one is empty, the rule's own text is used."""

    message: str = ""
    note: str = ""
    help: str = ""
