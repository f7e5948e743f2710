"""The class policy of the ports of a switch: the priorities with PFC, and the QoS maps.

Most fabrics need one policy. Others are needed for tiers of links without PFC, and for dual ToRs: there a leaf sends
packets that it cannot deliver to its peer, through the spines in a tunnel. On that detour a lossless class has a second
priority, or the two directions would close a cyclic buffer dependency (sonic-net/SONiC
doc/qos/tunnel_dscp_remapping.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.policy import ClassPlace
from lossless.formats.intent.problems import REMAP
from lossless.formats.intent.resolve.classes import MAP_NAME, Maps, class_groups, in_groups, maps
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS, PRIORITIES, TUNNEL_MAP, IndexMap, PriorityMask, TunnelMaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.classes import PlacedGroups
    from lossless.formats.intent.resolve.unused_ports import PortUse, SwitchKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Role

OTHER_MAP = "AZURE_UPLINK"
GROUPS_WITH_SECOND = "AZURE_DUALTOR"
"""Names of maps on dual ToRs and their spines (qos_config.j2 @0791705).

``AZURE`` is the map of a ToR's downlinks, and of a spine: the ports whose peers are the same on both.
"""


class PortPolicy(NamedTuple):
    """The class policy of one kind of port.

    ``maps.pfc`` are the priorities with PFC, ``watched`` those with the watchdog. ``second`` maps each second priority
    to its class, ``groups`` each class to its priority group.
    """

    maps: Maps
    watched: PriorityMask | None
    second: Mapping[int, str]
    groups: Mapping[str, int]

    @property
    def pauses(self) -> bool:
        """Whether any priority has PFC."""
        return bool(self.maps.pfc.priorities)


class _Side(NamedTuple):
    """Properties of the switch that affect the policy of its ports: whether tunnels pass at any port, and its role."""

    remapped: bool
    leaf: bool


class PortPolicies:
    """Builds the class policies of the ports of one fabric, each once."""

    def __init__(self, loaded: LoadedIntent) -> None:
        self._loaded = loaded
        self._classes = loaded.intent.classes
        self._stated = loaded.intent.pfc.tiers if loaded.intent.pfc else None
        self._made: dict[tuple[object, ...], PortPolicy] = {}
        self.plain = maps(loaded)
        self._shared = class_groups(loaded, ClassPlace("", "", 0)).shared
        self.rest = next(cls.priority for cls in self._classes.values() if cls.rest)
        self.second = {
            REMAP[cls.priority]: name
            for name, cls in sorted(self._classes.items(), key=lambda item: item[1].priority)
            if cls.lossless and cls.priority in REMAP
        }

    def of_switch(self, kind: SwitchKind) -> list[PortPolicy]:
        """Return the class policy of the port of each use of a switch kind.

        Maps to priority groups that differ from those of the role have a name of their own, made of the group of each
        traffic class: one name means the same on all switches of a role (rule CLS014).
        """
        usual = class_groups(self._loaded, ClassPlace("", kind.role, 0)).targets
        groups = {use.speed_bps: class_groups(self._loaded, kind.place(use.speed_bps)) for use in kind.uses}
        side = _Side(kind.remapped, kind.role == "leaf")
        return [self._of(use, side, groups[use.speed_bps], usual) for use in kind.uses]

    def _of(self, use: PortUse, side: _Side, groups: PlacedGroups, usual: tuple[int, ...]) -> PortPolicy:
        suffix = "" if groups.targets == usual else f"_{''.join(map(str, groups.targets))}"
        pauses = self._stated is None or use.tier in self._stated
        key = (pauses, use.remapped, side, suffix, *groups.origins.values())
        if key not in self._made:
            plain = in_groups(self._loaded, self.plain, groups, f"{MAP_NAME}{suffix}")
            beside = self._beside(plain, use.remapped, side.leaf, suffix)
            self._made[key] = self._make(
                beside if side.remapped else plain, pauses, use.remapped and side.remapped, groups.numbers
            )
        return self._made[key]

    def global_dscp_map(self, role: Role, *, beside_remapped: bool) -> IndexMap:
        """Return the DSCP map of ports that bind none: the one named ``AZURE``."""
        if not beside_remapped:
            return self.plain.dscp_to_tc
        return self._beside(self.plain, role != "leaf", role == "leaf", "").dscp_to_tc

    def _make(self, port_maps: Maps, pauses: bool, has_second: bool, groups: Mapping[str, int]) -> PortPolicy:
        if not pauses:
            silent = PriorityMask((), self._loaded.origin("pfc", "tiers"))
            return PortPolicy(
                port_maps._replace(pfc_to_queue=None, pfc_to_pg=None, pfc=silent), None, {}, groups
            )
        watched = self.plain.pfc if self.plain.pfc.priorities else None
        return PortPolicy(port_maps, watched, self.second if has_second else {}, groups)

    def _beside(self, plain: Maps, remapped: bool, leaf: bool, suffix: str) -> Maps:
        """Return the maps of a port at a switch that tunnels pass; if they pass this port, with second priorities."""
        name = MAP_NAME if remapped != leaf else OTHER_MAP
        groups = _changed(plain.tc_to_pg, plain.tc_to_pg.name, {p: p for p in self.second})
        if not remapped:
            # Nothing is sent to a second priority here; what comes from where it is leaves with the rest.
            queues = _changed(plain.tc_to_queue, name, dict.fromkeys(self.second, self.rest))
            return plain._replace(
                dscp_to_tc=plain.dscp_to_tc._replace(name=name), tc_to_queue=queues, tc_to_pg=groups
            )
        second, paused = {p: p for p in self.second}, f"{GROUPS_WITH_SECOND}{suffix}"
        pfc = tuple(sorted({*plain.pfc.priorities, *second}))
        return plain._replace(
            dscp_to_tc=_changed(plain.dscp_to_tc, name, second),
            tc_to_queue=plain.tc_to_queue._replace(name=name),
            tc_to_pg=groups,
            pfc_to_pg=_changed(plain.pfc_to_pg, paused, second) if plain.pfc_to_pg else None,
            pfc=plain.pfc._replace(priorities=pfc),
        )

    def tunnel(self, origin: Origin) -> TunnelMaps:
        """Return the maps with which a dual ToR encapsulates packets for its peer, and decapsulates packets from it.

        Lossless classes travel with their second priority, and are counted in its group after decapsulation.
        """
        second = {self._classes[name].priority: p for p, name in self.second.items()}
        outer = tuple(second.get(tc, self._first_dscp(tc)) for tc in PRIORITIES)
        queues = _changed(
            self.plain.tc_to_queue, TUNNEL_MAP, {**dict.fromkeys(self.second, self.rest), **second}
        )
        groups = tuple(second.get(tc, self._shared) for tc in PRIORITIES)
        return TunnelMaps(
            dscp_to_tc=self.plain.dscp_to_tc._replace(name=TUNNEL_MAP),
            tc_to_pg=IndexMap(TUNNEL_MAP, groups, origin),
            tc_to_queue=queues,
            tc_to_dscp=IndexMap(TUNNEL_MAP, outer, origin),
            origin=origin,
        )

    def _first_dscp(self, traffic_class: int) -> int:
        """Return the lowest DSCP of a TC, or that of the class ``rest`` where no class has the TC."""
        targets = self.plain.dscp_to_tc.targets
        free = [dscp for dscp in DSCPS if dscp not in self.second]
        dscps = (dscp for tc in (traffic_class, self.rest) for dscp in free if targets[dscp] == tc)
        return next(dscps, 0)


def _changed(index_map: IndexMap, name: str, targets: Mapping[int, int]) -> IndexMap:
    """Return a copy of a map under another name, with other targets for some of its entries."""
    changed = tuple(targets.get(i, target) for i, target in enumerate(index_map.targets))
    return index_map._replace(name=name, targets=changed)
