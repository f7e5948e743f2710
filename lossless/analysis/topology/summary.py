"""A fabric in a few numbers: its switches and hosts by product, its links by tier, its ports used and free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import LINK_TIERS, LinkTier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.analysis.topology.shapes import WiringPlan
    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.model import Fabric, Switch

PortCounts = tuple[tuple[int, int], ...]
"""Numbers of ports, each with their speed in b/s, fastest first."""


class SwitchGroup(NamedTuple):
    """Switches of one role, product and HWSKU with equal port counts: each uses, keeps free and lacks these."""

    role: str
    product: str
    hwsku: str
    names: tuple[str, ...]
    used: PortCounts
    free: PortCounts
    missing: PortCounts


class LinkGroup(NamedTuple):
    """Links of one tier, speed and length, 0 for an unknown one; ``roles`` are those of lower and of upper ends."""

    tier: LinkTier
    roles: tuple[str, str]
    links: int
    speed_bps: int
    cable_m: int


class FabricSummary(NamedTuple):
    """A fabric in numbers. ``outside`` are devices that are configured elsewhere; their links count."""

    fabric: str
    switches: tuple[SwitchGroup, ...]
    hosts: tuple[tuple[str, int], ...]
    outside: tuple[str, ...]
    links: tuple[LinkGroup, ...]

    def to_data(self) -> dict[str, Json]:
        """Return the summary as plain data."""
        return {
            "fabric": self.fabric,
            "switches": [_switch_data(group) for group in self.switches],
            "hosts": [{"nic": nic, "hosts": hosts} for nic, hosts in self.hosts],
            "outside": list(self.outside),
            "links": [_link_data(group) for group in self.links],
        }


def summary(plan: WiringPlan, fabric: Fabric) -> FabricSummary:
    """Return a fabric in numbers; ``plan`` is the wiring it was made of."""
    hosts: dict[str, int] = {}
    for host in fabric.hosts:
        hosts[host.qos.nic_name] = hosts.get(host.qos.nic_name, 0) + 1
    outside = tuple(node.name for node in plan.nodes if node.outside)
    role_of = {node.name: node.role for node in plan.nodes}
    return FabricSummary(
        fabric.name, _switches(fabric.switches, role_of), tuple(hosts.items()), outside, link_groups(plan)
    )


def _switches(switches: Iterable[Switch], role_of: Mapping[str, str]) -> tuple[SwitchGroup, ...]:
    # Identical switches share their ports, so each layout is counted once.
    counted: dict[tuple[int, int], tuple[PortCounts, PortCounts, PortCounts]] = {}
    names_of: dict[SwitchGroup, list[str]] = {}
    for switch in switches:
        key = (id(switch.ports), id(switch.unused))
        if key not in counted:
            counted[key] = _ports(switch)
        product = switch.profile.name if switch.profile else ""
        kind = SwitchGroup(role_of[switch.device], product, str(switch.hwsku_name), (), *counted[key])
        names_of.setdefault(kind, []).append(switch.name)
    return tuple(kind._replace(names=tuple(names)) for kind, names in names_of.items())


def _ports(switch: Switch) -> tuple[PortCounts, PortCounts, PortCounts]:
    """Return the ports in use, the free and the missing ones."""
    linked = [port for port in switch.ports if port.leads_to is not None]
    used = _counts(port.speed_bps or 0 for port in linked if port.placed)
    missing = _counts(port.speed_bps or 0 for port in linked if not port.placed)
    return used, _counts(spec.speed_bps for spec in switch.unused), missing


def _counts(speeds_bps: Iterable[int]) -> PortCounts:
    ports_at: dict[int, int] = {}
    for speed_bps in speeds_bps:
        ports_at[speed_bps] = ports_at.get(speed_bps, 0) + 1
    return tuple((ports_at[speed_bps], speed_bps) for speed_bps in sorted(ports_at, reverse=True))


def link_groups(plan: WiringPlan) -> tuple[LinkGroup, ...]:
    """Return the links of a topology by tier, ends, speed and length."""
    role_of = {node.name: node.role for node in plan.nodes}
    links_of: dict[tuple[LinkTier, tuple[str, str], int, int], int] = {}
    for bundle in plan.bundles:
        key = (bundle.tier, _ends(role_of[bundle.a], role_of[bundle.b]), bundle.speed_bps, bundle.cable_m)
        links_of[key] = links_of.get(key, 0) + bundle.links
    groups = [
        LinkGroup(tier, roles, links, speed_bps, cable_m)
        for (tier, roles, speed_bps, cable_m), links in links_of.items()
    ]
    return tuple(sorted(groups, key=lambda group: (LINK_TIERS.index(group.tier), group)))


_HEIGHTS = {"host": 0, "leaf": 1, "switch": 1, "spine": 2, "super-spine": 3}


def _ends(a: str, b: str) -> tuple[str, str]:
    return (a, b) if _HEIGHTS[a] <= _HEIGHTS[b] else (b, a)


def _switch_data(group: SwitchGroup) -> dict[str, Json]:
    counts = {"used": group.used, "free": group.free, "missing": group.missing}
    return {
        "role": group.role,
        "product": group.product,
        "hwsku": group.hwsku,
        "switches": len(group.names),
        "first": group.names[0],
        "last": group.names[-1],
        "ports": {
            what: [{"ports": ports, "speed_bps": speed_bps} for ports, speed_bps in ports_at]
            for what, ports_at in counts.items()
        },
    }


def _link_data(group: LinkGroup) -> dict[str, Json]:
    return {
        "tier": group.tier,
        "between": list(group.roles),
        "links": group.links,
        "speed_bps": group.speed_bps,
        "cable_m": group.cable_m or None,
    }
