"""Turns declared routing and failures into the model, and reports switches and links that do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import in_file_order
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.wording import joined, suggestion
from lossless.model.fabric.cluster import Failures
from lossless.model.fabric.model import tier_of_role
from lossless.model.fabric.qos import TrimSettings
from lossless.model.fabric.routing import Bridging, FabricElement, PacketOrder, Routing, Trimming
from lossless.model.hardware.model import SONIC, routes_adaptively

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from lossless.analysis.topology.shapes import WiringPlan
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.unused_ports import PortUse, SwitchKind
    from lossless.ground.basics.findings import Origin

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
    """Return how packets are spread over equal paths, and how much reordering NICs accept.

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
    """Return whether packets that leave by a port are routed adaptively: over links to switches that are in no LAG.

    Source: as :func:`routes_adaptively` (layer 3 interfaces, neither bonds nor their members).
    """
    stated = loaded.intent.topology.routing
    choice = stated.load_balancing if stated is not None else "ecmp"
    own = choice.get(kind.role, "ecmp") if isinstance(choice, dict) else choice
    between = not use.to_host and use.lag is None
    return own == "adaptive" and between and routes_adaptively(kind.profile.asic, use.speed_bps)


def trimming(loaded: LoadedIntent) -> Trimming | None:
    """Return the packets that are trimmed, None where an intent does not declare trimming."""
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
    """Checks names against the switches and links of a plan."""

    def __init__(self, loaded: LoadedIntent, plan: WiringPlan) -> None:
        self._loaded = loaded
        self._roles = {node.role for node in plan.nodes if node.role != "host"}
        self._tiers = {node.name: tier_of_role(node.role) for node in plan.nodes if node.role != "host"}
        self._pairs = {frozenset((bundle.a, bundle.b)) for bundle in plan.bundles if not bundle.to_host}

    def bounces(self, bounce: Collection[FabricElement]) -> Iterator[Problem]:
        """Yield switches that do not exist, and those with no tier above them."""
        for (name,), origin in bounce:
            if name not in self._tiers:
                yield self._problem(origin, self._no_switch(name))
            elif not self._has_above(name):
                yield self._problem(origin, f"{name} has no uplinks, so it cannot bounce packets")

    def roles(self, stated: Iterable[str]) -> Iterator[Problem]:
        """Yield declared tiers without a switch."""
        for role in stated:
            if role not in self._roles:
                at = self._loaded.origin("topology", "routing", "load_balancing", role)
                yield self._problem(at, f"no switch is a {role}; there are {joined(sorted(self._roles))}")

    def out_of_service(self, gone: Collection[FabricElement]) -> Iterator[Problem]:
        """Yield switches that do not exist, and pairs of ends without a link."""
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
