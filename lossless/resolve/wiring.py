"""The declared topology to a plan, and its mistakes: names that do not exist, hosts wired to hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.errors import InputError, Problem
from lossless.source.nearest import nearest
from lossless.topology.shapes import Bundle, LeafSpineShape, Node, Plan, leaf_spine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.intent.load import LoadedIntent
    from lossless.intent.wiring import LeafSpine, LinkChoice


def plan(loaded: LoadedIntent) -> Plan:
    """Return who is connected to whom.

    Raises:
        InputError: a link names a device that is not declared, or joins two hosts.
    """
    topology = loaded.intent.topology
    if topology.leaf_spine is not None:
        return leaf_spine(_shape(loaded, topology.leaf_spine))
    return _explicit(loaded)


def _shape(loaded: LoadedIntent, declared: LeafSpine) -> LeafSpineShape:
    return LeafSpineShape(
        leaves=declared.leaves,
        spines=declared.spines,
        hosts_per_leaf=declared.hosts_per_leaf,
        host_links=declared.host_links,
        uplinks=declared.uplinks,
        host_cable_m=declared.cables.host,
        uplink_cable_m=declared.cables.uplink,
        origin=loaded.origin("topology", "leaf_spine"),
    )


def _explicit(loaded: LoadedIntent) -> Plan:
    topology = loaded.intent.topology
    devices = topology.devices or {}
    problems: list[Problem] = []
    bundles = tuple(
        bundle
        for number, link in enumerate(topology.links or ())
        for bundle in _bundle(loaded, number, link, problems)
    )
    if problems:
        raise InputError(problems)
    nodes = tuple(
        Node(name, device.role, name if device.hardware else None, loaded.origin("topology", "devices", name))
        for name, device in devices.items()
    )
    return Plan(nodes, bundles)


def _bundle(loaded: LoadedIntent, number: int, link: LinkChoice, problems: list[Problem]) -> Iterator[Bundle]:
    devices = loaded.intent.topology.devices or {}
    origin = loaded.origin("topology", "links", number)
    ends = {side: _end(getattr(link, side)) for side in ("a", "b")}
    for side, (name, port) in ends.items():
        if name not in devices:
            problems.append(loaded.problem(origin.at(side), _no_device(name, list(devices))))
        elif port is not None and link.links[0] > 1:
            message = f"{name}:{port} is one port; {link.links[0]} links need as many lines"
            problems.append(loaded.problem(origin.at(side), message))
    hosts = [side for side, (name, _) in ends.items() if name in devices and devices[name].role == "host"]
    if len(hosts) == 2:
        problems.append(loaded.problem(origin, "a link joins two hosts; one end must be a switch"))
    if problems:
        return
    near, far = (ends["b"], ends["a"]) if hosts == ["a"] else (ends["a"], ends["b"])
    count, speed_bps = link.links
    tier: Literal["host", "switch"] = "host" if hosts else "switch"
    cable = origin.at("cable")
    yield Bundle(*near, *far, count, speed_bps, link.cable, tier, origin.at("links"), cable)


def _end(text: str) -> tuple[str, str | None]:
    name, colon, port = text.partition(":")
    return name, port if colon else None


def _no_device(name: str, known: list[str]) -> str:
    close = nearest(name, known)
    return f"no device {name!r}" + (
        f"; did you mean {close}?" if close else f"; there are {', '.join(known)}"
    )
