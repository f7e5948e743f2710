"""Resolves queue limits of classes, routing, bridging, failures and trimming of an intent to the fabric model.

A queue limit is the reserved buffer of a queue, and its threshold. In both buffer models a row of BUFFER_QUEUE names
any profile for a single port and queue, so every class can have its own. Source: sonic-swss orchagent/bufferorch.cpp
@e6b0c5b (processQueue).

The reserved buffer is checked against the available buffer. On NVIDIA chips reserved buffer is outside the pools:
SONiC sizes pools from the rest of the chip. Elsewhere pools have their configured size, and the shared part of a pool
is its size without the buffer reserved in it. Sources: sonic-swss cfgmgr/buffer_pool_mellanox.lua and buffermgr.cpp
@e6b0c5b (doBufferTableTask); opencomputeproject/SAI inc/saibuffer.h @91e6b86 (SAI_BUFFER_POOL_ATTR_SHARED_SIZE).

Switches and links of routing and failures that do not exist are reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import room_left
from lossless.analysis.buffers.headroom.port import is_nvidia
from lossless.formats.intent.problems import in_file_order
from lossless.formats.intent.resolve.class_buffers import other_kind, ranked_values
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.basics.units import format_bytes, joined, suggestion
from lossless.model.fabric.cabling import Bridging, FabricElement, PacketOrder, Routing, Trimming
from lossless.model.fabric.cluster import Failures
from lossless.model.fabric.model import tier_of_role
from lossless.model.fabric.qos import TrimSettings
from lossless.model.hardware.buffers import EGRESS_LOSSY_PROFILE
from lossless.model.hardware.model import SONIC, routes_adaptively

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from lossless.analysis.topology.shapes import WiringPlan
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.unused_ports import PortUse, SwitchKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import BufferModel, Port, Switch
    from lossless.model.fabric.qos import BufferProfile, Queue
    from lossless.model.hardware.model import BufferDefaults


_THRESHOLDS = ("dynamic_th", "static_th")
_SIZE = ("size",)
_SUFFIX = "_profile"
_TRIMS = "_trim"


def stated_size(
    loaded: LoadedIntent, kind: SwitchKind, class_name: str, speed_bps: int
) -> tuple[int | None, Origin]:
    """Return the declared reserved buffer of each queue of a class on ports of one speed, in bytes, and its origin.

    Without a declared one it is None, and the origin is that of the class.
    """
    policy, path = loaded.intent.classes[class_name].queue, ("classes", class_name, "queue")
    stated, origin = ranked_values(loaded, path, policy, kind.place(speed_bps), (_SIZE,))
    return stated.get("size"), origin


class ReservedAtEgress:
    """Sums the egress buffer that ports of one switch kind reserve, for their queues and in their list of profiles."""

    def __init__(self, loaded: LoadedIntent, kind: SwitchKind, defaults: BufferDefaults) -> None:
        self._loaded, self._kind, self._defaults = loaded, kind, defaults
        self._each: dict[tuple[str, int], int] = {}
        listed = defaults.profile(EGRESS_LOSSY_PROFILE)
        self._listed_bytes = listed.reserved_bytes if listed else 0

    def of_port(self, class_names: Iterable[str], speed_bps: int) -> int:
        """Return the bytes that a port of a speed with one queue for each of these classes reserves.

        Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b (iterate_all_items, iterate_profile_list).
        """
        return self._listed_bytes + sum(self._of_queue(name, speed_bps) for name in class_names)

    def _of_queue(self, class_name: str, speed_bps: int) -> int:
        key = class_name, speed_bps
        if key not in self._each:
            size_bytes, _ = stated_size(self._loaded, self._kind, class_name, speed_bps)
            lossless = self._loaded.intent.classes[class_name].lossless
            shipped = self._defaults.queue_profile(lossless=lossless)
            usual_bytes = shipped.reserved_bytes if shipped else 0
            self._each[key] = usual_bytes if size_bytes is None else size_bytes
        return self._each[key]


class QueueLimits:
    """Builds the queue profiles of one switch kind, one for all that are identical."""

    def __init__(self, loaded: LoadedIntent, kind: SwitchKind, model: BufferModel) -> None:
        self._loaded, self._kind, self._model = loaded, kind, model
        self._own: dict[str, BufferProfile] = {}
        trimming = loaded.intent.trimming
        self._trimmed = trimming.of if trimming is not None and kind.profile.format == SONIC else ()

    def of(self, class_name: str, speed_bps: int, shipped: BufferProfile | None) -> BufferProfile | None:
        """Return the queue profile of a class on ports of one speed: that of the HWSKU, if any, with declared values.

        A trimmed class has a profile of its own: orchagent refuses a trimming profile in the lists of ports and on
        priority groups (sonic-swss orchagent/bufferorch.cpp @e6b0c5b).

        Raises:
            InputError: values are declared or the class is trimmed, and the HWSKU ships no profile; or its pool has
                another kind of threshold.
        """
        limited = self._limited(class_name, speed_bps, shipped)
        if class_name not in self._trimmed:
            return limited
        origin = self._loaded.origin("trimming")
        if limited is None:
            raise self._refusal(origin, f"{self._kind.called} ships no profile of queues, which could trim")
        name = f"{limited.name.removesuffix(_SUFFIX)}{_TRIMS}"
        return self._own.setdefault(name, limited._replace(name=name, origin=origin, trims=True))

    def _limited(
        self, class_name: str, speed_bps: int, shipped: BufferProfile | None
    ) -> BufferProfile | None:
        policy, path = self._loaded.intent.classes[class_name].queue, ("classes", class_name, "queue")
        place = self._kind.place(speed_bps)
        stated, origin = ranked_values(self._loaded, path, policy, place, (_THRESHOLDS, _SIZE))
        if not stated:
            return shipped
        if shipped is None or shipped.pool is None:
            raise self._refusal(origin, f"{self._kind.called} ships no profile of queues")
        why = other_kind(self._kind, self._model, shipped.pool, stated)
        if why:
            raise self._refusal(origin, why)
        values = (f"{key}_{value}" for key, value in stated.items())
        name = "_".join((shipped.name.removesuffix(_SUFFIX), *values))
        return self._own.setdefault(name, _stated(shipped, stated)._replace(name=name, origin=origin))

    def _refusal(self, origin: Origin, message: str) -> InputError:
        dotted = ".".join(map(str, origin.path))
        return InputError([self._loaded.problem(origin, f"{dotted}: {message}")])


def _stated(shipped: BufferProfile, stated: Mapping[str, int]) -> BufferProfile:
    """Return a queue profile with the declared reserved buffer and threshold in place of its own."""
    sized = shipped._replace(reserved_bytes=stated.get("size", shipped.reserved_bytes))
    if not any(key in stated for key in _THRESHOLDS):
        return sized
    return sized._replace(dynamic_th=stated.get("dynamic_th"), static_th_bytes=stated.get("static_th"))


class _Reserved(NamedTuple):
    """The egress buffer that one declared ``queue.size`` reserves on a switch: pool, bytes a queue, queue count."""

    origin: Origin
    pool: str
    size_bytes: int
    queues: int

    @property
    def bytes(self) -> int:
        return self.size_bytes * self.queues

    def said_of(self, switches: str) -> str:
        queues = (
            f"{self.queues} queues of {switches} reserve"
            if self.queues > 1
            else f"1 queue of {switches} reserves"
        )
        return f"{queues} {format_bytes(self.bytes)}"


def require_room(loaded: LoadedIntent, switches: Iterable[tuple[SwitchKind, Switch]]) -> None:
    """Refuse reservations for queues that leave no buffer to share on a switch; ``switches`` has one of each kind.

    Raises:
        InputError: the largest reservation on each such switch, or in each such pool.
    """
    if all(cls.queue is None for cls in loaded.intent.classes.values()):
        return
    problems = [problem for kind, switch in switches for problem in _refused(loaded, kind, switch)]
    if problems:
        raise InputError(list(dict.fromkeys(problems)))


def _refused(loaded: LoadedIntent, kind: SwitchKind, switch: Switch) -> Iterator[Problem]:
    reserved = _reserved(loaded, kind, switch)
    if is_nvidia(switch):
        room_bytes = room_left(switch)
        if room_bytes is None:
            return
        sharers = sum(pool.kind == "ingress" for pool in switch.qos.pools)
        free_bytes = room_bytes + _sum(reserved)
        # Where the headroom alone leaves nothing, no queue is to blame.
        if room_bytes < sharers <= free_bytes:
            yield _problem(loaded, kind, reserved, free_bytes - sharers, "the chip")
        return
    for pool in switch.qos.pools:
        here = [one for one in reserved if one.pool == pool.name]
        if pool.size_bytes is not None and here and _sum(here) >= pool.size_bytes:
            yield _problem(loaded, kind, here, pool.size_bytes - 1, pool.name)


def _sum(reserved: Iterable[_Reserved]) -> int:
    return sum(one.bytes for one in reserved)


def _reserved(loaded: LoadedIntent, kind: SwitchKind, switch: Switch) -> list[_Reserved]:
    """Return the reservation of each declared ``queue.size`` for the queues of a switch's ports in use."""
    class_of = {loaded.origin("classes", name): name for name in loaded.intent.classes}
    queues: dict[tuple[str, int, str], int] = {}
    for port, queue in _queues(switch):
        if queue.origin in class_of and queue.buffer is not None and queue.buffer.pool is not None:
            key = class_of[queue.origin], port.speed_bps or 0, queue.buffer.pool.name
            queues[key] = queues.get(key, 0) + 1
    by_statement: dict[tuple[Origin, str, int], int] = {}
    for (name, speed_bps, pool), count in queues.items():
        size_bytes, origin = stated_size(loaded, kind, name, speed_bps)
        if size_bytes:
            statement = origin, pool, size_bytes
            by_statement[statement] = by_statement.get(statement, 0) + count
    return [_Reserved(*statement, count) for statement, count in by_statement.items()]


