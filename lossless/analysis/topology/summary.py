"""The summary of a fabric: its switches and hosts by product, its links by tier, its ports used and free.

The picture of a fabric is plain data here: the boxes, the links between them, and the frames around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import fabric_capacity
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import LINK_TIERS, LinkTier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.analysis.topology.bisection import FabricCapacity
    from lossless.analysis.topology.shapes import WiringPlan
    from lossless.model.fabric.model import Fabric, Switch


class PortCount(NamedTuple):
    """A number of switch ports of one speed."""

    ports: int
    speed_bps: int


class SwitchPorts(NamedTuple):
    """The ports of a switch that links use, the free ones, and those that links lack; by speed, fastest first."""

    used: tuple[PortCount, ...]
    free: tuple[PortCount, ...]
    missing: tuple[PortCount, ...]


class SwitchGroup(NamedTuple):
    """Switches of one role, product and HWSKU with equal use of ports: their number, the first and last, the ports."""

    role: str
    product: str
    hwsku: str
    switches: int
    first: str
    last: str
    ports: SwitchPorts


class HostCount(NamedTuple):
    """The number of hosts with one NIC product."""

    nic: str
    hosts: int


class LinkGroup(NamedTuple):
    """The number of links of one tier, speed and length (None if not stated), ``between`` the roles of both ends."""

    tier: LinkTier
    between: tuple[str, str]
    links: int
    speed_bps: int
    cable_m: int | None


class FabricSummary(NamedTuple):
    """The summary of a fabric. ``outside`` are devices that are configured elsewhere; their links count.

    ``accepted_oversubscription`` is the most that the intent accepts of a tier.
    """

    fabric: str
    switches: tuple[SwitchGroup, ...]
    hosts: tuple[HostCount, ...]
    outside: tuple[str, ...]
    links: tuple[LinkGroup, ...]
    accepted_oversubscription: float | None
    accepted_by_tier: dict[str, float]
    capacity: FabricCapacity


def summary(plan: WiringPlan, fabric: Fabric) -> FabricSummary:
    """Return the summary of a fabric; ``plan`` is the wiring it was made of."""
    hosts: dict[str, int] = {}
    for host in fabric.hosts:
        hosts[host.qos.nic_name] = hosts.get(host.qos.nic_name, 0) + 1
    outside = tuple(node.name for node in plan.nodes if node.outside)
    role_of = {node.name: node.role for node in plan.nodes}
    return FabricSummary(
        fabric=fabric.name,
        switches=_switches(fabric.switches, role_of),
        hosts=tuple(HostCount(nic, number) for nic, number in hosts.items()),
        outside=outside,
        links=link_groups(plan),
        accepted_oversubscription=most_accepted(fabric),
        accepted_by_tier=accepted_by_tier(fabric),
        capacity=fabric_capacity(fabric),
    )


def most_accepted(fabric: Fabric) -> float | None:
    """Return the largest oversubscription ratio that an intent accepts of a tier, None where no switch has uplinks."""
    return max((capacity.accepted for capacity in fabric.capacities), default=None)


def accepted_by_tier(fabric: Fabric) -> dict[str, float]:
    """Return the oversubscription ratio that an intent accepts, by the word of the tier."""
    by_tier = sorted(fabric.capacities, key=lambda capacity: capacity.tier)
    return {capacity.tier.word: capacity.accepted for capacity in by_tier}


def _switches(switches: Iterable[Switch], role_of: Mapping[str, str]) -> tuple[SwitchGroup, ...]:
    # Identical switches share their ports, so each layout is counted once.
    counted: dict[tuple[int, int], SwitchPorts] = {}
    names_of: dict[SwitchGroup, list[str]] = {}
    for switch in switches:
        key = (id(switch.ports), id(switch.unused))
        if key not in counted:
            counted[key] = _ports(switch)
        product = switch.profile.name if switch.profile else ""
        kind = SwitchGroup(role_of[switch.device], product, str(switch.hwsku_name), 0, "", "", counted[key])
        names_of.setdefault(kind, []).append(switch.name)
    return tuple(named(kind, names) for kind, names in names_of.items())


def named(group: SwitchGroup, names: Sequence[str]) -> SwitchGroup:
    """Return a switch group with the number of its switches, and the names of the first and the last."""
    return group._replace(switches=len(names), first=names[0], last=names[-1])


def _ports(switch: Switch) -> SwitchPorts:
    linked = [port for port in switch.ports if port.leads_to is not None]
    used = _counts(port.speed_bps or 0 for port in linked if port.placed)
    missing = _counts(port.speed_bps or 0 for port in linked if not port.placed)
    return SwitchPorts(used, _counts(spec.speed_bps for spec in switch.unused), missing)


def _counts(speeds_bps: Iterable[int]) -> tuple[PortCount, ...]:
    ports_at: dict[int, int] = {}
    for speed_bps in speeds_bps:
        ports_at[speed_bps] = ports_at.get(speed_bps, 0) + 1
    return tuple(PortCount(ports_at[speed_bps], speed_bps) for speed_bps in sorted(ports_at, reverse=True))


def link_groups(plan: WiringPlan) -> tuple[LinkGroup, ...]:
    """Return the numbers of links of a topology by tier, roles of the ends, speed and length, in the order of tiers."""
    role_of = {node.name: node.role for node in plan.nodes}
    links_of: dict[tuple[LinkTier, tuple[str, str], int, int], int] = {}
    for bundle in plan.bundles:
        key = (bundle.tier, _ends(role_of[bundle.a], role_of[bundle.b]), bundle.speed_bps, bundle.cable_m)
        links_of[key] = links_of.get(key, 0) + bundle.links
    groups = [
        LinkGroup(tier, between, links, speed_bps, cable_m or None)
        for (tier, between, speed_bps, cable_m), links in links_of.items()
    ]
    return tuple(sorted(groups, key=_order))


def _order(group: LinkGroup) -> tuple[object, ...]:
    return (LINK_TIERS.index(group.tier), *group[:-1], group.cable_m or 0)


_HEIGHTS = {"host": 0, "leaf": 1, "switch": 1, "spine": 2, "super-spine": 3}


def _ends(a: str, b: str) -> tuple[str, str]:
    return (a, b) if _HEIGHTS[a] <= _HEIGHTS[b] else (b, a)


class PictureItem(NamedTuple):
    """A device, or several that are drawn as one box. ``place`` is its place in the grid of a torus, else empty.

    ``columns`` are the first and last column that it is centered over, None where that is the whole picture. ``labels``
    say which rail, plane or group it is: ``rail 2``. ``apart``: devices between the first and the
    last name are in other items. ``state`` chooses the fill, empty: by the role. ``words`` are the lines in the box,
    empty: its names, labels and numbers.
    """

    key: str
    names: tuple[str, str]
    devices: int
    role: str
    columns: tuple[int, int] | None = None
    place: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    apart: bool = False
    state: str = ""
    words: tuple[str, ...] = ()


class PictureFrame(NamedTuple):
    """A frame around items that belong together: a pod, unit, group or plane, or several of one kind."""

    title: str
    items: tuple[str, ...]


class PictureEdge(NamedTuple):
    """All links between two items of one tier, speed and length. ``around``: they close a ring.

    ``state`` chooses the look of the line, empty: by the tier. ``label`` is its text, empty: the number of links if
    there are several.
    """

    a: str
    b: str
    tier: LinkTier
    links: int
    speed_bps: int
    cable_m: int
    around: bool = False
    state: str = ""
    label: str = ""


class Picture(NamedTuple):
    """The picture of a fabric. ``sides`` are those of the grid of a torus, empty where switches are drawn in rows.

    ``legend`` has the looks of lines and their meaning, an empty look for a remark; empty: links by tier.
    """

    fabric: str
    frames: tuple[PictureFrame, ...]
    items: tuple[PictureItem, ...]
    edges: tuple[PictureEdge, ...]
    sides: tuple[int, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
