"""The declared topology to a plan, and its mistakes: names that do not exist, hosts wired to hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from lossless.errors import InputError, Problem
from lossless.intent.problems import in_file_order
from lossless.source.nearest import nearest
from lossless.topology.shapes import Bundle, LeafSpineShape, Node, Plan, Role, leaf_spine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.intent.load import LoadedIntent
    from lossless.intent.wiring import LeafSpine, LinkChoice

_ROLES = get_args(Role)


def plan(loaded: LoadedIntent) -> Plan:
    """Return who is connected to whom.

    Raises:
        InputError: every link that names a device which is not declared, joins two hosts or leads back to
            its own device, and every named port with several links.
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
    seen: set[str] = set()
    bundles = [
        bundle
        for number, link in enumerate(topology.links or ())
        for bundle in _Ends(loaded, number, link, problems).bundle(seen)
    ]
    if problems:
        raise InputError(in_file_order(problems))
    nodes = (
        Node(name, device.role, name if device.hardware else None, loaded.origin("topology", "devices", name))
        for name, device in devices.items()
    )
    # As a shape orders them, so that the order in the document is of no consequence.
    return Plan(tuple(sorted(nodes, key=_rank)), tuple(bundles))


def _rank(node: Node) -> tuple[object, ...]:
    """Leaves, spines, hosts; ``leaf2`` before ``leaf10``."""
    # Every second part of the split is digits, so that numbers never meet text.
    parts = tuple(int(p) if i % 2 else p for i, p in enumerate(re.split(r"([0-9]+)", node.name)))
    return (_ROLES.index(node.role), parts, node.name)


class _Ends:
    """The two ends of one declared bundle, checked."""

    def __init__(self, loaded: LoadedIntent, number: int, link: LinkChoice, problems: list[Problem]) -> None:
        self._loaded = loaded
        self._link = link
        self._origin = loaded.origin("topology", "links", number)
        self._devices = loaded.intent.topology.devices or {}
        self._problems = problems

    def bundle(self, seen: set[str]) -> Iterator[Bundle]:
        """Yield the bundle unless an end is wrong; ``seen`` are the named ports of the links before."""
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
            self._problems.append(self._loaded.problem(self._origin, f"{self._dotted()}: the link {why}"))
            return
        near, far = (ends["b"], ends["a"]) if hosts == ["a"] else (ends["a"], ends["b"])
        count, speed_bps = self._link.links
        tier: Literal["host", "switch"] = "host" if hosts else "switch"
        origin, cable = self._origin.at("links"), self._origin.at("cable")
        yield Bundle(*near, *far, count, speed_bps, self._link.cable, tier, origin, cable)

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
        self._problems.append(self._loaded.problem(where, f"{self._dotted()}.{side}: {message}"))

    def _dotted(self) -> str:
        return ".".join(map(str, self._origin.path))


def _end(text: str) -> tuple[str, str | None]:
    name, colon, port = text.partition(":")
    return name, port if colon else None


def _no_device(name: str, known: list[str]) -> str:
    close = nearest(name, known)
    if close is None and not known:
        return f"no device {name!r}; none is declared"
    return f"no device {name!r}; " + (f"did you mean {close}?" if close else f"there are {_some(known)}")


def _some(names: list[str]) -> str:
    """Return a few names of what may be thousands."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