def _queues(switch: Switch) -> Iterator[tuple[Port, Queue]]:
    """Yield each queue of the ports that a switch has, with its port; queues of reclaimed ports belong to no class."""
    for port in switch.ports:
        if port.placed and port.qos is not None:
            yield from ((port, queue) for queue in port.qos.queues if queue is not None)


def _problem(
    loaded: LoadedIntent, kind: SwitchKind, reserved: list[_Reserved], free_bytes: int, where: str
) -> Problem:
    """Return the problem of queue reservations that exceed ``free_bytes``, located at the largest of them."""
    worst = max(reserved, key=lambda one: one.bytes)
    others_bytes = _sum(reserved) - worst.bytes
    others = f", others {format_bytes(others_bytes)}" if others_bytes else ""
    return loaded.problem(
        worst.origin,
        f"{'.'.join(map(str, worst.origin.path))}: {worst.said_of(kind.called)}{others}, and {where} has "
        f"{format_bytes(free_bytes)} for queues; {_advice(worst, free_bytes - others_bytes)}",
    )


def _advice(worst: _Reserved, free_bytes: int) -> str:
    most_bytes = free_bytes // worst.queues
    return f"state at most {format_bytes(most_bytes)}" if most_bytes > 0 else "state less for each class"


_NS_PER_MS = 1_000_000


