"""Class maps and policies of NX-OS to what each qos-group is: which packets get it, who pauses it, how it is served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.names import group_of_class
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS, PRIORITIES, UNREADABLE, IndexMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nxos.read.rows import ClassMap, NxosConfig, PolicyClass, Stated
    from lossless.ground.basics.findings import Origin

_SIZES = {"dscp": len(DSCPS), "cos": len(PRIORITIES)}


class Pause(NamedTuple):
    """A qos-group that is lossless: the PFC priority that pauses it, and where that is said."""

    group: int
    priority: int
    origin: Origin


class Classes:
    """What the policies of a switch make of packets."""

    def __init__(self, config: NxosConfig) -> None:
        self._config = config

    def looks_at(self, policy: str | None, field: str) -> bool:
        """Return whether a qos policy looks at a field of packets."""
        return any(
            match.field == field
            for of in self._config.policies.get(("qos", policy or ""), [])
            if (class_map := self._config.class_maps.get(("qos", of.name))) is not None
            for match in class_map.matches
        )

    def index_map(self, policy: str | None, field: str) -> IndexMap | None:
        """Return the qos-group of each value of a field, None where the policy does not look at it."""
        if not self.looks_at(policy, field):
            return None
        classes = self._config.policies[("qos", policy or "")]
        origin = self._config.places[("policy-map", f"qos {policy}")]
        of_value = [self._class_of(classes, field, value) for value in range(_SIZES[field])]
        targets = tuple(group for group, _ in of_value)
        return IndexMap(policy or "", targets, origin, tuple(at or origin for _, at in of_value))

    def _class_of(self, classes: list[PolicyClass], field: str, value: int) -> tuple[int, Origin | None]:
        rest: tuple[int, Origin | None] = (0, None)
        for of in classes:
            stated = of.rows.get("group")
            group = (stated.value if stated else 0, stated.origin if stated else of.origin)
            class_map = self._config.class_maps.get(("qos", of.name))
            if of.name == "class-default":
                rest = group
            elif class_map is not None and (takes := _takes(class_map, field, value)) is not False:
                return group if takes else (UNREADABLE, group[1])
        return rest

    def pauses(self) -> tuple[Pause, ...]:
        """Return the groups that are lossless by the network QoS of the switch, lowest first."""
        bound = self._config.bound.get("network-qos")
        paused = []
        for of in self._config.policies.get(("network-qos", bound.value if bound else ""), []):
            stated = of.rows.get("pause")
            if stated is not None:
                groups = self.groups("network-qos", of.name)
                paused += [Pause(g, p, stated.origin) for g in groups for p in stated.value or (g,)]
        return tuple(sorted(paused, key=lambda pause: (pause.group, pause.priority)))

    def groups(self, kind: str, name: str) -> tuple[int, ...]:
        """Return the qos-groups that a class of a policy stands for; none where it is of another type."""
        built_in = group_of_class(kind, name)
        if built_in is not None:
            return (built_in,)
        class_map = self._config.class_maps.get((kind, name))
        matches = class_map.matches if class_map is not None else []
        return tuple(value for match in matches if match.field == "qos-group" for value in match.values)

    def served(self, policy: Stated | None) -> Iterator[tuple[int, PolicyClass]]:
        """Yield the class of each qos-group in a queuing policy."""
        for of in self._config.policies.get(("queuing", policy.value if policy else ""), []):
            for group in self.groups("queuing", of.name):
                yield group, of


def _takes(class_map: ClassMap, field: str, value: int) -> bool | None:
    """Return whether a class map takes a value of a field; None where that depends on something else of the packet."""
    at_field = [match for match in class_map.matches if match.field == field]
    others = len(at_field) < len(class_map.matches)
    if class_map.match_all:
        takes = bool(at_field) and all(value in match.values for match in at_field)
        return None if takes and others else takes
    return any(value in match.values for match in at_field)
