"""Positions of the switches of a fabric: plane; pod, unit or group; and rail.

A shape declares them. Where devices are listed, planes are derived from the links: parts of the network that only hosts
join.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.analysis.topology.shapes import PlanNode, WiringPlan
    from lossless.model.fabric.tier import Role

_GROUPED = {"three_tier": "pod", "rail_optimised": "unit", "dragonfly": "group", "dragonfly_plus": "group"}
_IN_GROUPS: dict[str, tuple[Role, ...]] = {
    "three_tier": ("leaf", "spine"),
    "rail_optimised": ("leaf",),
    "dragonfly": ("switch",),
    "dragonfly_plus": ("leaf", "spine"),
}


class SwitchPosition(NamedTuple):
    """Numbers from 0; None where the fabric has no such structure, or the switch belongs to all of them.

    ``rail`` is None too for a leaf with whole hosts.
    """

    plane: int | None = None
    group: int | None = None
    rail: int | None = None


def groups_of(plan: WiringPlan, shape: str | None) -> tuple[str, dict[str, int]]:
    """Return the name of a shape's groups, and the group of each switch that is in one."""
    roles = _IN_GROUPS.get(shape or "", ())
    return _GROUPED.get(shape or "", ""), {
        node.name: node.place[0] for node in plan.nodes if node.role in roles
    }


def positions(plan: WiringPlan, shape: str | None) -> dict[str, SwitchPosition]:
    """Return the position of every switch by its name; ``shape`` is None where devices are listed."""
    switches = [node for node in plan.nodes if node.role != "host"]
    _, group_of = groups_of(plan, shape)
    plane_of = _planes(plan, switches, shape)
    rail_of = _rails(plan, switches, shape)
    return {
        node.name: SwitchPosition(plane_of.get(node.name), group_of.get(node.name), rail_of.get(node.name))
        for node in switches
    }


def _planes(plan: WiringPlan, switches: Sequence[PlanNode], shape: str | None) -> dict[str, int]:
    """Return the plane of each switch that is in one; empty where all switches are in the same."""
    if shape == "rail_optimised":
        at = {"leaf": 2, "spine": 0}
        numbered = {node.name: node.place[at[node.role]] for node in switches}
    elif shape == "three_tier":
        numbered = _planes_of_spines(switches)
    else:
        numbered = {} if shape else _unconnected(plan, switches)
    return numbered if len(set(numbered.values())) > 1 else {}


def _planes_of_spines(switches: Iterable[PlanNode]) -> dict[str, int]:
    """Return the plane of each spine and super-spine; a subnet has no planes, since its places are shorter."""
    spines = {node.name: node.place for node in switches if node.role == "spine"}
    if any(len(place) < 3 for place in spines.values()):
        return {}
    tops = {node.name: node.place[0] for node in switches if node.role == "super-spine"}
    return {name: place[1] for name, place in spines.items()} | tops


def _unconnected(plan: WiringPlan, switches: Sequence[PlanNode]) -> dict[str, int]:
    """Return the parts of a network without links between them, if its hosts are attached to several."""
    near: dict[str, list[str]] = {node.name: [] for node in switches}
    for bundle in plan.bundles:
        if not bundle.to_host:
            near[bundle.a].append(bundle.b)
            near[bundle.b].append(bundle.a)
    part_of = _parts(near)
    parts_of_hosts: dict[str, set[int]] = {}
    for bundle in plan.bundles:
        if bundle.to_host:
            parts_of_hosts.setdefault(bundle.b, set()).add(part_of[bundle.a])
    several = any(len(parts) > 1 for parts in parts_of_hosts.values())
    return part_of if several and all(near.values()) else {}


def _parts(near: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return, by node, the number of its connected part, counted in the order of the nodes."""
    part_of: dict[str, int] = {}
    numbers = count()
    for first in near:
        if first in part_of:
            continue
        number = next(numbers)
        waiting = [first]
        while waiting:
            name = waiting.pop()
            if name not in part_of:
                part_of[name] = number
                waiting += near[name]
    return part_of


def _rails(plan: WiringPlan, switches: Sequence[PlanNode], shape: str | None) -> dict[str, int]:
    """Return the rail of each leaf: that of its place, or its number among the leaves that share its hosts."""
    leaves = [node for node in switches if node.role == "leaf"]
    if shape == "rail_optimised":
        numbered = {node.name: node.place[1] for node in leaves}
        return numbered if len(set(numbered.values())) > 1 else {}
    stated = shape == "three_tier" and all(len(node.place) == 3 for node in switches if node.role == "spine")
    rails = _leaves_of_a_host(plan) if stated else 1
    if rails < 2 or any(node.dual_tor for node in leaves):
        return {}
    return {node.name: node.place[1] % rails for node in leaves}


def _leaves_of_a_host(plan: WiringPlan) -> int:
    """Return the number of leaves that the first host is attached to."""
    links = [bundle for bundle in plan.bundles if bundle.to_host]
    return len({bundle.a for bundle in links if bundle.b == links[0].b})
