"""Ports of a switch kind: the port of each link, its class policy, and unused ports that are shut down.

Switch kinds group identical switches. Unused ports are shut down to reclaim their buffer. In the traditional buffer
model they are bound to profiles of size 0; a port without any profile keeps the buffer that the SDK reserves. In the
dynamic model they have the profiles of any port, and the switch itself reclaims their buffer while they are down.
Source: sonic-net/SONiC doc/qos/reclaim-reserved-buffer.md @43bcd5d; sonic-utilities
scripts/mellanox_buffer_migrator.py @66b5071.

The class policy of a port is its priorities with PFC and its QoS maps. Most fabrics need one policy. Others are
needed for tiers of links without PFC, and for dual ToRs: there a leaf sends packets that it cannot deliver to its
peer, through the spines in a tunnel. On that detour a lossless class has a second priority, or the two directions
would close a cyclic buffer dependency (sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.policy import ClassPlace
from lossless.formats.intent.problems import REMAP, located
from lossless.formats.intent.resolve.classes import (
    MAP_NAME,
    NO_CAGE_SETTINGS,
    CageSettings,
    Maps,
    class_groups,
    in_groups,
    maps,
)
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.limits import SWITCH_PORTS
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.fabric.model import Cable, Port, PortDemand
from lossless.model.fabric.qos import (
    DSCPS,
    PRIORITIES,
    TUNNEL_MAP,
    BufferProfile,
    IndexMap,
    Pool,
    PortQos,
    PriorityGroup,
    PriorityMask,
    Queue,
    TunnelMaps,
)
from lossless.model.hardware.load import load_switch, switch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.classes import PlacedGroups, PortPlacement
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import LinkTier, Role, SwitchQos
    from lossless.model.hardware.model import Hwsku, PortSpec, SwitchProfile, ZeroBuffers


if TYPE_CHECKING:
    Substitute = Callable[[BufferProfile], BufferProfile | None]

_GROUP = 0
"""The one group of an unused port that reserves buffer: its lossless groups have no row (the migrator, see above)."""


class ReclaimedPorts(NamedTuple):
    """The unused ports of a switch with their QoS, and the pools of zero size that their buffer profiles need."""

    ports: tuple[Port, ...]
    pools: tuple[Pool, ...]


def zero_buffers(loaded: LoadedIntent, kind: SwitchKind) -> ZeroBuffers | None:
    """Return the zero-size buffer profiles of unused ports, None where an intent keeps the buffer of such ports.

    Raises:
        InputError: SONiC has no such profiles for the product.
    """
    if loaded.intent.buffers.unused_ports.get(kind.role) != "reclaim":
        return None
    if kind.profile.zero_buffers is None:
        known = ", ".join(name for name in switch_names() if load_switch(name).zero_buffers is not None)
        message = (
            f"buffers.unused_ports: SONiC has no profiles by which unused ports of {kind.profile.name} give their "
            f"buffer back; switches here for which it has: {known}"
        )
        raise InputError([loaded.problem(loaded.origin("buffers", "unused_ports", kind.role), message)])
    return kind.profile.zero_buffers


def reclaimed(
    zero: ZeroBuffers, specs: Sequence[PortSpec], used: Sequence[Port], device: SwitchQos, origin: Origin
) -> ReclaimedPorts:
    """Return the unused ports of a switch, and the zero-size pools that their profiles need.

    The ports have the queues and profile lists of the ports in use, ``used``: with zero-size profiles in the
    traditional model, unchanged in the dynamic model. Both are empty without unused ports, or where no port in use has
    a lossy priority group.
    """
    normal = _UsedPortBuffers(used)
    if not specs or normal.lossy is None:
        return ReclaimedPorts((), ())
    zeros = _Zeros(zero, device.pools, origin)
    dynamic = device.buffer_model == "dynamic"
    group = normal.lossy if dynamic else zeros.group
    qos = _qos(normal, device, group, _itself if dynamic else zeros.instead_of, origin)
    ports = tuple(_port(spec, used[0], qos, origin) for spec in specs)
    return ReclaimedPorts(ports, () if dynamic else zeros.pools)


def _itself(profile: BufferProfile) -> BufferProfile | None:
    return profile


class _UsedPortBuffers:
    """The buffer profiles of ports in use: by queue number, in the port-wide lists, and of the first lossy group."""

    def __init__(self, used: Sequence[Port]) -> None:
        distinct = list({id(port.qos): port.qos for port in used if port.qos}.values())
        self.queues = {
            q.number: q.buffer for qos in distinct for q in qos.queues if q is not None and q.buffer
        }
        self.lists = distinct[0].profile_lists if distinct else ((), ())
        groups = (group for qos in distinct for group in qos.groups if group is not None)
        self.lossy = next((g.buffer for g in groups if g.buffer is not None and not g.buffer.lossless), None)


class _Zeros:
    """The zero-size buffer profiles and pools of unused ports, each built once."""

    def __init__(self, zero: ZeroBuffers, pools: Sequence[Pool], origin: Origin) -> None:
        self.pools = tuple(
            Pool(pool.name, pool.type, pool.mode, pool.size_bytes, pool.shared_headroom_bytes, origin)
            for pool in zero.pools
        )
        by_name = {pool.name: pool for pool in (*pools, *self.pools)}
        own = {pool.name for pool in self.pools}
        made = {
            profile.pool: BufferProfile(
                name=profile.name,
                pool=by_name[profile.pool],
                reserved_bytes=profile.reserved_bytes,
                headroom_bytes=None,
                xon_bytes=None,
                xon_offset_bytes=None,
                dynamic_th=profile.dynamic_th,
                static_th_bytes=profile.static_th_bytes,
                origin=origin,
            )
            for profile in zero.profiles
            if profile.pool in by_name
        }
        self.group = next((profile for pool, profile in made.items() if pool in own), None)
        self._by_pool = made

    def instead_of(self, profile: BufferProfile) -> BufferProfile | None:
        """Return the zero-size profile in the pool of a buffer profile, None where there is none."""
        return self._by_pool.get(profile.pool.name) if profile.pool else None


def _qos(
    normal: _UsedPortBuffers,
    device: SwitchQos,
    group: BufferProfile | None,
    substitute: Substitute,
    origin: Origin,
) -> PortQos:
    ingress, egress = (tuple(p for p in map(substitute, listed) if p) for listed in normal.lists)
    groups: list[PriorityGroup | None] = [None] * len(PRIORITIES)
    groups[_GROUP] = PriorityGroup(_GROUP, group, generated=False, origin=origin)
    return PortQos(
        dscp_to_tc=device.global_dscp_map,
        tc_to_queue=None,
        tc_to_pg=None,
        pfc_to_queue=None,
        pfc_to_pg=None,
        trust_dot1p=False,
        pfc=PriorityMask((), origin),
        watchdog_mask=None,
        watchdog=None,
        queues=tuple(_queue(number, normal, substitute, origin) for number in PRIORITIES),
        groups=tuple(groups),
        profile_lists=(ingress, egress),
        origin=origin,
    )


def _queue(number: int, normal: _UsedPortBuffers, substitute: Substitute, origin: Origin) -> Queue | None:
    own = normal.queues.get(number)
    profile = substitute(own) if own else None
    return Queue(number, None, None, profile, origin, buffer_origin=origin) if profile else None


def _port(spec: PortSpec, like: Port, qos: PortQos, origin: Origin) -> Port:
    return Port(
        name=spec.name,
        speed_bps=spec.speed_bps,
        lanes=len(spec.lanes),
        mtu_bytes=like.mtu_bytes,
        admin_up=False,
        leads_to=None,
        cable=Cable(UNKNOWN, None, origin),
        neighbor=None,
        qos=qos,
        placed=True,
        origin=origin,
        spec=spec,
    )


class PortUse(NamedTuple):
    """The use of one switch port by a link: speed, tier of the link, real cable length, and the port name if declared.

    ``remapped``: tunnels between dual ToRs pass here. ``lag`` names its LAG. ``kept`` are the ports to keep free before
    this one is assigned, as counts and speeds in b/s.
    """

    speed_bps: int
    tier: LinkTier
    cable_m: int
    name: str | None
    origin: Origin
    cable_origin: Origin
    remapped: bool = False
    lag: str | None = None
    kept: tuple[tuple[int, int], ...] = ()

    @property
    def to_host(self) -> bool:
        """Whether a host is at the other end of the link."""
        return self.tier == "hosts"


class SwitchKind(NamedTuple):
    """The properties that identical switches share: product, HWSKU, role and the ports they need, in order.

    ``cages`` are the declared settings of cages and ports. ``device`` is the name of a switch with exceptions for
    buffers, classes or ports under its own name, empty for all others.
    """

    profile: SwitchProfile
    hwsku: Hwsku
    role: Role
    uses: tuple[PortUse, ...]
    hardware_origin: Origin
    cages: CageSettings = NO_CAGE_SETTINGS
    device: str = ""

    @property
    def called(self) -> str:
        """The switches of this kind, as text for messages."""
        return f"{self.device or f'role {self.role}'} ({self.hwsku.name})"

    def place(self, speed_bps: int) -> ClassPlace:
        """Return the switch name, role and speed by which values of a class are looked up for ports of one speed."""
        return ClassPlace(self.device, self.role, speed_bps)

    @property
    def remapped(self) -> bool:
        """Whether tunnels between dual ToRs pass at any of its ports."""
        return any(use.remapped for use in self.uses)


def require_few_ports(loaded: LoadedIntent, kind: SwitchKind) -> None:
    """Refuse a switch of more ports than a layout supports.

    Raises:
        InputError: it has more.
    """
    if len(kind.uses) > SWITCH_PORTS:
        message = (
            f"{len(kind.uses):,} ports on one {kind.role}; the most that is laid out is {SWITCH_PORTS:,}"
        )
        raise InputError([located(loaded.document, ("topology",), message, at_key=True)])


def place(loaded: LoadedIntent, kind: SwitchKind, placement: PortPlacement) -> list[PortSpec | None]:
    """Return the port of each use, None where none is left or free; named ports are assigned before the others.

    Raises:
        InputError: a named port must stay down, or no port is left to keep free.
    """
    claimed: dict[int, PortSpec | None] = {}
    for number, use in enumerate(kind.uses):
        if use.name is None:
            continue
        if use.name in kind.cages.down:
            link, hardware = (".".join(map(str, o.path)) for o in (use.origin, kind.hardware_origin))
            message = f"{link}: {use.name} has a link, and {hardware}.down says that it stays down"
            raise InputError([loaded.problem(use.origin, message)])
        claimed[number] = placement.claim(use.name, use.speed_bps)
    return [_placed(loaded, kind, use, claimed.get(i), placement) for i, use in enumerate(kind.uses)]


def _placed(
    loaded: LoadedIntent, kind: SwitchKind, use: PortUse, claimed: PortSpec | None, placement: PortPlacement
) -> PortSpec | None:
    """Return the port of a use, None where there is none, after keeping the ports free that come before it."""
    for ports, speed_bps in use.kept:
        for _ in range(ports):
            if not placement.keep(speed_bps):
                where = loaded.origin("topology", loaded.intent.topology.shape_key or "", "room")
                path, rate = ".".join(map(str, where.path)), format_rate(speed_bps)
                message = f"{path}: a {kind.role} ({kind.hwsku.name}) has no {rate} port left for links that may come"
                raise InputError([loaded.problem(where, message)])
    return claimed if use.name is not None else placement.take(use.speed_bps)


def demand(uses: Sequence[PortUse]) -> tuple[PortDemand, ...]:
    """Return how many switch ports of each speed are needed for hosts and for switches."""
    by_purpose: dict[tuple[int, str], list[PortUse]] = {}
    for use in uses:
        by_purpose.setdefault((use.speed_bps, "host" if use.to_host else "switch"), []).append(use)
    return tuple(
        PortDemand(len(identical), speed_bps, f"{format_rate(speed_bps)} {tier} ports", identical[0].origin)
        for (speed_bps, tier), identical in by_purpose.items()
    )


OTHER_MAP = "AZURE_UPLINK"
GROUPS_WITH_SECOND = "AZURE_DUALTOR"
"""Names of maps on dual ToRs and their spines (qos_config.j2 @0791705).

