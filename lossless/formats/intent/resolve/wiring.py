"""Turns the declared topology into a plan, and reports its mistakes: unknown names, hosts wired to hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.analysis.topology.shapes import LinkBundle, PlanNode, WiringPlan
from lossless.formats.intent.problems import in_file_order
from lossless.formats.intent.resolve.shapes import shape_plan
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.units import format_rate
from lossless.model.fabric.tier import ROLES, link_tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.wiring import DeviceChoice, LinkChoice
    from lossless.ground.basics.findings import Origin


def plan(loaded: LoadedIntent) -> WiringPlan:
    """Return the wiring plan of an intent.

    Raises:
        InputError: every link that names an undeclared device, joins two hosts or ends at the device it starts from,
            every named port with several links, every LAG to a host or of several speeds, and every tier with
            declared PFC and no links.
    """
    wiring = _plan(loaded)
    problems = list(_tiers_without_links(loaded, wiring))
    if problems:
        raise InputError(problems)
    return wiring


def _plan(loaded: LoadedIntent) -> WiringPlan:
    return shape_plan(loaded) or _explicit(loaded)


def _tiers_without_links(loaded: LoadedIntent, wiring: WiringPlan) -> Iterator[Problem]:
    """Yield tiers with declared PFC that have no links."""
    there = wiring.link_tiers
    stated = loaded.intent.pfc.tiers if loaded.intent.pfc else None
    for index, tier in enumerate(stated or ()):
        if tier not in there:
            known = ", ".join(there) or "no links at all"
            message = f"pfc.tiers.{index}: no link of this fabric is one of {tier}; there are {known}"
            yield loaded.problem(loaded.origin("pfc", "tiers", index), message)


def _explicit(loaded: LoadedIntent) -> WiringPlan:
    topology = loaded.intent.topology
    devices = topology.devices or {}
    problems: list[Problem] = []
    seen: set[str] = set()
    bundles = [
        bundle
        for number, link in enumerate(topology.links or ())
        for bundle in _Ends(loaded, number, link, problems).bundle(seen)
    ]
    problems += _lags_of_several_speeds(loaded, bundles)
    if problems:
        raise InputError(in_file_order(problems))
    nodes = (_node(loaded, name, device) for name, device in devices.items())
    # As a shape orders them, so that the order in the document is of no consequence.
    return WiringPlan(tuple(sorted(nodes, key=_rank)), tuple(bundles))


def _node(loaded: LoadedIntent, name: str, device: DeviceChoice) -> PlanNode:
    origin = loaded.origin("topology", "devices", name)
    return PlanNode(
        name, device.role, name if device.hardware else None, origin, device.dual_tor, device.outside
    )


def _lags_of_several_speeds(loaded: LoadedIntent, bundles: list[LinkBundle]) -> Iterator[Problem]:
    """Yield links that SONiC would refuse as members of their LAG (sonic-utilities config/main.py @691b1bb)."""
    first: dict[tuple[object, ...], LinkBundle] = {}
    for bundle in bundles:
        if bundle.lag is None:
            continue
        other = first.setdefault((frozenset((bundle.a, bundle.b)), bundle.lag), bundle)
        if other.speed_bps != bundle.speed_bps:
            rates = f"{format_rate(bundle.speed_bps)} in LAG {bundle.lag}, whose other links have"
            message = (
                f"{_dotted(bundle.origin)}: {rates} {format_rate(other.speed_bps)}; members have one speed"
            )
            yield loaded.problem(bundle.origin, message)


def _rank(node: PlanNode) -> tuple[object, ...]:
    """Return the sort key of a device: leaves, spines, hosts; ``leaf2`` before ``leaf10``."""
    # Every second part of the split is digits, so that numbers never meet text.
    parts = tuple(int(p) if i % 2 else p for i, p in enumerate(re.split(r"([0-9]+)", node.name)))
    return (ROLES.index(node.role), parts, node.name)


class _Ends:
    """The two ends of one declared bundle, checked."""

    def __init__(self, loaded: LoadedIntent, number: int, link: LinkChoice, problems: list[Problem]) -> None:
        self._loaded = loaded
        self._link = link
        self._origin = loaded.origin("topology", "links", number)
        self._devices = loaded.intent.topology.devices or {}
        self._problems = problems

    def bundle(self, seen: set[str]) -> Iterator[LinkBundle]:
        """Yield the bundle unless an end is invalid; ``seen`` are the named ports of the links before."""
        ends = {side: _end(getattr(self._link, side)) for side in ("a", "b")}
        before = len(self._problems)
        for side, (name, port) in ends.items():
            self._check_end(side, name, port, seen)
        if len(self._problems) > before:
            return
        hosts = [side for side, (name, _) in ends.items() if self._devices[name].role == "host"]
        if len(hosts) == 2 or ends["a"][0] == ends["b"][0]:
            why = (
                "joins two hosts; one end must be a switch"
                if len(hosts) == 2
                else "leads back to its own device"
            )
            self._problems.append(
                self._loaded.problem(self._origin, f"{_dotted(self._origin)}: the link {why}")
            )
            return
        if hosts and self._link.lag is not None:
            self._refuse(
                "lag", "a LAG of hosts is bonded on the host; only links between switches can be one"
            )
            return
        near, far = (ends["b"], ends["a"]) if hosts == ["a"] else (ends["a"], ends["b"])
        count, speed_bps = self._link.links
        tier = link_tier({self._devices[name].role for name, _ in (near, far)})
        origin, cable = self._origin.at("links"), self._origin.at("cable")
        yield LinkBundle(*near, *far, count, speed_bps, self._link.cable, tier, origin, cable, self._lag())

    def _lag(self) -> str | None:
        """Return the name of the LAG; one without a name is identified by its position in the list."""
        lag = self._link.lag
        return f"of link {self._origin.path[-1]}" if lag is True else lag

    def _check_end(self, side: str, name: str, port: str | None, seen: set[str]) -> None:
        end, count = f"{name}:{port}", self._link.links[0]
        if name not in self._devices:
            self._refuse(side, _no_device(name, list(self._devices)))
        elif port is not None and count > 1:
            self._refuse(side, f"{end} is one port; {count} links need as many lines")
        elif port is not None and end in seen:
            self._refuse(side, f"{end} already has a link")
        elif port is not None:
            seen.add(end)

    def _refuse(self, side: str, message: str) -> None:
        where = self._origin.at(side)
        self._problems.append(self._loaded.problem(where, f"{_dotted(where)}: {message}"))


def _dotted(origin: Origin) -> str:
    return ".".join(map(str, origin.path))


def _end(text: str) -> tuple[str, str | None]:
    name, colon, port = text.partition(":")
    return name, port if colon else None


def _no_device(name: str, known: list[str]) -> str:
    return f"no device {name!r}{suggestion(name, known) if known else '; none is declared'}"
