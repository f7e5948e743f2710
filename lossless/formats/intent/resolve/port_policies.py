"""How the ports of a switch treat classes: which priorities they pause, which maps they have.

Most fabrics need one way. Others come with tiers of links that have no PFC, and with dual ToRs: there a leaf sends
what it cannot deliver to its peer, through the spines in a tunnel. On that detour a lossless class has a second
priority, or the two directions could wait for each other for ever (sonic-net/SONiC
doc/qos/tunnel_dscp_remapping.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.contradictions import REMAP
from lossless.formats.intent.resolve.classes import MAP_NAME, Maps, maps, priority_groups
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS, PRIORITIES, TUNNEL_MAP, IndexMap, PriorityMask, TunnelMaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.tier import LinkTier, Role

OTHER_MAP = "AZURE_UPLINK"
GROUPS_WITH_SECOND = "AZURE_DUALTOR"
"""Names of maps on dual ToRs and their spines (qos_config.j2 @0791705).

``AZURE`` is what a ToR's downlinks have, and a spine's: the ports whose peers are the same on both.
"""


class PortPolicy(NamedTuple):
    """How one kind of port treats classes.

    ``maps.pfc`` are the priorities with PFC, ``watched`` those the watchdog looks after. ``second`` says of each
    second priority which class it belongs to.
    """

    maps: Maps
    watched: PriorityMask | None
    second: Mapping[int, str]

    @property
    def pauses(self) -> bool:
        """Whether there is any PFC."""
        return bool(self.maps.pfc.priorities)


class PortPolicies:
    """The ways in which the ports of one fabric treat classes, each made once."""

    def __init__(self, loaded: LoadedIntent) -> None:
        self._loaded = loaded
        self._classes = loaded.intent.classes
        self._stated = loaded.intent.pfc.tiers if loaded.intent.pfc else None
        self._made: dict[tuple[bool, bool, bool, bool], PortPolicy] = {}
        self.plain = maps(loaded)
        self.rest = next(cls.priority for cls in self._classes.values() if cls.rest)
        self.second = {
            REMAP[cls.priority]: name
            for name, cls in sorted(self._classes.items(), key=lambda item: item[1].priority)
            if cls.lossless and cls.priority in REMAP
        }

    def of(self, tier: LinkTier, role: Role, *, remapped: bool, beside_remapped: bool) -> PortPolicy:
        """Return how ports at links of a tier treat classes.

        ``remapped``: tunnels of dual ToRs pass here; ``beside_remapped``: they pass at ports of this switch.
        """
        pauses = self._stated is None or tier in self._stated
        key = (pauses, remapped, beside_remapped, role == "leaf")
        if key not in self._made:
            self._made[key] = self._make(pauses, remapped, beside_remapped, role == "leaf")
        return self._made[key]

    def global_dscp_map(self, role: Role, *, beside_remapped: bool) -> IndexMap:
        """Return the map of ports that bind none: that of the name ``AZURE``."""
        policy = self.of("hosts", role, remapped=role != "leaf", beside_remapped=beside_remapped)
        return policy.maps.dscp_to_tc if beside_remapped else self.plain.dscp_to_tc

    def _make(self, pauses: bool, remapped: bool, beside_remapped: bool, leaf: bool) -> PortPolicy:
        port_maps = self._beside(self.plain, remapped, leaf) if beside_remapped else self.plain
        if not pauses:
            silent = PriorityMask((), self._loaded.origin("pfc", "tiers"))
            return PortPolicy(port_maps._replace(pfc_to_queue=None, pfc_to_pg=None, pfc=silent), None, {})
        watched = self.plain.pfc if self.plain.pfc.priorities else None
        return PortPolicy(port_maps, watched, self.second if remapped and beside_remapped else {})

    def _beside(self, plain: Maps, remapped: bool, leaf: bool) -> Maps:
        """Return the maps of a switch that tunnels pass: with second priorities where they do."""
        name = MAP_NAME if remapped != leaf else OTHER_MAP
        groups = _changed(plain.tc_to_pg, MAP_NAME, {p: p for p in self.second})
        if not remapped:
            # Nothing is sent to a second priority here; what comes from where it is leaves with the rest.
            queues = _changed(plain.tc_to_queue, name, dict.fromkeys(self.second, self.rest))
            return plain._replace(
                dscp_to_tc=plain.dscp_to_tc._replace(name=name), tc_to_queue=queues, tc_to_pg=groups
            )
        second = {p: p for p in self.second}
        pfc = tuple(sorted({*plain.pfc.priorities, *second}))
        return plain._replace(
            dscp_to_tc=_changed(plain.dscp_to_tc, name, second),
            tc_to_queue=plain.tc_to_queue._replace(name=name),
            tc_to_pg=groups,
            pfc_to_pg=_changed(plain.pfc_to_pg, GROUPS_WITH_SECOND, second) if plain.pfc_to_pg else None,
            pfc=plain.pfc._replace(priorities=pfc),
        )

    def tunnel(self, origin: Origin) -> TunnelMaps:
        """Return what a dual ToR makes of classes on the way into the tunnel to its peer, and out of it.

        Lossless classes go with their second priority, and are counted in its group where they come out.
        """
        second = {self._classes[name].priority: p for p, name in self.second.items()}
        shared = priority_groups(self._classes)[None]
        outer = tuple(second.get(tc, self._first_dscp(tc)) for tc in PRIORITIES)
        queues = _changed(
            self.plain.tc_to_queue, TUNNEL_MAP, {**dict.fromkeys(self.second, self.rest), **second}
        )
        groups = tuple(second.get(tc, shared) for tc in PRIORITIES)
        return TunnelMaps(
            dscp_to_tc=self.plain.dscp_to_tc._replace(name=TUNNEL_MAP),
            tc_to_pg=IndexMap(TUNNEL_MAP, groups, origin),
            tc_to_queue=queues,
            tc_to_dscp=IndexMap(TUNNEL_MAP, outer, origin),
            origin=origin,
        )

    def _first_dscp(self, traffic_class: int) -> int:
        """Return the lowest DSCP of a TC; that of the rest where no class has it."""
        targets = self.plain.dscp_to_tc.targets
        free = [dscp for dscp in DSCPS if dscp not in self.second]
        dscps = (dscp for tc in (traffic_class, self.rest) for dscp in free if targets[dscp] == tc)
        return next(dscps, 0)


def _changed(index_map: IndexMap, name: str, targets: Mapping[int, int]) -> IndexMap:
    """Return a map under another name, with other targets for some of its entries."""
    changed = tuple(targets.get(i, target) for i, target in enumerate(index_map.targets))
    return index_map._replace(name=name, targets=changed)