def routing(loaded: LoadedIntent, plan: WiringPlan) -> Routing | None:
    """Return the routing policy, None where an intent does not declare one.

    Raises:
        InputError: every switch in ``bounce`` that is not declared or cannot bounce.
    """
    stated = loaded.intent.topology.routing
    if stated is None:
        return None
    at = loaded.origin("topology", "routing")
    bounce = tuple(FabricElement((name,), at.at("bounce", n)) for n, name in enumerate(stated.bounce))
    problems = list(_Check(loaded, plan).bounces(bounce))
    if problems:
        raise InputError(in_file_order(problems))
    return Routing(stated.policy, bounce, at, stated.extra_hops)


def failures(loaded: LoadedIntent, plan: WiringPlan) -> Failures:
    """Return the failures to tolerate, and the elements that are out of service.

    Raises:
        InputError: every switch that is not declared, and every link that does not exist.
    """
    stated, at = loaded.intent.failures, loaded.origin("failures")
    gone = tuple(
        FabricElement(names, at.at("out_of_service", n)) for n, names in enumerate(stated.out_of_service)
    )
    problems = list(_Check(loaded, plan).out_of_service(gone)) if gone else []
    if problems:
        raise InputError(in_file_order(problems))
    return Failures(stated.links, stated.switches, stated.oversubscription, gone, at)


def bridging(loaded: LoadedIntent) -> Bridging | None:
    """Return the bridging settings of leaves, None where an intent does not declare bridging."""
    stated = loaded.intent.topology.bridging
    if stated is None:
        return None
    arp_ms, mac_ms = (
        None if time is None else time // _NS_PER_MS for time in (stated.arp_timeout, stated.mac_aging)
    )
    origin = loaded.origin("topology", "bridging")
    return Bridging(stated.unknown_unicast == "flood", arp_ms, mac_ms, origin)