``AZURE`` is the map of a ToR's downlinks, and of a spine: the ports whose peers are the same on both.
"""


class PortPolicy(NamedTuple):
    """The QoS maps, watchdog mask and priority groups of identical ports of a switch.

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
    """Properties of a switch that affect the policy of its ports: whether tunnels pass a port, and if it is a leaf."""

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
        """Return the DSCP-to-TC map of ports that bind none, on switches of a role: the one named ``AZURE``."""
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
        """Return the QoS maps of a port on a switch that tunnels of dual ToRs pass.

        If they pass this port, the maps have the second priorities.
        """
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
        """Return the QoS maps with which a dual ToR encapsulates packets for its peer, and decapsulates those from it.

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
        """Return the lowest DSCP of a TC that is no second priority, else that of the class ``rest``, else 0."""
        targets = self.plain.dscp_to_tc.targets
        free = [dscp for dscp in DSCPS if dscp not in self.second]
        dscps = (dscp for tc in (traffic_class, self.rest) for dscp in free if targets[dscp] == tc)
        return next(dscps, 0)


def _changed(index_map: IndexMap, name: str, targets: Mapping[int, int]) -> IndexMap:
    """Return a copy of a QoS map under a name, with ``targets`` in place of the targets of these entries."""
    changed = tuple(targets.get(i, target) for i, target in enumerate(index_map.targets))
    return index_map._replace(name=name, targets=changed)
