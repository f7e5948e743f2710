"""Headroom by kind of port: the need of ports at the worst reaction time of a peer, and their configured size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import given_headroom
from lossless.analysis.simulation.question.ports import need_of, profile_of
from lossless.analysis.simulation.study.advice import unbounded
from lossless.analysis.simulation.study.grid import PortKind
from lossless.analysis.simulation.study.study import study
from lossless.analysis.simulation.tune.space import KIB
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.model import role_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View


def raised_headroom(view: View, scenarios: Iterable[Scenario], limits: Limits) -> dict[PortKind, int]:
    """Return the headroom in bytes of kinds of ports that have too little, none if all have enough.

    Enough is the need of the link by closed form, and the use of a port in any run with unlimited headroom, plus a
    frame: in runs every peer takes as long to obey PFC as IEEE 802.3 allows.
    """
    needed: dict[PortKind, int] = {}
    given: dict[PortKind, int] = {}
    for scenario in scenarios:
        for kind, switch, port in _ports(scenario):
            given.setdefault(kind, _given(scenario, switch, port))
            need = need_of(switch, port)
            needed[kind] = max(needed.get(kind, 0), 0 if need is None else need.headroom_bytes)
        for kind, used_bytes in _used(view, scenario, limits):
            needed[kind] = max(needed.get(kind, 0), used_bytes + scenario.frame_bytes)
    return {kind: -(-size // KIB) * KIB for kind, size in needed.items() if size > given.get(kind, size)}


def _ports(scenario: Scenario) -> Iterator[tuple[PortKind, Switch, Port]]:
    """Yield the ports with PFC of a scenario's links, with their kind."""
    topology = scenario.topology
    for wire in topology.wires:
        for node, port in ((wire.a, wire.a_port), (wire.b, wire.b_port)):
            switch = topology.switch_of.get(node)
            if switch is not None and port is not None and scenario.end(node, port) is not None:
                yield _kind(switch, wire.rate_bps), switch, port


def _kind(switch: Switch, rate_bps: float) -> PortKind:
    return PortKind(role_word(switch.device_type, switch.tier), rate_bps)


def _given(scenario: Scenario, switch: Switch, port: Port) -> int:
    """Return the headroom of a port's group of the class, 0 if it has none."""
    profile = profile_of(switch, port, scenario.classes[0])
    return 0 if profile is None or isinstance(profile, MissingInput) else given_headroom(switch, profile)


def _used(view: View, scenario: Scenario, limits: Limits) -> Iterator[tuple[PortKind, int]]:
    """Yield the headroom in bytes that ports used with unlimited headroom."""
    for seed in study(unbounded(scenario), limits).seeds:
        for use in seed.uses:
            port = None if use.place.port is None else view.port(use.place.switch, use.place.port)
            if port is not None and port.speed_bps is not None:
                switch = view.switch_by_name[use.place.switch]
                yield _kind(switch, port.speed_bps), use.used_bytes