def packet_order(loaded: LoadedIntent, plan: WiringPlan) -> PacketOrder:
    """Return the load balancing over equal paths, the reordering that NICs accept, and how they retransmit.

    Raises:
        InputError: every declared tier that has no switches.
    """
    stated = loaded.intent.topology.routing
    choice = stated.load_balancing if stated is not None else "ecmp"
    by_tier = tuple(choice.items()) if isinstance(choice, dict) else ()
    at = loaded.origin("topology", "routing", "load_balancing")
    problems = list(_Check(loaded, plan).roles(role for role, _ in by_tier))
    if problems:
        raise InputError(in_file_order(problems))
    reorder = loaded.intent.hosts.reorder
    ahead_frames = UNKNOWN if reorder is None else {"any": 0, "none": None}.get(str(reorder), reorder)
    return PacketOrder(
        "ecmp" if isinstance(choice, dict) else choice,
        ahead_frames,  # type: ignore[arg-type]
        at,
        loaded.origin("hosts", "reorder"),
        by_tier,
        loaded.intent.hosts.retransmission == "selective",
    )


def adapts(loaded: LoadedIntent, kind: SwitchKind, use: PortUse) -> bool:
    """Return whether a port routes packets adaptively: as its role declares, to a switch, in no LAG, by this ASIC.

    Source: as :func:`routes_adaptively` (layer 3 interfaces, neither bonds nor their members).
    """
    stated = loaded.intent.topology.routing
    choice = stated.load_balancing if stated is not None else "ecmp"
    own = choice.get(kind.role, "ecmp") if isinstance(choice, dict) else choice
    between = not use.to_host and use.lag is None
    return own == "adaptive" and between and routes_adaptively(kind.profile.asic, use.speed_bps)


def trimming(loaded: LoadedIntent) -> Trimming | None:
    """Return the trimmed classes, their size and their new class, None where an intent does not declare trimming."""
    stated = loaded.intent.trimming
    if stated is None:
        return None
    return Trimming(stated.of, stated.into, stated.size, loaded.origin("trimming"))


def trim_settings(loaded: LoadedIntent, kind: SwitchKind) -> TrimSettings | None:
    """Return the trimming settings of a switch kind, None without trimming or where its system does not support it.

    Trimmed packets get the one DSCP of their class, and its queue, which is that of its priority.
    """
    stated = loaded.intent.trimming
    if stated is None or kind.profile.format != SONIC:
        return None
    into = loaded.intent.classes[stated.into]
    return TrimSettings(stated.size, next(iter(into.dscps)), None, into.priority, loaded.origin("trimming"))


class _Check:
    """Checks switch names, roles and link ends of an intent against the switches and links of its wiring plan."""

    def __init__(self, loaded: LoadedIntent, plan: WiringPlan) -> None:
        self._loaded = loaded
        self._roles = {node.role for node in plan.nodes if node.role != "host"}
        self._tiers = {node.name: tier_of_role(node.role) for node in plan.nodes if node.role != "host"}
        self._pairs = {frozenset((bundle.a, bundle.b)) for bundle in plan.bundles if not bundle.to_host}

    def bounces(self, bounce: Collection[FabricElement]) -> Iterator[Problem]:
        """Yield a problem for each switch in ``bounce`` that does not exist, or has no link to a tier above."""
        for (name,), origin in bounce:
            if name not in self._tiers:
                yield self._problem(origin, self._no_switch(name))
            elif not self._has_above(name):
                yield self._problem(origin, f"{name} has no uplinks, so it cannot bounce packets")

    def roles(self, stated: Iterable[str]) -> Iterator[Problem]:
        """Yield a problem for each role in ``load_balancing`` that no switch has."""
        for role in stated:
            if role not in self._roles:
                at = self._loaded.origin("topology", "routing", "load_balancing", role)
                yield self._problem(at, f"no switch is a {role}; there are {joined(sorted(self._roles))}")

    def out_of_service(self, gone: Collection[FabricElement]) -> Iterator[Problem]:
        """Yield a problem for each switch out of service that does not exist, and each pair of them without a link."""
        for names, origin in gone:
            unknown = [(number, name) for number, name in enumerate(names) if name not in self._tiers]
            for number, name in unknown:
                where = origin.at(number) if len(names) == 2 else origin
                yield self._problem(where, self._no_switch(name))
            if len(names) == 2 and not unknown and frozenset(names) not in self._pairs:
                yield self._problem(origin, f"no link joins {names[0]} and {names[1]}")

    def _has_above(self, name: str) -> bool:
        own = self._tiers[name]
        others = (self._tiers.get(other) for pair in self._pairs if name in pair for other in pair - {name})
        return own is not None and any(tier > own for tier in others if tier is not None)

    def _no_switch(self, name: str) -> str:
        return f"no switch {name!r}{suggestion(name, list(self._tiers))}"

    def _problem(self, origin: Origin, message: str) -> Problem:
        return self._loaded.problem(origin, f"{'.'.join(map(str, origin.path))}: {message}")
